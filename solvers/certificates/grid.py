"""A grid over the event space, seen by certificates: whole measures of its cells, and subscribers as weighted types.

    vol[c]   a whole number of units, at most the measure of cell c (rounded down: a bound stays a bound)
    type j   subscribers with the same candidate leaves and the same cells inside their interest; w[j] counts them
    pair     a broker and a type that can be served below it; `up` is the pair of the broker's parent and the type

An interest is shrunk to the whole cells inside it: whoever holds the interest holds those cells.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment
from yardline.models.checks import Indices, Vector

VOLUME_BITS, WEIGHT_BITS = 28, 60
"""All cells together have at most 2**VOLUME_BITS units; factors on the way there are rounded down to 2**-WEIGHT_BITS."""

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cells:
    """Cell measures in whole units, flat; and the unit."""

    cuts: tuple[Vector, ...]
    volume: Whole
    unit: Fraction

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells per dimension."""
        return tuple(len(cut) - 1 for cut in self.cuts)


def measured(instance: Assignment, cuts: Sequence[Vector]) -> Cells:
    """The cells between cuts, with their measure rounded down."""
    factors, units = zip(*(_factors(instance, k, cut) for k, cut in enumerate(cuts)), strict=True)
    mass, unit = _mass(instance)
    total = mass
    for factor in factors:  # each contraction takes the first axis away and puts that of the cells at the end
        total = np.tensordot(total, factor, axes=(0, 1))
    shift = max(0, int(total.sum()).bit_length() - VOLUME_BITS)
    exact = reduce(lambda a, b: a * b, units, unit) * (1 << shift)
    return Cells(tuple(cuts), (total >> shift).astype(np.int64).ravel(), exact)


def _factors(instance: Assignment, k: int, cut: Vector) -> tuple[NDArray[np.object_], Fraction]:
    """Per interval of a dimension: its width, or the part of each grid interval in it; whole numbers of a unit."""
    ends = [Fraction(x) for x in cut.tolist()]
    if instance.edges is None:
        rows = [[b - a] for a, b in itertools.pairwise(ends)]
        largest = ends[-1] - ends[0]
    else:
        grid = [Fraction(x) for x in instance.edges[k].tolist()]
        sides = list(itertools.pairwise(grid))
        rows = [
            [max(Fraction(0), min(b, q) - max(a, p)) / (q - p) for p, q in sides] for a, b in itertools.pairwise(ends)
        ]
        largest = Fraction(1)
    unit = _power_of_two_above(largest) / (1 << WEIGHT_BITS)
    return np.array([[int(x // unit) for x in row] for row in rows], dtype=object), unit


def _mass(instance: Assignment) -> tuple[NDArray[np.object_], Fraction]:
    """The density's masses as whole numbers of a unit; one cell of mass 1 where it is uniform."""
    if instance.mass is None:
        return np.ones((1,) * instance.d, dtype=object), Fraction(1)
    unit = _power_of_two_above(Fraction(float(instance.mass.max(initial=0.0)))) / (1 << WEIGHT_BITS)
    flat = [int(Fraction(x) // unit) for x in instance.mass.ravel().tolist()]
    return np.array(flat, dtype=object).reshape(instance.mass.shape), unit


def _power_of_two_above(value: Fraction) -> Fraction:
    if value <= 0:
        return Fraction(1)
    power = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() + 1)
    return power if power >= value else power * 2


@dataclass(frozen=True, slots=True)
class Types:
    """Types of subscribers and their pairs with brokers, in an order that depends on the instance and the cuts alone."""

    weight: Whole
    corners: Whole  # types x 2**d: places in a table of (cells + 1) per dimension
    sign: Whole  # of each corner in a sum over cells
    caps: Whole  # per broker: how many may be served below it
    order: list[int]  # brokers, parents before children
    start: Whole  # pairs of order[i] are start[i]:start[i + 1]
    who: NDArray[np.int32]  # the type of each pair
    up: NDArray[np.int32]  # the pair above it, -1: none
    table: tuple[int, ...]


def typed(instance: Assignment, cells: Cells, caps: Indices, most: int) -> Types:
    """The types of an instance; beyond `most` pairs the types with the least weight times cells are left out."""
    found = limits.candidates(instance)
    usable = found.sets & (caps > 0)
    first, last = ranges(instance, cells.cuts)
    group, first, last, weight = _merged(found.of, first, last)
    reach, below = _reach(instance, usable, caps)
    group, first, last, weight = _kept(group, first, last, weight, reach.sum(axis=0), most)
    table = tuple(n + 1 for n in cells.shape)
    corners, sign = _corners(first, last, table)
    who = [np.flatnonzero(reach[b][group]).astype(np.int32) for b in instance.top_down]
    start = np.concatenate([[0], np.cumsum([len(w) for w in who])]).astype(np.int64)
    up = _above(instance, who, start)
    everything = np.concatenate(who) if who else np.zeros(0, np.int32)
    return Types(weight, corners, sign, below, instance.top_down, start, everything, up, table)


def ranges(instance: Assignment, cuts: Sequence[Vector]) -> tuple[Whole, Whole]:
    """Cells first <= c < last inside each interest; 0, 0 in all dimensions where there is none."""
    first = np.stack([np.searchsorted(cut, instance.low[:, k]) for k, cut in enumerate(cuts)], axis=1)
    last = np.stack([np.searchsorted(cut, instance.high[:, k], side="right") - 1 for k, cut in enumerate(cuts)], axis=1)
    none = ~(first < last).all(axis=1)
    first[none], last[none] = 0, 0
    return first.astype(np.int64), last.astype(np.int64)


def _merged(group: Whole, first: Whole, last: Whole) -> tuple[Whole, Whole, Whole, Whole]:
    """Distinct rows, in the order of group, first, last; and how often each occurs."""
    code, size = np.zeros(len(group), dtype=np.int64), 1
    for column in (group, *first.T, *last.T):
        width = int(column.max(initial=0)) + 1
        if size * width >= 2**62:
            code = np.unique(code, return_inverse=True)[1]
            size = len(code) + 1
        code, size = code * width + column, size * width
    _, where, weight = np.unique(code, return_index=True, return_counts=True)
    return group[where], first[where], last[where], weight.astype(np.int64)


def _reach(instance: Assignment, usable: NDArray[np.bool_], caps: Indices) -> tuple[NDArray[np.bool_], Whole]:
    """Brokers x sets: whether a candidate leaf stands below a broker; and the places below it."""
    reach = np.zeros((instance.n, len(usable)), dtype=bool)
    below = np.zeros(instance.n, dtype=np.int64)
    reach[instance.leaves], below[instance.leaves] = usable.T, caps
    for b in reversed(instance.top_down):
        above = int(instance.parent[b])
        if above >= 0:
            reach[above] |= reach[b]
            below[above] += below[b]
    return reach, np.minimum(below, instance.m)


def _kept(
    group: Whole, first: Whole, last: Whole, weight: Whole, brokers: Whole, most: int
) -> tuple[Whole, Whole, Whole, Whole]:
    """All types, or the heaviest times largest as long as their pairs fit."""
    pairs = brokers[group]
    if pairs.sum() <= most:
        return group, first, last, weight
    order = np.argsort(-(weight * (last - first).prod(axis=1)), kind="stable")
    kept = np.sort(order[np.cumsum(pairs[order]) <= most])
    return group[kept], first[kept], last[kept], weight[kept]


def _corners(first: Whole, last: Whole, table: tuple[int, ...]) -> tuple[Whole, Whole]:
    """Where a sum over cells first <= c < last is read off a table of sums over c < corner, and with which sign."""
    d = len(table)
    corners, sign = np.zeros((len(first), 2**d), dtype=np.int64), np.ones(2**d, dtype=np.int64)
    for corner in range(2**d):
        for k in range(d):
            upper = corner >> k & 1
            corners[:, corner] = corners[:, corner] * table[k] + (last if upper else first)[:, k]
            sign[corner] *= 1 if upper else -1
    return corners, sign


def _above(instance: Assignment, who: list[NDArray[np.int32]], start: Whole) -> NDArray[np.int32]:
    """For each pair, that of the broker's parent and the same type."""
    place = {b: i for i, b in enumerate(instance.top_down)}
    result = []
    for b, mine in zip(instance.top_down, who, strict=True):
        above = int(instance.parent[b])
        if above < 0:
            result.append(np.full(len(mine), -1, dtype=np.int32))
        else:
            i = place[above]
            result.append((start[i] + np.searchsorted(who[i], mine)).astype(np.int32))
    return np.concatenate(result) if result else np.zeros(0, np.int32)
