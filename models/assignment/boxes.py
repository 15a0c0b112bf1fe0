"""Boxes in the event space: the measure of a union, and containment in a union, both exact in what they decide.

Coordinates of all boxes cut an axis into positions: edge points and the open intervals between them. Every cell (a
position per axis) lies inside a closed box or outside it altogether, so unions are decided cell by cell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from yardline.models.assignment.data import Assignment
from yardline.models.checks import Vector

CELLS = 2_000_000
"""Cells that are held at once; beyond that one axis is taken position by position."""


def inside(low: Vector, high: Vector, outer_low: Vector, outer_high: Vector) -> NDArray[np.bool_]:
    """Which boxes lie in which outer boxes: boxes x outer boxes."""
    result = np.ones((len(low), len(outer_low)), dtype=bool)
    for k in range(low.shape[1]):
        result &= (low[:, k, None] >= outer_low[None, :, k]) & (high[:, k, None] <= outer_high[None, :, k])
    return result


def covered(low: Vector, high: Vector, outer_low: Vector, outer_high: Vector, *, containment: str) -> NDArray[np.bool_]:
    """Which boxes are contained in a filter: in one of its boxes, or in their union."""
    result = np.zeros(len(low), dtype=bool)
    for a, b in zip(outer_low, outer_high, strict=True):
        result |= ((low >= a) & (high <= b)).all(axis=1)
    if containment == "union":
        rest = np.flatnonzero(~result)
        result[rest] = ~_sticks_out(low[rest], high[rest], outer_low, outer_high)
    return result


def _sticks_out(low: Vector, high: Vector, outer_low: Vector, outer_high: Vector) -> NDArray[np.bool_]:
    """Which boxes have a point outside the union of the outer boxes."""
    if not len(low) or not len(outer_low):
        return np.ones(len(low), dtype=bool)
    axes = [np.unique(np.concatenate([outer_low[:, k], outer_high[:, k]])) for k in range(low.shape[1])]
    shape = [2 * len(axis) + 1 for axis in axes]
    if len(shape) > 1 and np.prod(shape, dtype=float) > CELLS:
        return _sticks_out_by_position(low, high, outer_low, outer_high, axes[0])
    first, last, start, stop = (
        np.stack([_position(axis, side[:, k]) for k, axis in enumerate(axes)], axis=1)
        for side in (low, high, outer_low, outer_high)
    )
    open_cells = np.ones(shape, dtype=np.int64)
    for a, b in zip(start, stop, strict=True):
        open_cells[tuple(slice(i, j + 1) for i, j in zip(a, b, strict=True))] = 0
    return _sums(open_cells, first, last + 1) > 0


def _sticks_out_by_position(
    low: Vector, high: Vector, outer_low: Vector, outer_high: Vector, axis: Vector
) -> NDArray[np.bool_]:
    """The same, one position of the first axis at a time: fewer boxes and one axis less."""
    result = np.zeros(len(low), dtype=bool)
    first, last = _position(axis, low[:, 0]), _position(axis, high[:, 0])
    start, stop = _position(axis, outer_low[:, 0]), _position(axis, outer_high[:, 0])
    for p in range(2 * len(axis) + 1):
        these = np.flatnonzero((first <= p) & (p <= last) & ~result)
        there = (start <= p) & (p <= stop)
        rest = (low[these, 1:], high[these, 1:], outer_low[there, 1:], outer_high[there, 1:])
        result[these] = _sticks_out(*rest)
    return result


def _position(axis: Vector, values: Vector) -> NDArray[np.int64]:
    """Where values stand: 2i+1 on edge i, 2i between the edges i-1 and i."""
    i = np.searchsorted(axis, values)
    on_edge = axis[np.minimum(i, len(axis) - 1)] == values
    result: NDArray[np.int64] = (2 * i + on_edge).astype(np.int64)
    return result


def _sums(table: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of a table over ranges of cells, by prefix sums."""
    prefix = np.pad(table, [(1, 0)] * table.ndim)
    for k in range(table.ndim):
        prefix = prefix.cumsum(axis=k)
    result = np.zeros(len(first), dtype=np.int64)
    for corner in range(2**table.ndim):
        upper = [corner >> k & 1 for k in range(table.ndim)]
        index = tuple((last if up else first)[:, k] for k, up in enumerate(upper))
        result += (-1) ** (table.ndim - sum(upper)) * prefix[index]
    return result


def union_measure(instance: Assignment, low: Vector, high: Vector) -> float:
    """The measure of the union of boxes: volume, or the integral of the density."""
    return _union(low, high, instance.edges, instance.mass)


def overlaps(axis: Vector, edges: Vector) -> Vector:
    """Which fraction of each grid interval falls into each interval of an axis: intervals x grid intervals."""
    upper = np.minimum(axis[1:, None], edges[None, 1:])
    lower = np.maximum(axis[:-1, None], edges[None, :-1])
    return np.asarray(np.maximum(0.0, upper - lower) / np.diff(edges))


def _union(low: Vector, high: Vector, edges: Sequence[Vector] | None, mass: Vector | None) -> float:
    """The measure of the union of boxes; boxes without inside do not count."""
    solid = (low < high).all(axis=1)
    low, high = low[solid], high[solid]
    if not len(low):
        return 0.0
    axes = [np.unique(np.concatenate([low[:, k], high[:, k]])) for k in range(low.shape[1])]
    if edges is None or mass is None:
        weights = [np.diff(axis)[:, None] for axis in axes]
        edges, mass = None, np.ones((1,) * len(axes)) if mass is None else mass
    else:
        weights = [overlaps(axis, grid) for axis, grid in zip(axes, edges, strict=True)]
    if len(axes) > 1 and np.prod([len(axis) for axis in axes], dtype=float) > CELLS:
        return _union_by_slab(low, high, axes[0], weights[0], edges, mass)
    return _weigh(_filled(low, high, axes), weights, mass)


def _filled(low: Vector, high: Vector, axes: Sequence[Vector]) -> NDArray[np.bool_]:
    """The cells between the edges that lie in some box."""
    filled = np.zeros([len(axis) - 1 for axis in axes], dtype=bool)
    start, stop = (
        np.stack([np.searchsorted(axis, side[:, k]) for k, axis in enumerate(axes)], axis=1) for side in (low, high)
    )
    for a, b in zip(start, stop, strict=True):
        filled[tuple(slice(i, j) for i, j in zip(a, b, strict=True))] = True
    return filled


def _weigh(filled: NDArray[np.bool_], weights: Sequence[Vector], mass: Vector) -> float:
    """The measure of the filled cells: per axis, cells are summed up into grid intervals, which then have a mass."""
    result: Vector = filled.astype(np.float64)
    for weight in weights:
        result = np.tensordot(result, weight, axes=(0, 0))
    return float(np.sum(result * mass))


def _union_by_slab(
    low: Vector, high: Vector, axis: Vector, weights: Vector, edges: Sequence[Vector] | None, mass: Vector
) -> float:
    """The same, one interval of the first axis at a time."""
    total = 0.0
    for a, b, weight in zip(axis, axis[1:], weights, strict=False):
        there = (low[:, 0] <= a) & (high[:, 0] >= b)
        part = np.tensordot(weight, mass, axes=(0, 0))
        total += _union(low[there, 1:], high[there, 1:], None if edges is None else edges[1:], part)
    return total
