"""The certificate `tree`: branchings on whole columns, with duals (or a Farkas ray) at each leaf.

    {"kind": "tree", ..., "program": <hash>, "bits": 40, "bound": "p/q", "step": "p/q" or null, "plan": {...} or absent,
     "point": [...] (in place of a plan, for a program of the user's own),
     "nodes": [{"branch": column, "at": v, "below": node, "above": node},     x[column] <= v, or x[column] >= v + 1
               {"duals": [[row, integer over 2**bits], ...]},                  a leaf with its bound
               {"ray": [[row, integer over 2**bits], ...]}, ...]}              a leaf without any feasible point

The leaves cover all points, so the least of their bounds holds for all. LP duals are the tree of one leaf; an unfinished tree
is still a bound; one that meets the cost of the plan it carries is a proof of optimality. Where every column with a cost
is whole and every cost a multiple of `step`, so is the cost of every plan, and the bound is rounded up to the next multiple.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from yardline.models import checks, registry
from yardline.models.checks import Fields
from yardline.models.instance import Instance
from yardline.models.numbers import OPTIMAL, SAME
from yardline.models.problem import Problem, problem_of
from yardline.models.program import Program
from yardline.solvers.certificates.rational import MOST_BITS, ExactProgram, Refused, common_step, rounded_up
from yardline.solvers.certificates.verdict import Verdict, rational

KIND = "tree"
Duals = list[tuple[int, int]]


@registry.certificate(KIND, summary="Branchings with duals or Farkas rays at the leaves; rechecked in rationals.")
def check(about: Instance | Program, fields: Fields) -> Verdict:
    """Recompute what a tree proves about an instance, or about a program of the user's own."""
    program = about if isinstance(about, Program) else problem_of(about).assemble(about)
    bound, claimed = check_program(program, fields)
    plan, point = fields.take("plan"), fields.take("point")
    fields.done()
    if bound < claimed:
        return Verdict(kind=KIND, holds=False, bound=bound, reason=f"it claims {claimed} but proves {bound}")
    if isinstance(about, Instance) and plan is not None:
        return _with_plan(about, ExactProgram(program), bound, plan)
    if isinstance(about, Program) and point is not None:
        return _with_point(ExactProgram(program), bound, point)
    return Verdict(kind=KIND, holds=True, bound=bound)


def check_program(program: Program, fields: Fields) -> tuple[Fraction, Fraction]:
    """The bound that a tree proves for a program, and the one that it claims."""
    if checks.text(fields.need("program"), "program") != program.hash:
        raise Refused("it was made for another formulation of this instance")
    bits = checks.integer(fields.need("bits"), "bits", high=MOST_BITS)
    claimed = rational(fields.need("bound"), "bound")
    step = fields.take("step")
    nodes = checks.listing(fields.need("nodes"), "nodes")
    if not nodes:
        raise ValueError("nodes has no entries: expected at least a root")
    bound = tree_bound(ExactProgram(program), nodes, bits)
    return _rounded(program, bound, step), claimed


def _rounded(program: Program, bound: Fraction, step: object) -> Fraction:
    """The bound rounded up to the next cost that a plan can have, if the condition for that holds."""
    if step is None:
        return bound
    given, divisor = rational(step, "step"), common_step(program)
    if divisor is None or given <= 0 or (divisor / given).denominator != 1:
        raise Refused(f"not all costs are whole multiples of {given}")
    return rounded_up(bound, Fraction(program.offset), given)


def tree_bound(exact: ExactProgram, nodes: Any, bits: int) -> Fraction:
    """The least bound over the leaves; every node below the root is the child of exactly one node before it."""
    reached = {0}
    open_nodes: list[tuple[int, dict[int, tuple[int, int]]]] = [(0, {})]
    worst: Fraction | None = None
    while open_nodes:
        position, narrowed = open_nodes.pop()
        node = Fields(nodes[position], f"nodes[{position}]")
        if "branch" in node.left:
            open_nodes += _children(exact, node, position, narrowed, reached, len(nodes))
            continue
        value = _leaf(exact, node, bits, narrowed)
        if value is not None:
            worst = value if worst is None else min(worst, value)
    if worst is None:
        raise Refused("it proves that there is no valid plan at all")
    return worst


def _children(
    exact: ExactProgram,
    node: Fields,
    position: int,
    narrowed: Mapping[int, tuple[int, int]],
    reached: set[int],
    count: int,
) -> list[tuple[int, dict[int, tuple[int, int]]]]:
    """Both sides of a branching, with the column's bounds narrowed."""
    column = checks.integer(node.need("branch"), node.path("branch"), high=len(exact.cost) - 1)
    at = checks.integer(node.need("at"), node.path("at"), low=-(2**62), high=2**62)
    if not exact.program.integer[column]:
        raise Refused(f"{node.where} branches on {exact.program.columns[column]}, which need not be whole")
    one = 1 << exact.shift
    low, high = narrowed.get(column, (-(-exact.low[column] // one), exact.high[column] // one))
    sides = []
    for side, limits in (("below", (low, min(high, at))), ("above", (max(low, at + 1), high))):
        child = checks.integer(node.need(side), node.path(side), low=position + 1, high=count - 1)
        if child in reached:
            raise ValueError(f"{node.path(side)} is {child}: expected a node that has no parent yet")
        reached.add(child)
        sides.append((child, {**narrowed, column: limits}))
    node.done()
    return sides


def _leaf(exact: ExactProgram, node: Fields, bits: int, narrowed: Mapping[int, tuple[int, int]]) -> Fraction | None:
    """The bound of a leaf; None where nothing is feasible in it."""
    ray = "ray" in node.left
    field = "ray" if ray else "duals"
    duals = _duals(node.need(field), node.path(field), exact.program.shape[0])
    node.done()
    if any(low > high for low, high in narrowed.values()):
        return None
    value = exact.bound(duals, bits=bits, ray=ray, narrowed=narrowed)
    if not ray:
        return value
    if value <= 0:
        raise Refused(f"{node.where} claims to be infeasible, but its ray proves nothing")
    return None


def _duals(given: object, field: str, rows: int) -> Duals:
    result = []
    for p, entry in enumerate(checks.listing(given, field)):
        pair = checks.listing(entry, f"{field}[{p}]", length=2, of="numbers")
        row = checks.integer(pair[0], f"{field}[{p}][0]", high=rows - 1)
        if type(pair[1]) is not int:
            checks.fail(f"{field}[{p}][1]", pair[1], "a whole number")
        result.append((row, pair[1]))
    return result


def _with_plan(instance: Instance, exact: ExactProgram, bound: Fraction, plan: object) -> Verdict:
    """Whether the bound meets the cost of the plan that the certificate carries."""
    problem: Problem = problem_of(instance)
    solution = problem.read_solution(Fields(plan, "plan").left, instance)
    judgement = problem.evaluate(instance, solution)
    if not judgement.valid:
        return Verdict(kind=KIND, holds=False, bound=bound, reason=f"its plan breaks a rule: {judgement.violations[0]}")
    point = problem.encode(instance, exact.program, solution)
    cost = exact.value(point)
    if not exact.feasible(point) or abs(cost - Fraction(judgement.cost)) > Fraction(SAME) * max(Fraction(1), abs(cost)):
        return Verdict(kind=KIND, holds=False, bound=bound, reason="its plan is not worth what the judge says")
    return _meets(bound, cost)


def _with_point(exact: ExactProgram, bound: Fraction, given: object) -> Verdict:
    """Whether the bound meets the cost of the point (a whole number per column) that the certificate carries."""
    point = checks.vector(given, "point", length=exact.program.shape[1], low=None, of="columns")
    if not exact.feasible(point):
        return Verdict(kind=KIND, holds=False, bound=bound, reason="its point breaks a row")
    return _meets(bound, exact.value(point))


def _meets(bound: Fraction, cost: Fraction) -> Verdict:
    optimal = bound >= cost - Fraction(OPTIMAL) * abs(cost)
    reason = "" if optimal else f"its plan costs {float(cost):g}, more than the bound: not a proof of optimality"
    return Verdict(kind=KIND, holds=optimal, bound=min(bound, cost), optimal=optimal, reason=reason)
