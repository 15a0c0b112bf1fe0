"""Short cuts for the tests of assignment."""

from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.assignment.judge import evaluate
from yardline.models.problem import Problem
from yardline.solvers import highs

PROBLEM = Problem("assignment")


def read(document: dict) -> Assignment:
    return Assignment.from_document(document)


def two_brokers(**changes) -> dict:
    """Two leaves at the same distance from two subscribers on a line; interests [0, 1] and [3, 5]."""
    document = {
        "publisher": [0, 0],
        "brokers": {"at": [[1, 0], [1, 0]], "parent": [-1, -1], "filter_complexity": 1},
        "subscribers": {"at": [[2, 0], [2, 0]], "low": [[0], [3]], "high": [[1], [5]]},
        "latency": {"max_delay": 1},
        "load": {"desired": 1, "max": 2},
    }
    for path, value in changes.items():
        *outer, last = path.split("__")
        place = document
        for name in outer:
            place = place[name]
        place[last] = value
    return document


def optimum(document: dict) -> float:
    """The least cost by the integer program; infinity where it is infeasible."""
    return highs.solve(PROBLEM.assemble(read(document))).value


def best_plan(instance: Assignment) -> AssignmentPlan:
    program = PROBLEM.assemble(instance)
    outcome = highs.solve(program)
    assert outcome.point is not None
    return PROBLEM.decode(instance, program.chosen(outcome.point))


def rules(instance: Assignment, leaf: list, filters: list) -> list[str]:
    """The names of the rules that a plan breaks."""
    return [v.rule for v in evaluate(instance, AssignmentPlan.of(instance, leaf=leaf, filters=filters)).violations]
