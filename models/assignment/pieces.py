"""What the integer programs are made of: candidate leaves, boxes that filters may need, cells of the event space.

**Boxes, `rectangle`.** Any box of a filter can shrink to the smallest box around the interests (below it, the boxes)
that it holds, so boxes around sets of interests suffice: at a broker, those that are tight for subscribers who can
reach it.

**Boxes, `union`.** Edges can be taken from the interests' and the density's grid: the cost is linear in an edge that
moves between two of those values, so some direction is no worse. Here too a box can shrink to the box around the
parts that it really contributes to: intersections that are as wide as what they intersect.

**Cells.** Edges cut the space into cells; cells in the same boxes and interests are one. With `union`, points count
as positions on an axis where an interest has no width, so that such interests are covered exactly.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from yardline.models.assignment import limits
from yardline.models.assignment.boxes import inside, overlaps
from yardline.models.assignment.data import Assignment
from yardline.models.checks import Indices, Vector

Bits = NDArray[np.bool_]

MOST_BOXES = 20_000
"""Boxes beyond which a program is out of reach anyway."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Pieces:
    """Index sets and tables of one instance's program."""

    may: Bits  # subscribers x leaves: near enough, and the leaf takes somebody
    below: Bits  # brokers x leaves: the leaf is the broker or stands below it
    reach: Bits  # subscribers x brokers
    caps: Indices  # per broker: what the leaves below it may take
    low: Vector  # boxes x d
    high: Vector
    usable: Bits  # brokers x boxes
    holds: Bits  # subscribers x boxes: the interest lies in the box
    covers: Bits  # boxes x cells
    wanted: Bits  # subscribers x cells: the cell lies in the interest, and is as wide
    measure: Vector  # of the cells


def pieces(instance: Assignment) -> Pieces:
    """All pieces of an instance."""
    caps = limits.caps(instance)
    may = limits.candidates(instance).table() & (caps[instance.leaves] > 0)
    below = _below(instance)
    reach = (may.astype(np.int64) @ below.T.astype(np.int64)) > 0
    union = instance.containment == "union"
    low, high = grid_boxes(instance) if union else hulls(instance.low, instance.high)
    usable = _usable_union(instance, low, high, reach) if union else _usable(instance, low, high, reach)
    some = usable.any(axis=0)
    low, high, usable = low[some], high[some], usable[:, some]
    covers, wanted, measure = _cells(instance, low, high)
    return Pieces(
        may=may,
        below=below,
        reach=reach,
        caps=np.minimum(below @ caps[instance.leaves], instance.m),
        low=low,
        high=high,
        usable=usable,
        holds=inside(instance.low, instance.high, low, high),
        covers=covers,
        wanted=wanted,
        measure=measure,
    )


def _below(instance: Assignment) -> Bits:
    below = np.zeros((instance.n, len(instance.leaves)), dtype=bool)
    below[instance.leaves, np.arange(len(instance.leaves))] = True
    for b in reversed(instance.top_down):
        if instance.parent[b] >= 0:
            below[instance.parent[b]] |= below[b]
    return below


def hulls(low: Vector, high: Vector, most: int | None = None) -> tuple[Vector, Vector]:
    """The smallest boxes around all sets of boxes, each once; at most so many, if asked."""
    d = low.shape[1]
    found = np.zeros((0, 2 * d))
    for a, b in zip(low, high, strict=True):
        grown = np.hstack([np.minimum(found[:, :d], a), np.maximum(found[:, d:], b)])
        found = np.unique(np.vstack([found, grown, np.concatenate([a, b])[None]]), axis=0)
        if most is not None and len(found) > most:
            break
    return found[:, :d], found[:, d:]


def axis_values(instance: Assignment) -> list[Vector]:
    """Coordinates that edges of filters may need, per dimension (`union`)."""
    result = []
    for k in range(instance.d):
        values = np.unique(np.concatenate([instance.low[:, k], instance.high[:, k]]))
        if instance.edges is not None and len(values):
            grid = instance.edges[k]
            values = np.unique(np.concatenate([values, grid[(grid > values[0]) & (grid < values[-1])]]))
        result.append(values)
    return result


def flat_values(instance: Assignment, k: int) -> Vector:
    """Where interests without width in a dimension lie."""
    flat = instance.low[:, k] == instance.high[:, k]
    return np.unique(instance.low[flat, k])


def grid_boxes(instance: Assignment) -> tuple[Vector, Vector]:
    """All boxes between the values of the axes; without width only where an interest is."""
    sides = []
    for k, values in enumerate(axis_values(instance)):
        i, j = np.triu_indices(len(values), 1)
        flat = flat_values(instance, k)
        sides.append(np.stack([np.concatenate([values[i], flat]), np.concatenate([values[j], flat])], axis=1))
    mesh = np.meshgrid(*[np.arange(len(side)) for side in sides], indexing="ij")
    picks = [side[part.ravel()] for side, part in zip(sides, mesh, strict=True)]
    return np.stack([p[:, 0] for p in picks], axis=1), np.stack([p[:, 1] for p in picks], axis=1)


def _usable(instance: Assignment, low: Vector, high: Vector, reach: Bits) -> Bits:
    """Boxes that are the smallest around the interests they hold of those who can reach the broker."""
    holds = inside(instance.low, instance.high, low, high)
    result = np.zeros((instance.n, len(low)), dtype=bool)
    for b in range(instance.n):
        held = (holds & reach[:, b, None])[:, :, None]
        tight_low = np.where(held, instance.low[:, None], np.inf).min(axis=0, initial=np.inf)
        tight_high = np.where(held, instance.high[:, None], -np.inf).max(axis=0, initial=-np.inf)
        result[b] = ((tight_low == low) & (tight_high == high)).all(axis=1)
    return result


def _usable_union(instance: Assignment, low: Vector, high: Vector, reach: Bits) -> Bits:
    """Boxes tight around what they contribute to: interests at leaves, boxes of the children above them."""
    result = np.zeros((instance.n, len(low)), dtype=bool)
    for b in reversed(instance.top_down):
        children = np.flatnonzero(instance.parent == b)
        if len(children):
            item = result[children].any(axis=0)
            items = low[item], high[item]
        else:
            items = instance.low[reach[:, b]], instance.high[reach[:, b]]
        tight_low, tight_high = contributions(low, high, *items)
        result[b] = ((tight_low == low) & (tight_high == high)).all(axis=1)
    return result


def contributions(low: Vector, high: Vector, item_low: Vector, item_high: Vector) -> tuple[Vector, Vector]:
    """Per box, the smallest box around its intersections that are as wide as the item: what it contributes to."""
    lows, highs = np.full(low.shape, np.inf), np.full(high.shape, -np.inf)
    for a, b in zip(item_low, item_high, strict=True):
        first, last = np.maximum(low, a), np.minimum(high, b)
        useful = np.where(a == b, first <= last, first < last).all(axis=1)
        lows[useful] = np.minimum(lows[useful], first[useful])
        highs[useful] = np.maximum(highs[useful], last[useful])
    return lows, highs


def _cells(instance: Assignment, low: Vector, high: Vector) -> tuple[Bits, Bits, Vector]:
    """Cells by the boxes and interests that they lie in, and their measure."""
    union = instance.containment == "union"
    table: dict[tuple[int, tuple[int, ...]], float] = {((1 << (len(low) + instance.m)) - 1, ()): 1.0}
    for k in range(instance.d):
        grown: defaultdict[tuple[int, tuple[int, ...]], float] = defaultdict(float)
        positions = _positions(instance, low, high, k)
        for ((mask, cell), weight), (bits, q, share) in itertools.product(table.items(), positions):
            if mask & bits and (union or share > 0):
                grown[mask & bits, (*cell, q)] += weight * share
        table = dict(grown)
    total: defaultdict[int, float] = defaultdict(float)
    for (mask, cell), weight in table.items():
        mass = 1.0 if instance.edges is None else 0.0 if min(cell) < 0 else float(instance.mass[cell])
        if union or mass * weight > 0:
            total[mask] += mass * weight
    kept = sorted(mask for mask in total if mask & ((1 << len(low)) - 1))
    marks = _unpacked(kept, len(low) + instance.m)
    return marks[:, : len(low)].T.copy(), marks[:, len(low) :].T.copy(), np.array([total[mask] for mask in kept])


def _positions(instance: Assignment, low: Vector, high: Vector, k: int) -> list[tuple[int, int, float]]:
    """Positions on an axis: who lies over them (boxes, then interests), grid interval and share of it."""
    values = axis_values(instance)[k]
    start, stop = values[:-1, None], values[1:, None]
    over = np.hstack([
        (low[:, k] <= start) & (high[:, k] >= stop),
        (instance.low[:, k] <= start) & (instance.high[:, k] >= stop),
    ])  # fmt: skip
    result = []
    for bits, shares in zip(_packed(over), _shares(instance, values, k), strict=True):
        result += [(bits, q, share) for q, share in shares]
    if instance.containment == "union":
        at = flat_values(instance, k)[:, None]
        flat = (instance.low[:, k] == at) & (instance.high[:, k] == at)
        result += [(bits, -1, 0.0) for bits in _packed(np.hstack([(low[:, k] <= at) & (high[:, k] >= at), flat]))]
    return result


def _shares(instance: Assignment, values: Vector, k: int) -> list[list[tuple[int, float]]]:
    """Per interval of an axis: the grid intervals it meets and its share of each (uniform: its width)."""
    if instance.edges is None:
        return [[(0, float(width))] for width in np.diff(values)]
    table = overlaps(values, instance.edges[k]) if len(values) else np.zeros((0, 0))
    return [[(int(q), float(row[q])) for q in np.flatnonzero(row)] or [(-1, 0.0)] for row in table]


def _packed(rows: Bits) -> list[int]:
    return [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in rows]


def _unpacked(masks: Sequence[int], width: int) -> Bits:
    size = (width + 7) // 8
    data = np.frombuffer(b"".join(mask.to_bytes(size, "little") for mask in masks), dtype=np.uint8)
    return np.unpackbits(data.reshape(len(masks), size), axis=1, bitorder="little")[:, :width].astype(bool)


def fronts(instance: Assignment) -> list[Indices]:
    """Sets of brokers of which every subscriber passes exactly one: each level, with the leaves above it."""
    is_leaf = np.zeros(instance.n, dtype=bool)
    is_leaf[instance.leaves] = True
    level = instance.level
    return [np.flatnonzero((level == l) | (is_leaf & (level < l))) for l in range(int(level.max()) + 1)]


def least_brokers(instance: Assignment, p: Pieces) -> Indices:
    """How many brokers of each front a cell needs at least, so that those who want it fit in: fronts x cells."""
    result = np.zeros((len(fronts(instance)), len(p.measure)), dtype=np.int64)
    for l, front in enumerate(fronts(instance)):
        users = p.wanted.T.astype(np.int64) @ p.reach[:, front].astype(np.int64)  # cells x brokers
        room = -np.sort(-np.minimum(users, p.caps[front]), axis=1)
        enough = np.cumsum(room, axis=1) >= p.wanted.sum(axis=0)[:, None]
        result[l] = np.where(enough.any(axis=1), enough.argmax(axis=1) + 1, (room > 0).sum(axis=1))
    result[:, p.wanted.sum(axis=0) == 0] = 0
    return result


def twins(instance: Assignment, p: Pieces) -> list[tuple[int, int]]:
    """Pairs of leaves, by position, that follow each other among leaves that nothing tells apart."""
    last: dict[tuple[object, ...], int] = {}
    result = []
    for position, b in enumerate(instance.leaves.tolist()):
        key = (int(instance.parent[b]), int(instance.alpha[b]), int(p.caps[b]), p.may[:, position].tobytes())
        if key in last:
            result.append((last[key], position))
        last[key] = position
    return result


def estimate(instance: Assignment) -> int:
    """About how many columns the program has, without making it; more where its entries are what is too many."""
    if instance.containment == "union":
        return _estimate_union(instance)
    if instance.m > 2_000:  # boxes are not even counted
        return 1_000 * instance.n * instance.m
    low, high = hulls(instance.low, instance.high, most=MOST_BOXES)
    if len(low) > MOST_BOXES:
        return 100 * instance.n * instance.m * len(low)
    held = inside(instance.low, instance.high, low, high).sum(axis=0)
    cells = np.ones(len(low))
    for k, values in enumerate(axis_values(instance)):
        cells *= np.searchsorted(values, high[:, k]) - np.searchsorted(values, low[:, k])
    cells = np.minimum(cells, 50 * len(low))  # in many dimensions most cells lie in the same boxes and become one
    columns = instance.n * (instance.m + len(low) + int(held.sum()))
    return int(max(columns, instance.n * float(held @ cells) / 5))


def _estimate_union(instance: Assignment) -> int:
    """Boxes between all values, an entry per box, cell of it and dimension; most boxes turn out not to be usable."""
    counts = [len(values) for values in axis_values(instance)]
    boxes = math.prod([c * (c + 1) / 2 for c in counts])
    entries = math.prod([(c + 1) * c * (c - 1) / 6 + 1 for c in counts]) * (instance.d + 1)
    return int(min(instance.n * (instance.m + max(boxes, entries / 20)), 1e15))
