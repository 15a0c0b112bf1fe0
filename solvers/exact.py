"""The method `exact` of every problem: its integer program, a solver, and on request a proof that a stranger can check."""

from __future__ import annotations

import math
from typing import Any

from numpy.random import Generator

from yardline.models import registry
from yardline.models.checks import Vector
from yardline.models.instance import Instance, Solution
from yardline.models.method import Answer, Run, Unsuitable
from yardline.models.numbers import meets
from yardline.models.problem import Problem, problem_names, problem_of
from yardline.models.program import Program
from yardline.solvers.branching import Tree, prove
from yardline.solvers.catalog import solver
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certify import tree_certificate
from yardline.solvers.outcome import Outcome, Stop

MOST_COLUMNS = 3_000_000
"""Programs beyond this do not fit into memory and time; the message names it."""

SOLVED = "the integer program of the formulation (tested to equal the judge's problem); the solver's branch and bound proves it"
TREE = "every plan lies in a leaf of the tree, and the multipliers of each leaf bound its plans (weak duality, in rationals)"


def program_of(problem: Problem, instance: Instance) -> Program:
    """The program of an instance, if it is not too large to be written down."""
    size = problem.part("assembly").size(instance)
    if size > MOST_COLUMNS:
        raise Unsuitable(
            f"the integer program of this instance has about {size:,} columns, more than {MOST_COLUMNS:,}: "
            "use a heuristic, and a bound that does not need the program"
        )
    return problem.assemble(instance)


def exact(instance: Instance, rng: Generator, *, run: Run, nodes: int = 200_000) -> Answer:
    """The integer program solved to optimality; with a certificate wanted, a tree of relaxations proves it again.

    nodes: the most that the tree of the proof may have.
    """
    problem = problem_of(instance)
    reason = problem.why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    program = program_of(problem, instance)
    run.report(f"program of {program.shape[0]:,} rows and {program.shape[1]:,} columns")
    outcome = _solve(problem, instance, program, run)
    if outcome.stop is Stop.INFEASIBLE:
        raise RuntimeError("the solver calls the program infeasible, but a valid plan exists: please report this bug")
    if outcome.stop is Stop.ERROR:
        raise RuntimeError(f"the solver failed: {outcome.solver}")
    solution = None if outcome.point is None else problem.decode(instance, program.chosen(outcome.point))
    bound = outcome.bound if math.isfinite(outcome.bound) else None
    if not run.certify:
        return Answer(solution=solution, bound=bound, valid_because=SOLVED)
    return _with_proof(problem, instance, program, outcome, solution, run, nodes)


def _solve(problem: Problem, instance: Instance, program: Program, run: Run) -> Outcome:
    def incumbent(point: Vector, value: float) -> None:
        run.report("plan", solution=problem.decode(instance, program.chosen(point)), value=value)

    def raised(bound: float) -> None:
        run.report("bound", bound=bound, valid_because=SOLVED)

    share = 0.5 if run.certify else 1.0
    outcome: Outcome = solver(run.solver).solve(
        program,
        time_limit=run.left() * share,
        threads=run.threads,
        seed=run.seed,
        on_incumbent=incumbent,
        on_bound=raised,
    )
    return outcome


def _with_proof(
    problem: Problem,
    instance: Instance,
    program: Program,
    outcome: Outcome,
    solution: Solution | None,
    run: Run,
    nodes: int,
) -> Answer:
    """Prove the plan optimal by our own tree; an unfinished one is the bound that it has."""
    tree = search_tree(problem, instance, program, run, cutoff=outcome.value, most_nodes=nodes)
    if tree.best is not None and tree.value < outcome.value:
        solution = problem.decode(instance, program.chosen(tree.best))
    value = min(outcome.value, tree.value)
    document, proved = tree_certificate(instance, program, tree)
    finished = solution is not None and meets(as_float(proved), value)
    if finished and solution is not None:
        document["plan"] = solution.document()
        return Answer(solution=solution, bound=as_float(proved), valid_because=TREE, certificate=document)
    note = f"the proof did not fit: the certificate proves {as_float(proved):g}, the solver claims {outcome.bound:g}"
    bound = max(as_float(proved), outcome.bound)
    return Answer(solution=solution, bound=bound, valid_because=SOLVED, certificate=document, note=note)


def search_tree(problem: Problem, instance: Instance, program: Program, run: Run, **limits: Any) -> Tree:
    """Branch over relaxations, telling what is found on the way."""

    def raised(tree: Tree) -> None:
        run.report("bound", bound=tree.bound, valid_because=TREE)

    def point(found: Vector, value: float) -> None:
        run.report("plan", solution=problem.decode(instance, program.chosen(found)), value=value)

    reserve = 0.05 * run.time_limit  # for the exact check of the tree
    return prove(program, seconds_left=lambda: run.left() - reserve, on_bound=raised, on_point=point, **limits)


for _name in problem_names():
    registry.method(_name, "exact")(exact)
