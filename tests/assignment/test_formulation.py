"""The Pyomo model and the arrays are the same program, row by name; points of plans satisfy it."""

import numpy as np
import pytest
from assignment.helpers import PROBLEM, best_plan, read, two_brokers
from assignment.strategies import documents
from hypothesis import HealthCheck, given, settings
from pyomo.environ import minimize
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from yardline.models.assignment.data import AssignmentPlan
from yardline.models.assignment.feasibility import why_infeasible
from yardline.models.assignment.judge import evaluate
from yardline.solvers import highs

COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


def tidy(name: str) -> str:
    return name.replace("[", "(").replace("]", ")")


def pyomo_rows(document: dict) -> dict:
    """Rows by name, as {column: value} with low and high; signs so that the first column's value is positive."""
    model = PROBLEM.formulate(read(document))  # kept: its parts do not outlive it
    form = LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=minimize)
    matrix, columns = form.A.tocsr(), [tidy(v.name) for v in form.x]
    result = {}
    for r, (row, side) in enumerate(zip(form.rows, form.rhs, strict=True)):
        span = slice(matrix.indptr[r], matrix.indptr[r + 1])
        entries = {columns[j]: v for j, v in zip(matrix.indices[span], matrix.data[span], strict=True) if v}
        low, high = {-1: (side, np.inf), 0: (side, side), 1: (-np.inf, side)}[row.bound_type]
        result[tidy(row.constraint.name)] = signed(entries, low, high)
    costs = {columns[j]: v for j, v in zip(form.c.tocoo().col, form.c.tocoo().data, strict=True) if v}
    kinds = {tidy(v.name): (v.lb, v.ub, v.is_integer() or v.is_binary()) for v in form.x}
    return {"rows": result, "costs": costs, "kinds": kinds}


def signed(entries: dict, low: float, high: float) -> tuple:
    if entries and entries[min(entries)] < 0:
        entries, low, high = {name: -v for name, v in entries.items()}, -high, -low
    return entries, low + 0.0, high + 0.0


def array_rows(document: dict) -> dict:
    program = PROBLEM.assemble(read(document))
    matrix, result = program.matrix, {}
    for r, name in enumerate(program.rows):
        span = slice(matrix.indptr[r], matrix.indptr[r + 1])
        entries = {program.columns[j]: v for j, v in zip(matrix.indices[span], matrix.data[span], strict=True) if v}
        assert name not in result, f"{name} twice"
        result[name] = signed(entries, program.row_low[r], program.row_high[r])
    costs = {program.columns[j]: program.cost[j] for j in np.flatnonzero(program.cost)}
    bounds = zip(program.columns, program.col_low, program.col_high, program.integer, strict=True)
    return {"rows": result, "costs": costs, "kinds": {name: (a, b, bool(i)) for name, a, b, i in bounds}}


@settings(max_examples=60, **COMMON)
@given(documents())
def test_same_program(document):
    ours, theirs = array_rows(document), pyomo_rows(document)
    assert ours["rows"] == theirs["rows"]
    assert ours["costs"] == theirs["costs"]
    used = {name for entries, _, _ in ours["rows"].values() for name in entries} | set(ours["costs"])
    assert {name: ours["kinds"][name] for name in used} == theirs["kinds"]


def test_relaxed_model_has_no_whole_variables():
    model = PROBLEM.formulate(read(two_brokers()), relax=True)
    form = LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=minimize)
    assert not any(v.is_integer() or v.is_binary() for v in form.x)


@settings(max_examples=60, **COMMON)
@given(documents())
def test_wasteful_plans_have_points(document):
    """Boxes that are larger than needed, with edges that are nobody's, still encode at no higher cost."""
    instance = read(document)
    if why_infeasible(instance) is not None:
        return
    plan = best_plan(instance)
    level = instance.level[plan.broker][:, None]  # grow more the nearer to the publisher: nested all the same
    margin = 0.3 * (1 + instance.level.max() - level)
    wasteful = AssignmentPlan.from_arrays(
        instance, leaf=plan.leaf, broker=plan.broker, low=plan.low - margin, high=plan.high + margin
    )
    judgement, program = evaluate(instance, wasteful), PROBLEM.assemble(instance)
    assert judgement.valid
    point = PROBLEM.encode(instance, program, wasteful)
    assert program.violation(point) == 0
    assert program.value(point) <= judgement.cost + 1e-9


def test_cuts_between_edges_move_to_edges():
    # [0, 8]x[0, 1] cut at 4.5, which is nobody's edge: left part up to y = 3, right part down to y = -2.
    # Cost 4.5 * 3 + 3.5 * 3 = 24, and moving the cut changes nothing (3 per unit on either side).
    subscribers = {"at": [[2, 0]] * 3, "low": [[0, 0], [0, 0], [7, -2]], "high": [[8, 1], [1, 3], [8, 1]]}
    one = {"brokers__at": [[1, 0]], "brokers__parent": [-1], "brokers__filter_complexity": 2}
    instance = read(two_brokers(**one, subscribers=subscribers, containment="union"))
    plan = AssignmentPlan.of(instance, leaf=[0, 0, 0], filters=[[([0, 0], [4.5, 3]), ([4.5, -2], [8, 1])]])
    assert evaluate(instance, plan).valid
    assert evaluate(instance, plan).cost == pytest.approx(24)
    program = PROBLEM.assemble(instance)
    point = PROBLEM.encode(instance, program, plan)
    assert program.violation(point) == 0
    assert program.value(point) <= 24 + 1e-9


def test_without_a_leaf_in_reach_the_program_is_infeasible():
    document = two_brokers(latency={"max_latency": [0.5, 9]})
    assert highs.solve(PROBLEM.assemble(read(document))).stop.name == "INFEASIBLE"
    assert array_rows(document)["rows"] == pyomo_rows(document)["rows"]


def test_size_is_near_the_number_of_columns():
    for containment in ("rectangle", "union"):
        instance = read(two_brokers(containment=containment))
        columns = PROBLEM.assemble(instance).shape[1]
        assert columns / 4 <= PROBLEM.part("assembly").size(instance) <= 12 * columns
