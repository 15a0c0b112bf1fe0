"""The method `exact` of every problem: its integer program, a solver, and on request a proof that a stranger can check."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from yardline.models import registry
from yardline.models.checks import Vector
from yardline.models.instance import Instance
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

WORTH_A_START = 2_000
"""Columns from which on a heuristic's plan is worth its time as the solver's start."""

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
    """The integer program, by the solver for half of the time, then by our own tree of relaxations, which is also the proof.

    nodes: the most that the tree may have.
    """
    problem = problem_of(instance)
    reason = problem.why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    program = program_of(problem, instance)
    run.report(f"program of {program.shape[0]:,} rows and {program.shape[1]:,} columns")
    start = _warm_start(problem, instance, program, rng, run)
    outcome = _solve(problem, instance, program, start, run)
    if outcome.stop is Stop.INFEASIBLE:
        raise RuntimeError("the solver calls the program infeasible, but a valid plan exists: please report this bug")
    if outcome.stop is Stop.ERROR:
        raise RuntimeError(f"the solver failed: {outcome.solver}")
    if outcome.stop is Stop.OPTIMAL and not run.certify and outcome.point is not None:
        plan = problem.decode(instance, program.chosen(outcome.point))
        return Answer(solution=plan, bound=outcome.bound, valid_because=SOLVED)
    return _by_tree(problem, instance, program, outcome, run, nodes)


def _warm_start(problem: Problem, instance: Instance, program: Program, rng: Generator, run: Run) -> Vector | None:
    """The point of the best heuristic plan; tiny programs are solved before a heuristic has been imported."""
    if program.shape[1] < WORTH_A_START:
        return None
    from yardline.solvers.portfolio import portfolio

    plan = portfolio(instance, rng, run=run).solution
    if plan is None or not problem.evaluate(instance, plan).valid:
        return None
    return problem.encode(instance, program, plan)


def _solve(problem: Problem, instance: Instance, program: Program, start: Vector | None, run: Run) -> Outcome:
    def incumbent(point: Vector, value: float) -> None:
        run.report("plan", solution=problem.decode(instance, program.chosen(point)), value=value)

    def raised(bound: float) -> None:
        run.report("bound", bound=bound, valid_because=SOLVED)

    outcome: Outcome = solver(run.solver).solve(
        program,
        time_limit=run.left() / 2,
        threads=run.threads,
        seed=run.seed,
        start=start,
        on_incumbent=incumbent,
        on_bound=raised,
    )
    return outcome


def _by_tree(problem: Problem, instance: Instance, program: Program, outcome: Outcome, run: Run, nodes: int) -> Answer:
    """Go on, or prove the solver's plan again, by our own tree; an unfinished one is the bound that it has."""
    tree = search_tree(problem, instance, program, run, cutoff=outcome.value, most_nodes=nodes)
    point = tree.best if tree.best is not None and tree.value < outcome.value else outcome.point
    solution = None if point is None else problem.decode(instance, program.chosen(point))
    document, exact_bound = tree_certificate(instance, program, tree)
    proved = as_float(exact_bound)
    if solution is not None and meets(proved, min(outcome.value, tree.value)):
        document["plan"] = solution.document()
        return Answer(solution=solution, bound=proved, valid_because=TREE, certificate=document)
    if proved >= outcome.bound:
        note = f"not proved optimal: the tree was not finished ({len(tree.nodes):,} nodes)"
        return Answer(solution=solution, bound=proved, valid_because=TREE, certificate=document, note=note)
    note = f"the proof did not fit: the certificate proves {proved:g}, the solver claims {outcome.bound:g}"
    return Answer(solution=solution, bound=outcome.bound, valid_because=SOLVED, certificate=document, note=note)


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
