"""Pyomo models as Programs: the second way in. What the solvers, the export and the certificates then see is one type."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from yardline.models.checks import Vector
from yardline.models.program import Program

ROUNDS = 20
"""Passes over the rows that look for finite bounds of columns that have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A Pyomo model as a program (always a minimisation), with the way back."""

    program: Program
    variables: tuple[Any, ...]  # the Pyomo variables behind the columns
    maximise: bool

    def put(self, point: Vector) -> None:
        """Write a point into the model."""
        for variable, value in zip(self.variables, point.tolist(), strict=True):
            whole = not variable.is_continuous()
            variable.set_value(round(value) if whole else value, skip_validation=True)


def compiled(model: Any) -> Compiled:
    """The program of a Pyomo model: linear, one objective, columns with finite bounds."""
    import pyomo.environ as pyo
    from pyomo.common.errors import InfeasibleConstraintException
    from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

    objectives = list(model.component_data_objects(pyo.Objective, active=True))
    if len(objectives) != 1:
        raise ValueError(f"the model has {len(objectives)} active objectives: expected one")
    try:
        form = LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=pyo.minimize)
    except InfeasibleConstraintException as error:
        raise ValueError(f"the model has a row that cannot hold: {error}") from None
    maximise = objectives[0].sense == pyo.maximize
    return Compiled(program=_program(form), variables=tuple(form.columns), maximise=maximise)


def _program(form: Any) -> Program:
    names, low, high, order = _merged_rows(form)
    matrix = csr_array(form.A)[order] if len(order) else csr_array((0, len(form.columns)))
    col_low = np.array([-math.inf if v.lb is None else float(v.lb) for v in form.columns])
    col_high = np.array([math.inf if v.ub is None else float(v.ub) for v in form.columns])
    col_low, col_high = finite_bounds(matrix, low, high, col_low, col_high)
    columns = [_name(v.name) for v in form.columns]
    for j in np.flatnonzero(~(np.isfinite(col_low) & np.isfinite(col_high)))[:1]:
        raise ValueError(f"variable {columns[j]} has no finite bounds, and none follow from the rows: give it some")
    return Program(
        cost=np.asarray(form.c.toarray()).ravel().astype(float) if form.c.shape[0] else np.zeros(len(columns)),
        matrix=matrix,
        row_low=low,
        row_high=high,
        col_low=col_low,
        col_high=col_high,
        integer=np.array([not v.is_continuous() for v in form.columns], dtype=bool),
        implied=np.zeros(len(columns), dtype=bool),
        columns=columns,
        rows=names,
        offset=float(form.c_offset[0]) if len(form.c_offset) else 0.0,
    )


def _merged_rows(form: Any) -> tuple[list[str], Vector, Vector, list[int]]:
    """Rows by name; a range row arrives twice and becomes one again."""
    place: dict[str, int] = {}
    low: list[float] = []
    high: list[float] = []
    order: list[int] = []
    for position, (row, side) in enumerate(zip(form.rows, form.rhs, strict=True)):
        name = _name(row.constraint.name)
        if name not in place:
            place[name] = len(order)
            order.append(position)
            low.append(-math.inf)
            high.append(math.inf)
        r = place[name]
        if row.bound_type <= 0:
            low[r] = max(low[r], float(side))
        if row.bound_type >= 0:
            high[r] = min(high[r], float(side))
    return list(place), np.array(low), np.array(high), order


def _name(name: str) -> str:
    """x[0,1] as x(0,1): brackets make some readers rename every column."""
    return name.replace("[", "(").replace("]", ")").replace(" ", "")


def finite_bounds(
    matrix: csr_array, row_low: Vector, row_high: Vector, low: Vector, high: Vector
) -> tuple[Vector, Vector]:
    """Bounds of columns that have none, as they follow from rows; widened a little, since this is floating point."""
    low, high = low.copy(), high.copy()
    for _ in range(ROUNDS):
        if np.isfinite(low).all() and np.isfinite(high).all():
            break
        before = (np.isfinite(low).sum(), np.isfinite(high).sum())
        for r in range(matrix.shape[0]):
            span = slice(matrix.indptr[r], matrix.indptr[r + 1])
            _propagate(matrix.indices[span], matrix.data[span], float(row_low[r]), float(row_high[r]), low, high)
        if before == (np.isfinite(low).sum(), np.isfinite(high).sum()):
            break
    return low, high


def _propagate(columns: Any, values: Any, row_low: float, row_high: float, low: Vector, high: Vector) -> None:
    """a'x in [row_low, row_high] bounds each column by what the others can be at most and at least."""
    least = np.where(values > 0, values * low[columns], values * high[columns])
    most = np.where(values > 0, values * high[columns], values * low[columns])
    for p, (j, a) in enumerate(zip(columns.tolist(), values.tolist(), strict=True)):
        others = np.arange(len(columns)) != p
        up, down = row_high - least[others].sum(), row_low - most[others].sum()
        top, bottom = (up / a, down / a) if a > 0 else (down / a, up / a)
        if not math.isfinite(high[j]) and math.isfinite(top):
            high[j] = top + 1e-6 * max(1.0, abs(top))
        if not math.isfinite(low[j]) and math.isfinite(bottom):
            low[j] = bottom - 1e-6 * max(1.0, abs(bottom))
