"""The bound `cells`: prices of cells and loads, raised by dual averaging, then proved in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models import checks, registry
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.feasibility import why_infeasible
from yardline.models.assignment.load import caps_of
from yardline.models.checks import Vector
from yardline.models.method import Answer, Run
from yardline.solvers.certificates.cells import (
    CODES,
    FINE,
    KIND,
    LARGEST,
    LARGEST_TOTAL,
    WHOLE,
    packed,
    proved,
    shift_of,
)
from yardline.solvers.certificates.grid import Cells, Types, Whole, measured, typed
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certificates.verdict import header

BECAUSE = (
    "no plan can avoid the prices of the cells that its filters contain "
    "(weak duality in whole numbers; both containments, all levels)"
)
DESIRED = "; it holds for plans within max(beta, least feasible factor), not for all that beta_max allows"

POWER, FASTER, MOST_POWER = 2.5, 0.03, 7.0
"""The power of means that bids are: at first, by how much it rises every round, and at most."""

QUICK = 1_000_000
"""Pairs up to which the first prices are proved before they are raised."""

MOST_PAIRS, MOST_TABLE = 40_000_000, 20_000_000
"""Pairs of a type and a broker, and of a cell and a broker, that are priced."""


@dataclass(slots=True)
class Ascent:
    """Prices on their way up, and the best so far."""

    cells: Cells
    types: Types
    parts: Whole
    a: NDArray[np.float32]
    room: Vector  # brokers in order x cells
    prices: Vector  # per broker, 0 at inner ones
    mean: NDArray[np.float32]  # which part of a type a broker serves, over the rounds
    full: NDArray[np.float32]  # brokers in order x cells: load / cap, over the rounds
    value: float = -np.inf
    best: tuple[Any, ...] = ()


@registry.bound("assignment", "cells")
def cells(
    instance: Assignment,
    rng: Generator,
    *,
    run: Run,
    load: Literal["max", "desired"] = "max",
    cells: int = 10_000,
    rounds: int = 300,
) -> Answer:
    """Prices of the cells of a grid and of loads, by dual averaging; holds for both containments and all levels.

    load: `desired` bounds only plans within max(beta, least feasible factor);
    cells: how fine the grid is at most; rounds: steps of the ascent at most.
    """
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    if not instance.m:
        return Answer(bound=0.0, valid_because="there are no subscribers")
    ascent = started(instance, load, checks.integer(cells, "option cells", low=1))
    early(instance, ascent, load, run)
    climbed(instance, ascent, run, checks.integer(rounds, "option rounds", low=1))
    document, bound = certified(instance, ascent, load)
    return Answer(bound=as_float(bound), valid_because=because(load), certificate=document)


def early(instance: Assignment, ascent: Ascent, load: str, run: Run) -> None:
    """What the first prices prove, where that is quick: an answer even if the time ends at once."""
    if len(ascent.types.who) <= QUICK:
        document, bound = certified(instance, ascent, load)
        run.report("first prices", bound=as_float(bound), certificate=document, valid_because=because(load))


def because(load: str) -> str:
    """Why the bound holds, and for whom."""
    return BECAUSE + (DESIRED if load == "desired" else "")


def started(instance: Assignment, load: str, most_cells: int) -> Ascent:
    """The grid, the types, and first prices: each cell shared out evenly among those who want it and the capacity."""
    most_cells = min(most_cells, max(1, MOST_TABLE // instance.n))
    grid = measured(instance, cuts(instance, most_cells))
    types = typed(instance, grid, caps_of(instance, load), MOST_PAIRS)
    a = types.weight[types.who].astype(np.float32)
    room = np.repeat(np.maximum(types.caps[types.order], 1.0)[:, None], len(grid.volume), axis=1)
    scale = np.maximum(1.0, types.weight.max(initial=1))
    first = (a / np.float32(scale), room / scale, np.zeros(instance.n))
    copies = tuple(array.copy() for array in first)
    means = (np.zeros_like(a), np.zeros(room.shape, np.float32))
    return Ascent(grid, types, np.full(instance.n, WHOLE, dtype=np.int64), *first, *means, best=copies)


def cuts(instance: Assignment, most_cells: int) -> list[Vector]:
    """All edges of interests (and of the density's grid) where they are few enough, else evenly many of each side."""
    each = max(1, int(most_cells ** (1 / instance.d) + 1e-9))
    result = []
    for k in range(instance.d):
        sides = [np.unique(side[:, k]) for side in (instance.low, instance.high)]
        if instance.edges is not None:
            sides.append(instance.edges[k])
        every = np.unique(np.concatenate(sides))
        if len(every) > each + 1:
            values = np.sort(np.concatenate([instance.low[:, k], instance.high[:, k]]))
            every = np.unique(values[np.linspace(0, len(values) - 1, each + 1).astype(np.int64)])
        result.append(every if len(every) > 1 else np.array([every[0], every[0] + max(1.0, abs(every[0]))]))
    return result


def climbed(
    instance: Assignment, ascent: Ascent, run: Run, rounds: int, *, reserve: float = 0.15, late: int = 0
) -> Vector:
    """Raise the prices while time lasts, but for a part of it that is left for the proof; what each broker brings in.

    late: steps are as small as if so many had been made before.
    """
    from yardline.solvers.assignment import _ascent

    types, grid = ascent.types, ascent.cells
    table = np.array(types.table)
    cell = np.ravel_multi_index(np.unravel_index(np.arange(len(grid.volume)), grid.shape), types.table)
    order, weight = np.array(types.order), types.weight.astype(np.float64)
    caps = types.caps.astype(np.float64)
    is_leaf = np.isin(np.arange(instance.n), instance.leaves)
    volume, parts = grid.volume.astype(np.float64), ascent.parts / WHOLE
    cost, x = np.zeros(len(types.who), np.float32), np.zeros(len(types.who), np.float32)
    least, norm, loads = np.zeros(len(weight)), np.zeros(len(weight)), np.zeros(instance.n)
    corners, sign = types.corners.astype(np.int32), types.sign.astype(np.float64)
    pairs = (corners, sign, weight, types.start, types.who)
    wanted = _ascent.wanted_cells(cell, table, *pairs, len(order))
    kept = max(reserve * run.time_limit, 1e-6 * len(types.who))
    for k in range(rounds):
        heat, part = 0.4 / (1 + (k + late) / 50), max(1 / (k + late + 1), 0.1 / (1 + (k + late) / 30), 0.01)
        shares = (ascent.a, ascent.room, wanted, parts, volume, cell, caps, table)
        _ascent.ask(*shares, *pairs, types.up, order, cost)
        _ascent.choose(
            cost, ascent.prices, is_leaf, weight, types.start, types.who, types.up, order, heat, x, least, norm
        )
        value = float(np.where(np.isfinite(least), least, 0.0).sum() - (ascent.prices * caps)[is_leaf].sum())
        if value > ascent.value:
            ascent.value, ascent.best = value, (ascent.a.copy(), ascent.room.copy(), ascent.prices.copy())
        if k + 1 == rounds or run.left() <= kept:
            break
        power = min(MOST_POWER, POWER + FASTER * (k + late))
        own = (ascent.a, ascent.room, ascent.mean, ascent.full, power)
        _ascent.climb(*own, x, part, cell, caps, table, *pairs, order, loads)
        _raise_prices(ascent, loads, caps, is_leaf, value, k)
    asked = cost - np.where(types.up >= 0, cost[types.up], np.float32(0))
    at = np.repeat(order, np.diff(types.start))
    return np.asarray(np.bincount(at, weights=asked * x, minlength=instance.n), dtype=np.float64)


def _raise_prices(
    ascent: Ascent, loads: Vector, caps: Vector, is_leaf: NDArray[np.bool_], value: float, k: int
) -> None:
    """Load prices follow the loads."""
    over = np.where(is_leaf, np.minimum(loads / np.maximum(caps, 1.0) - 1.0, 2.0), 0.0)
    unit = max(value, 0.0) / max(1.0, float(caps[is_leaf].sum()))
    ascent.prices[:] = np.maximum(0.0, ascent.prices + unit * over / (1 + k / 40))


def certified(instance: Assignment, ascent: Ascent, load: str) -> tuple[dict[str, Any], Fraction]:
    """The certificate of the best prices and the exact bound that it proves; without load prices where they do harm."""
    a, room, prices = ascent.best
    types, grid = ascent.types, ascent.cells
    shift = shift_of(grid, types, int(instance.level.max()) + 1)
    bids, spare = _coded(types, a, room)
    whole = np.floor(prices[instance.leaves] * 2.0**shift).astype(np.int64)
    arguments = (instance, grid, types, ascent.parts, CODES[bids], CODES[spare])
    bound = proved(*arguments, whole)
    if bound < 0:
        whole = np.zeros_like(whole)
        bound = proved(*arguments, whole)
    parts = None if (ascent.parts == WHOLE).all() else ascent.parts.tolist()
    document = {
        **header(KIND, instance),
        "bound": str(bound),
        "load": load,
        "cuts": [cut.tolist() for cut in grid.cuts],
        "most": MOST_PAIRS,
        "part": parts,
        "bids": packed(bids),
        "room": packed(spare),
        "prices": whole.tolist(),
    }
    return document, bound


def _coded(types: Types, a: NDArray[np.float32], room: Vector) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Bids and room as codes; each broker has its own scale, chosen so that sums stay exact."""
    bids, spare = np.zeros(len(a), np.uint16), np.zeros(room.shape, np.uint16)
    most = min(2.0**LARGEST, 2.0 ** (61 - FINE // 2) / room.shape[1])
    for i in range(len(types.order)):
        span = slice(types.start[i], types.start[i + 1])
        mine = a[span].astype(np.float64)
        total = max(float(mine.sum()) + float(room[i].max(initial=0.0)), 1e-300)
        scale = min(most / max(float(mine.max(initial=0.0)), 1e-300), (LARGEST_TOTAL // 2 - len(mine)) / total)
        bids[span] = code_of(np.maximum(mine * scale, 1.0))
        spare[i] = code_of(np.minimum(room[i] * scale, 2.0**LARGEST))
    return bids, spare


def code_of(values: Vector) -> NDArray[np.uint16]:
    """The code of the largest number that does not exceed each value."""
    return (np.searchsorted(CODES, np.floor(values), side="right") - 1).astype(np.uint16)
