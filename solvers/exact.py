"""The method `exact` of every problem: its integer program, solved and, on request, proved again for a stranger to check."""

from __future__ import annotations

from numpy.random import Generator

from yardline.models import registry
from yardline.models.checks import Vector
from yardline.models.instance import Instance
from yardline.models.method import Answer, Run, Unsuitable
from yardline.models.numbers import meets
from yardline.models.problem import Problem, problem_names, problem_of
from yardline.models.program import Program
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certify import tree_certificate
from yardline.solvers.outcome import Stop
from yardline.solvers.programs import SOLVED, TREE, solve_program

MOST_COLUMNS = 3_000_000
"""Programs beyond this do not fit into memory and time; the message names it."""

WORTH_A_START = 2_000
"""Columns from which on a heuristic's plan is worth its time as the solver's start."""


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

    def found(point: Vector, value: float) -> None:
        run.report("plan", solution=problem.decode(instance, program.chosen(point)), value=value)

    start = _warm_start(problem, instance, program, rng, run)
    result = solve_program(program, run=run, start=start, on_point=found, nodes=nodes)
    if result.stop is Stop.INFEASIBLE:
        raise RuntimeError("the solver calls the program infeasible, but a valid plan exists: please report this bug")
    plan = None if result.point is None else problem.decode(instance, program.chosen(result.point))
    if result.tree is None:
        return Answer(solution=plan, bound=result.bound, valid_because=SOLVED)
    document, exact_bound = tree_certificate(instance, program, result.tree)
    proved = as_float(exact_bound)
    if plan is not None and meets(proved, result.value):
        document["plan"] = plan.document()
        return Answer(solution=plan, bound=proved, valid_because=TREE, certificate=document)
    if proved >= result.bound:
        note = f"not proved optimal: the tree was not finished ({len(result.tree.nodes):,} nodes)"
        return Answer(solution=plan, bound=proved, valid_because=TREE, certificate=document, note=note)
    note = f"the proof did not fit: the certificate proves {proved:g}, the solver claims {result.bound:g}"
    return Answer(solution=plan, bound=result.bound, valid_because=SOLVED, certificate=document, note=note)


def _warm_start(problem: Problem, instance: Instance, program: Program, rng: Generator, run: Run) -> Vector | None:
    """The point of the best heuristic plan; tiny programs are solved before a heuristic has been imported."""
    if program.shape[1] < WORTH_A_START:
        return None
    from yardline.solvers.portfolio import portfolio

    plan = portfolio(instance, rng, run=run).solution
    if plan is None or not problem.evaluate(instance, plan).valid:
        return None
    return problem.encode(instance, program, plan)


for _name in problem_names():
    registry.method(_name, "exact", generic=True)(exact)
