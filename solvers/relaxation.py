"""The bounds `lp` and `tree` of every problem: the relaxation of its integer program, and branching on top of it."""

from __future__ import annotations

import math

from numpy.random import Generator

from yardline.models import registry
from yardline.models.instance import Instance
from yardline.models.method import Answer, Run
from yardline.models.problem import problem_names, problem_of
from yardline.solvers.catalog import solver
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certify import one_leaf, tree_certificate
from yardline.solvers.exact import program_of
from yardline.solvers.outcome import Outcome, Stop
from yardline.solvers.programs import TREE, search_tree

WORTH_A_CUTOFF = 5_000
"""Columns up to which a good value, which the solver finds first, is worth its time: it closes nodes early."""

LP = "the relaxation of the formulation contains every plan, and its dual multipliers bound it (weak duality, in rationals)"


def lp(instance: Instance, rng: Generator, *, run: Run) -> Answer:
    """The optimum of the linear relaxation, from its duals, rechecked in rationals."""
    problem = problem_of(instance)
    reason = problem.why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    program = program_of(problem, instance)
    outcome: Outcome = solver(run.solver).solve(
        program, relax=True, time_limit=0.9 * run.left(), threads=run.threads, seed=run.seed
    )
    if outcome.stop is Stop.ERROR:
        raise RuntimeError(f"the solver failed: {outcome.solver}")
    note = "" if outcome.stop is Stop.OPTIMAL else f"the relaxation was not solved to the end ({outcome.stop.value})"
    document, proved = tree_certificate(instance, program, one_leaf(program, outcome.duals), round_up=False)
    return Answer(bound=as_float(proved), valid_because=LP, certificate=document, note=note)


def tree(instance: Instance, rng: Generator, *, run: Run, nodes: int = 200_000) -> Answer:
    """The relaxation, branched on until the bound meets the optimum or the time is over; rechecked in rationals.

    nodes: the most that the tree may have.
    """
    problem = problem_of(instance)
    reason = problem.why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    program = program_of(problem, instance)
    cutoff = math.inf
    if program.shape[1] <= WORTH_A_CUTOFF:
        limits = {"time_limit": 0.3 * run.left(), "threads": run.threads, "seed": run.seed}
        quick: Outcome = solver(run.solver).solve(program, **limits)
        cutoff = quick.value
    found = search_tree(program, run, cutoff=cutoff, most_nodes=nodes)
    document, proved = tree_certificate(instance, program, found)
    note = "" if found.finished else f"the tree was not finished ({len(found.nodes):,} nodes)"
    bound = as_float(proved)
    return Answer(bound=bound if math.isfinite(bound) else None, valid_because=TREE, certificate=document, note=note)


for _name in problem_names():
    registry.bound(_name, "lp")(lp)
    registry.bound(_name, "tree")(tree)
