"""Pyomo model and arrays: the same program, row by name; and the plan of a solved Pyomo model."""

from __future__ import annotations

import re

import numpy as np
import pyomo.environ as pyo
import pytest
from channelization import brute_force
from channelization.strategies import documents, instance
from hypothesis import given, settings
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

import yardline as yl
from yardline.models.channelization.assembly import assemble
from yardline.models.channelization.formulation import build
from yardline.models.channelization.judge import evaluate

FULL = {
    **{"rates": [1, 2, 0, 3], "wants": [[0, 1], [1, 2], [3], []], "groups": 2, "unicast_budget": 2.5},
    **{"receive_weight": [[1, 2, 1, 0.5], [1, 1, 1, 1], [3, 1, 2, 1], [1, 1, 1, 1]], "send_weight": [1, 0.25, 1, 2]},
}
ALL_MODES = [(mode, hybrid) for mode in ("constrained", "unconstrained") for hybrid in (False, True)]


def name_of(component) -> str:
    """Pyomo's x[0,1] as the arrays name it, x(0,1)."""
    return re.sub(r"\[(.*)\]$", lambda m: f"({m[1]})", component.name).replace(" ", "")


def from_pyomo(model):
    """(costs, rows) by name; a row is (coefficients, low, high)."""
    form = LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=pyo.minimize)
    columns = [name_of(column) for column in form.columns]
    cost = {n: c for n, c in zip(columns, form.c.toarray()[0].tolist(), strict=True) if c}
    rows = {}
    matrix = form.A.tocsr()
    for r, (row, side) in enumerate(zip(form.rows, form.rhs, strict=True)):
        span = slice(matrix.indptr[r], matrix.indptr[r + 1])
        entries = {columns[j]: v for j, v in zip(matrix.indices[span], matrix.data[span].tolist(), strict=True) if v}
        name = name_of(row.constraint)
        _, low, high = rows.get(name, (entries, -np.inf, np.inf))
        low = side if row.bound_type in (0, -1) else low
        high = side if row.bound_type in (0, 1) else high
        rows[name] = (entries, float(low), float(high))
    return cost, rows


def from_arrays(program):
    cost = {n: c for n, c in zip(program.columns, program.cost.tolist(), strict=True) if c}
    rows = {}
    for r, name in enumerate(program.rows):
        span = slice(program.matrix.indptr[r], program.matrix.indptr[r + 1])
        names = [program.columns[j] for j in program.matrix.indices[span]]
        entries = {n: v for n, v in zip(names, program.matrix.data[span].tolist(), strict=True) if v}
        rows[name] = (entries, float(program.row_low[r]), float(program.row_high[r]))
    return cost, rows


def normal(row):
    """A row up to its sign: the first coefficient by name is positive."""
    entries, low, high = row
    if entries and entries[min(entries)] < 0:
        entries, low, high = {n: -v for n, v in entries.items()}, -high, -low
    return entries, pytest.approx(low + 0.0, rel=1e-12), pytest.approx(high + 0.0, rel=1e-12)


def check_same(document, relax):
    made = instance(document)
    model, program = build(made, relax=relax), assemble(made)
    cost, rows = from_pyomo(model) if any(True for _ in model.component_data_objects(pyo.Var)) else ({}, {})
    array_cost, array_rows = from_arrays(program)
    assert cost == pytest.approx(array_cost, rel=1e-12)
    assert set(rows) == {name for name, (entries, _, _) in array_rows.items() if entries}
    for name, row in rows.items():
        entries, low, high = normal(row)
        other, other_low, other_high = normal(array_rows[name])
        assert entries == pytest.approx(other, rel=1e-12), name
        assert (low.expected, high.expected) == (other_low, other_high), name
    variables = {name_of(v): v for v in model.component_data_objects(pyo.Var)}
    assert set(variables) == set(program.columns)
    assert program.integer.all()
    for name, variable in variables.items():
        assert variable.bounds == (0, 1), name
        assert variable.is_binary() is not relax


@pytest.mark.parametrize(("mode", "hybrid"), ALL_MODES)
@pytest.mark.parametrize("relax", [False, True])
def test_same_matrix_with_everything_optional(mode, hybrid, relax):
    check_same({**FULL, "mode": mode, "hybrid": hybrid}, relax)


@settings(max_examples=60)
@given(documents())
def test_same_matrix(document):
    check_same(document, relax=False)


@settings(max_examples=25)
@given(documents(feasible=True))
def test_extract_the_plan_of_a_solved_model(document):
    made = instance(document)
    model = yl.formulate(made)
    if any(True for _ in model.component_data_objects(pyo.Var)):
        pyo.SolverFactory("appsi_highs").solve(model)
        cost = pyo.value(model.cost)
    else:
        cost = 0.0
    judged = evaluate(made, yl.extract(made, model))
    assert judged.valid
    assert judged.cost == pytest.approx(brute_force.optimum(document), abs=1e-6)
    assert judged.cost == pytest.approx(cost, abs=1e-6)


def test_a_constraint_of_ones_own():
    # One group serves {0} and {1} at 2 * 3 + 3 = 9 in total; two groups at 3 + 3. Forbidding the second group costs 3.
    made = instance({"rates": [1, 2], "wants": [[0], [1]], "groups": 2, "mode": "constrained", "hybrid": False})
    model = yl.formulate(made)
    model.only_one = pyo.Constraint(expr=sum(model.x[i, i] for i in (0, 1)) <= 1)
    pyo.SolverFactory("appsi_highs").solve(model)
    assert evaluate(made, yl.extract(made, model)).cost == pytest.approx(9)


def test_every_row_family_is_named_in_the_mathematics():
    """The docstring is the mathematics: every component of the model has its label there."""
    from yardline.models.channelization import formulation

    for mode, hybrid in ALL_MODES:
        model = build(instance({**FULL, "mode": mode, "hybrid": hybrid}))
        for family in model.component_objects(pyo.Constraint):
            assert f"({family.local_name})" in formulation.__doc__
