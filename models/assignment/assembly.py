"""Assignment as arrays: the programs of formulation.py (same rows, same columns, same names), assembled with numpy.

tests/assignment/test_formulation.py shows that both are the same matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from yardline.models.assignment.boxes import inside
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.pieces import Pieces, estimate, fronts, least_brokers, pieces, twins
from yardline.models.assignment.translation import decode, encode
from yardline.models.checks import Indices
from yardline.models.program import Builder, Program

__all__ = ["assemble", "decode", "encode", "size"]


def size(instance: Assignment) -> int:
    """About how many columns the program has: what decides whether it is within reach."""
    return estimate(instance)


def assemble(instance: Assignment) -> Program:
    """The program of an instance."""
    p, b = pieces(instance), Builder()
    union = instance.containment == "union"
    c = _columns(b, instance, p)
    _serve(b, instance, p, c)
    _capacity(b, instance, p, c)
    _boxes(b, instance, p, c)
    (_covered if union else _put_into_boxes)(b, instance, p, c)
    _want(b, p, c)
    _rise(b, instance, c)
    _full(b, p, c)
    _many(b, instance, p, c)
    _first(b, instance, p, c)
    return b.program()


@dataclass(slots=True)
class _Columns:
    """Positions of columns, -1 where there is none."""

    x: Indices  # subscribers x leaves
    f: Indices  # brokers x boxes
    y: Indices  # subscribers x brokers x boxes (`rectangle` only)
    z: Indices  # brokers x cells
    barred: Indices  # columns of subscribers whom no leaf serves


def _columns(b: Builder, instance: Assignment, p: Pieces) -> _Columns:
    leaves = instance.leaves
    x = np.full(p.may.shape, -1)
    s, l = np.nonzero(p.may)
    nobody = np.flatnonzero(~p.may.any(axis=1))
    index = np.concatenate([np.stack([s, leaves[l]], 1), np.stack([nobody, np.full(len(nobody), leaves[0])], 1)])
    positions = b.columns("x", index)
    x[s, l] = positions[: len(s)]
    f = _dense(b, "f", p.usable)
    cells = (p.usable.astype(np.int64) @ p.covers.astype(np.int64)) > 0
    z = np.full(cells.shape, -1)
    i, c = np.nonzero(cells)
    z[i, c] = b.columns("z", np.stack([i, c], 1), cost=p.measure[c])
    if instance.containment == "union":
        y = np.zeros((0, 0, 0), dtype=np.int64)
    else:
        y = _dense(b, "y", p.reach[:, :, None] & p.usable[None] & p.holds[:, None], integer=False)
    return _Columns(x, f, y, z, positions[len(s) :])


def _dense(b: Builder, name: str, exists: NDArray[np.bool_], *, integer: bool = True) -> Indices:
    result = np.full(exists.shape, -1, dtype=np.int64)
    where = np.nonzero(exists)
    result[where] = b.columns(name, np.stack(where, 1), integer=integer)
    return result


def _serve(b: Builder, instance: Assignment, p: Pieces, c: _Columns) -> None:
    rows = b.rows("serve", np.arange(instance.m)[:, None], low=1.0, high=1.0)
    s, l = np.nonzero(p.may)
    b.entries(rows[s], c.x[s, l])
    nobody = np.flatnonzero(~p.may.any(axis=1))
    b.entries(rows[nobody], c.barred)
    b.entries(b.rows("barred", nobody[:, None], high=0.0), c.barred)


def _capacity(b: Builder, instance: Assignment, p: Pieces, c: _Columns) -> None:
    tight = np.flatnonzero(p.may.sum(axis=0) > p.caps[instance.leaves])
    rows = b.rows("capacity", instance.leaves[tight][:, None], high=p.caps[instance.leaves[tight]].astype(float))
    for row, l in zip(rows, tight, strict=True):
        b.entries(row, _real(c.x[:, l]))


def _boxes(b: Builder, instance: Assignment, p: Pieces, c: _Columns) -> None:
    tight = np.flatnonzero(p.usable.sum(axis=1) > instance.alpha)
    rows = b.rows("boxes", tight[:, None], high=instance.alpha[tight].astype(float))
    for row, i in zip(rows, tight, strict=True):
        b.entries(row, _real(c.f[i]))


def _put_into_boxes(b: Builder, instance: Assignment, p: Pieces, c: _Columns) -> None:
    """(put), (open), (fit), (pay), (nest): every subscriber is in one box of each broker on its way."""
    s, i = np.nonzero(p.reach)
    rows = b.rows("put", np.stack([s, i], 1), low=0.0, high=0.0)
    for row, t, j in zip(rows.tolist(), s.tolist(), i.tolist(), strict=True):
        b.entries(row, _real(c.y[t, j]))
        b.entries(row, _real(c.x[t, p.below[j]]), -1.0)
    s, i, r = np.nonzero(c.y >= 0)
    rows = b.rows("open", np.stack([s, i, r], 1), high=0.0)
    b.entries(rows, c.y[s, i, r])
    b.entries(rows, c.f[i, r], -1.0)
    _fit(b, p, c)
    _pay(b, p, c)
    for j in np.flatnonzero(np.isin(np.arange(instance.n), instance.parent)).tolist():
        _nest(b, instance, p, c, j)


def _fit(b: Builder, p: Pieces, c: _Columns) -> None:
    i, r = np.nonzero((c.y >= 0).sum(axis=0) > np.maximum(1, p.caps[:, None]))
    rows = b.rows("fit", np.stack([i, r], 1), high=0.0)
    for row, j, k in zip(rows, i, r, strict=True):
        b.entries(row, _real(c.y[:, j, k]))
    b.entries(rows, c.f[i, r], -p.caps[i].astype(float))


def _pay(b: Builder, p: Pieces, c: _Columns) -> None:
    """z >= the boxes over a cell that a subscriber is in; cells of its own interest are in (want)."""
    for s, i in np.argwhere(p.reach).tolist():
        columns = c.y[s, i]
        own = np.flatnonzero(columns >= 0)
        r, g = np.nonzero(p.covers[own] & ~p.wanted[s])
        cells, row_of = np.unique(g, return_inverse=True)
        rows = b.rows("pay", np.stack([np.full(len(cells), s), np.full(len(cells), i), cells], 1), low=0.0)
        b.entries(rows, c.z[i, cells])
        b.entries(rows[row_of], columns[own[r]], -1.0)


def _nest(b: Builder, instance: Assignment, p: Pieces, c: _Columns, j: int) -> None:
    """Of every subscriber below broker j: the box at j holds the box one level down."""
    within = inside(p.low, p.high, p.low, p.high)
    children = np.flatnonzero(instance.parent == j)
    for s in np.flatnonzero(p.reach[:, j]).tolist():
        lower = c.y[s][children]
        for r in np.flatnonzero((lower >= 0).any(axis=0)).tolist():
            inner, outer = _real(lower[:, within[r]].ravel()), _real(c.y[s, j, within[r]])
            if len(outer) < (c.y[s, j] >= 0).sum():
                row = b.rows("nest", np.array([[s, j, r]]), low=0.0)
                b.entries(row, outer)
                b.entries(row, inner, -1.0)


def _covered(b: Builder, instance: Assignment, p: Pieces, c: _Columns) -> None:
    """(made), (pay): a cell is covered exactly where a box over it is chosen."""
    i, g = np.nonzero(c.z >= 0)
    rows = b.rows("made", np.stack([i, g], 1), low=0.0)
    b.entries(rows, c.z[i, g], -1.0)
    for row, j, h in zip(rows, i, g, strict=True):
        b.entries(row, _real(c.f[j, p.covers[:, h]]))
    for k in range(instance.d):
        sides = np.hstack([np.delete(p.low, k, axis=1), np.delete(p.high, k, axis=1)])
        section = (
            np.unique(sides, axis=0, return_inverse=True)[1].ravel() if instance.d > 1 else np.zeros(len(p.low), int)
        )
        _pay_once(b, p, c, k, section)


def _pay_once(b: Builder, p: Pieces, c: _Columns, k: int, section: Indices) -> None:
    """z >= all boxes over the cell that differ in dimension k only: two of those would be one."""
    for i, g in np.argwhere(c.z >= 0).tolist():
        own = np.flatnonzero(p.covers[:, g] & (c.f[i] >= 0))
        sections, row_of = np.unique(section[own], return_inverse=True)
        index = np.stack([np.full(len(sections), v) for v in (i, g, k)] + [sections], 1)
        rows = b.rows("pay", index, low=0.0)
        b.entries(rows, np.full(len(rows), c.z[i, g]))
        b.entries(rows[row_of], c.f[i, own], -1.0)


def _want(b: Builder, p: Pieces, c: _Columns) -> None:
    for s, i in np.argwhere(p.reach).tolist():
        cells = np.flatnonzero(p.wanted[s] & (c.z[i] >= 0))
        rows = b.rows("want", np.stack([np.full(len(cells), s), np.full(len(cells), i), cells], 1), low=0.0)
        b.entries(rows, c.z[i, cells])
        for column in _real(c.x[s, p.below[i]]):
            b.entries(rows, np.full(len(rows), column), -1.0)


def _rise(b: Builder, instance: Assignment, c: _Columns) -> None:
    child, cell = np.nonzero((c.z >= 0) & (instance.parent >= 0)[:, None])
    rows = b.rows("rise", np.stack([child, cell], 1), low=0.0)
    b.entries(rows, c.z[instance.parent[child], cell])
    b.entries(rows, c.z[child, cell], -1.0)


def _full(b: Builder, p: Pieces, c: _Columns) -> None:
    """A cell at a broker pays for as many subscribers as the broker may take."""
    users = p.wanted.T.astype(np.int64) @ p.reach.astype(np.int64)  # cells x brokers
    for g, i in np.argwhere((users > np.maximum(1, p.caps)) & (c.z.T >= 0)).tolist():
        row = b.rows("full", np.array([[i, g]]), low=0.0)
        b.entries(row, c.z[i, g : g + 1], float(p.caps[i]))
        b.entries(row, _real(c.x[np.ix_(p.wanted[:, g], p.below[i])].ravel()), -1.0)


def _many(b: Builder, instance: Assignment, p: Pieces, c: _Columns) -> None:
    least = least_brokers(instance, p)
    for l, front in enumerate(fronts(instance)):
        cells = np.flatnonzero(least[l] > 1)
        rows = b.rows("many", np.stack([np.full(len(cells), l), cells], 1), low=least[l, cells].astype(float))
        i, g = np.nonzero(c.z[np.ix_(front, cells)] >= 0)
        b.entries(rows[g], c.z[front[i], cells[g]])


def _first(b: Builder, instance: Assignment, p: Pieces, c: _Columns) -> None:
    for before, after in twins(instance, p):
        for s in np.flatnonzero(p.may[:, after]).tolist():
            row = b.rows("first", np.array([[s, instance.leaves[after]]]), low=0.0)
            b.entries(row, _real(c.x[:s, before]))
            b.entries(row, c.x[s, after : after + 1], -1.0)


def _real(columns: Indices) -> Indices:
    return columns[columns >= 0]
