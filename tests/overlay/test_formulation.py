"""Pyomo's statement and the array assembly are the same program, row by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import HealthCheck, given, settings
from overlay.tiny import any_overlay
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from yardline.models.overlay.assembly import assemble
from yardline.models.overlay.data import Overlay
from yardline.models.overlay.formulation import build

Row = tuple[frozenset[tuple[str, float]], float, float]


def plain(name: str) -> str:
    """x(0,1) for Pyomo's x[0,1]."""
    return name.replace("[", "(").replace("]", ")")


def pyomo_rows(model: Any) -> tuple[dict[str, Row], dict[str, float]]:
    """Rows and costs of a Pyomo model, by name."""
    form = LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=pyo.minimize)
    names = [plain(column.name) for column in form.columns]
    matrix, rows = form.A.tocsr(), {}
    for r, (row, right) in enumerate(zip(form.rows, form.rhs, strict=True)):
        span = slice(matrix.indptr[r], matrix.indptr[r + 1])
        entries = dict(zip((names[c] for c in matrix.indices[span]), matrix.data[span], strict=True))
        sides = {0: (right, right), 1: (-np.inf, right), -1: (right, np.inf)}[row.bound_type]
        rows[plain(row.constraint.name)] = normal(entries, *sides)
    costs = dict(zip(names, form.c.toarray()[0], strict=True))
    return rows, {name: float(cost) for name, cost in costs.items() if cost}


def normal(entries: dict[str, float], low: float, high: float) -> Row:
    """A row with its first entry (by name) positive: the sign of a row says nothing."""
    entries = {name: float(value) for name, value in entries.items() if value}
    if entries and entries[min(entries)] < 0:
        entries, low, high = {name: -value for name, value in entries.items()}, -high, -low
    return frozenset(entries.items()), float(low) + 0.0, float(high) + 0.0


def array_rows(instance: Overlay) -> tuple[dict[str, Row], dict[str, float]]:
    program, rows = assemble(instance), {}
    matrix = program.matrix
    for r, name in enumerate(program.rows):
        span = slice(matrix.indptr[r], matrix.indptr[r + 1])
        entries = {program.columns[c]: v for c, v in zip(matrix.indices[span], matrix.data[span], strict=True)}
        rows[name] = normal(entries, program.row_low[r], program.row_high[r])
    costs = zip(program.columns, program.cost.tolist(), strict=True)
    return rows, {name: cost for name, cost in costs if cost}


def same_program(document: dict[str, Any]) -> None:
    instance = Overlay.from_document(document)
    if not instance.U:
        return  # Pyomo's compiler does not take an objective without columns
    ours, costs = array_rows(instance)
    theirs, their_costs = pyomo_rows(build(instance))
    assert ours == theirs
    assert costs == pytest.approx(their_costs, rel=1e-12)


QUIET = list(HealthCheck)


@settings(deadline=None, max_examples=40, suppress_health_check=QUIET)
@given(any_overlay("mesh"))
def test_mesh_is_the_same_matrix(document: dict[str, Any]) -> None:
    same_program(document)


@settings(deadline=None, max_examples=40, suppress_health_check=QUIET)
@given(any_overlay("tree"))
def test_tree_is_the_same_matrix(document: dict[str, Any]) -> None:
    same_program(document)


@settings(deadline=None, max_examples=25, suppress_health_check=QUIET)
@given(any_overlay())
def test_bounds_and_domains_agree(document: dict[str, Any]) -> None:
    instance = Overlay.from_document(document)
    program = assemble(instance)
    for relax in (False, True):
        variables = {plain(v.name): v for v in build(instance, relax=relax).component_data_objects(pyo.Var)}
        assert set(variables) == set(program.columns)
        for name, low, high, whole in zip(
            program.columns, program.col_low, program.col_high, program.integer, strict=True
        ):
            assert variables[name].bounds == (low, high)
            assert variables[name].is_integer() == (bool(whole) and not relax)
