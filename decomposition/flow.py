"""Who goes where under caps: min-cost flow on groups of identical elements, and packing where elements differ in weight.

    (cheapest)  min sum(price[g,p] * n[g,p])    sum_p n[g,p] == count[g],  sum_g n[g,p] <= cap[p],  n >= 0
    (packed)    min sum(price[i,p] * x[i,p])    sum_p x[i,p] == 1,  sum_i weight[i] * x[i,p] <= limit[p],  x in {0,1}

The first is a transport problem: the simplex method's vertex is whole. The second is one with x in [0,1], and all but a
few x are whole at its vertex; where making those whole breaks a limit, the small integer program decides. Where any packing
near the prices will do, elements are inserted one by one first, which takes no program.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yardline.models.checks import Indices, Vector
from yardline.models.program import Builder, Program
from yardline.solvers import highs

PATIENCE = 5.0
"""Seconds for the integer program of a packing."""


def cheapest(price: Vector, may: NDArray[np.bool_], count: Indices, cap: Indices) -> Indices | None:
    """How many of each group go to each place, at least price; None where not all fit."""
    if (count[~may.any(axis=1)] > 0).any():
        return None
    program = _transport(price, may, count.astype(float), np.ones(len(count)), cap.astype(float))
    point = highs.solve(program, relax=True, solver="simplex").point
    if point is None:
        return None
    result: Indices = np.zeros(may.shape, dtype=np.int64)
    result[may] = np.round(point).astype(np.int64)
    return result


def packed(price: Vector, may: NDArray[np.bool_], weight: Vector, limit: Vector) -> Indices | None:
    """The place of each element, at little price; None where none was found."""
    if not may.any(axis=1).all():
        return None
    best: Indices = np.where(may, price, np.inf).argmin(axis=1)
    if _fits(best, weight, limit):
        return best
    ones = np.ones(len(weight))
    program = _transport(price, may, ones, weight, limit)
    for relax in (True, False):
        point = highs.solve(program, relax=relax, time_limit=PATIENCE, mip_rel_gap=1e-3).point
        if point is None:
            return None
        share = np.zeros(may.shape)
        share[may] = point
        place: Indices = share.argmax(axis=1)
        if _fits(place, weight, limit):
            return place
    return None


def inserted(price: Vector, may: NDArray[np.bool_], weight: Vector, limit: Vector) -> Indices | None:
    """Each element, the heaviest first, at the cheapest place that still has room for it; None where one finds none."""
    place, room = np.full(len(weight), -1, dtype=np.int64), limit.astype(np.float64)
    for i in np.argsort(-weight, kind="stable").tolist():
        open_ = may[i] & (weight[i] <= room)
        if not open_.any():
            return None
        place[i] = np.where(open_, price[i], np.inf).argmin()
        room[place[i]] -= weight[i]
    return place if _fits(place, weight, limit) else None


def _fits(place: Indices, weight: Vector, limit: Vector) -> bool:
    return bool((np.bincount(place, weights=weight, minlength=len(limit)) <= limit).all())


def _transport(price: Vector, may: NDArray[np.bool_], count: Vector, weight: Vector, limit: Vector) -> Program:
    b, (i, p) = Builder(), np.nonzero(may)
    n = b.columns("n", np.stack([i, p], 1), cost=price[may], high=count[i])
    b.entries(b.rows("all", np.arange(len(count))[:, None], low=count, high=count)[i], n)
    tight = np.isfinite(limit)
    rows = np.full(len(limit), -1)
    rows[tight] = b.rows("room", np.flatnonzero(tight)[:, None], high=limit[tight])
    held = (rows[p] >= 0) & (weight[i] > 0)
    b.entries(rows[p[held]], n[held], weight[i[held]])
    return b.program()
