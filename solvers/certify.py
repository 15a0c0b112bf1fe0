"""Writing certificates: a tree of branchings and multipliers, with the bound that its own checker finds in it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from yardline.models.checks import Vector
from yardline.models.instance import Instance
from yardline.models.program import Program
from yardline.solvers.branching import Node, Tree, whole_duals
from yardline.solvers.certificates.rational import ExactProgram, bits_of, common_step, rounded_up
from yardline.solvers.certificates.tree import KIND, tree_bound
from yardline.solvers.certificates.verdict import header


def tree_certificate(
    about: Instance | Program, program: Program, tree: Tree, *, round_up: bool = True
) -> tuple[dict[str, Any], Fraction]:
    """The certificate of a tree and the exact bound that it proves (with the plan added, a proof of optimality)."""
    nodes, bits = tree.document(), bits_of(program)
    bound = tree_bound(ExactProgram(program), nodes, bits)
    step = _visible_step(program) if round_up else None
    if step is not None:
        bound = rounded_up(bound, Fraction(program.offset), step)
    document = {
        **header(KIND, about),
        "program": program.hash,
        "bits": bits,
        "bound": str(bound),
        "step": None if step is None else str(step),
        "nodes": nodes,
    }
    return document, bound


def one_leaf(program: Program, duals: Vector | None) -> Tree:
    """LP duals as the tree of one leaf; without any, the bound of no multipliers at all."""
    multipliers = {} if duals is None else whole_duals(program, duals)
    return Tree(program, nodes=[Node({}, {}, multipliers)])


def _visible_step(program: Program) -> Fraction | None:
    """The step worth claiming: costs such as 0.1 are multiples of something tiny, and rounding to that gains nothing."""
    step = common_step(program)
    return step if step is not None and step > Fraction(1, 2**20) else None
