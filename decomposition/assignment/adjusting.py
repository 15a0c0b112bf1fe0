"""Filter adjustment: at most alpha boxes per leaf around what was assigned; inner filters bottom-up around those below.

Per leaf: clusters of the assigned interests (k-means in the event space, the smallest box around each), against the
preliminary boxes tightened to what is assigned to them (where they are at most alpha), against boxes grown one interest at
a time, largest first (ours); the smallest union wins. An interest that no preliminary box holds rules the second out.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from yardline.decomposition.assignment.boxes import around, clustered, nearest_to
from yardline.models.assignment.boxes import inside, union_measure
from yardline.models.assignment.data import Assignment
from yardline.models.checks import Indices, Vector
from yardline.solvers.heuristics.assignment.state import Growing, bottom_up, empty

Boxes = tuple[Vector, Vector]
MOST = 20_000
"""Distinct interests of a leaf that are clustered; the nearest cluster takes the others."""


def adjusted(
    instance: Assignment, rng: Generator, leaf: Indices, preliminary: dict[int, Boxes], *, grown: bool
) -> Growing:
    """The best filters found for an assignment (-1: nowhere yet)."""
    state = empty(instance)
    order = np.argsort(leaf, kind="stable")
    ends = np.searchsorted(leaf[order], np.arange(instance.n + 1))
    for b in instance.leaves.tolist():
        mine = order[ends[b] : ends[b + 1]]
        if len(mine):
            low, high = _filter(instance, rng, b, mine, preliminary.get(b), grown)
            state.low[b, : len(low)], state.high[b, : len(low)], state.count[b] = low, high, len(low)
    bottom_up(instance, state)
    return state


def _filter(
    instance: Assignment, rng: Generator, b: int, mine: Indices, preliminary: Boxes | None, grown: bool
) -> Boxes:
    """The smallest of the candidate filters."""
    both = np.unique(np.concatenate([instance.low[mine], instance.high[mine]], axis=1), axis=0)
    low, high = both[:, : instance.d], both[:, instance.d :]
    most = int(min(instance.alpha[b], len(both), 64))
    options = [around(_groups(rng, both, most), low, high)]
    if preliminary is not None and len(preliminary[0]) <= most:
        held = inside(low, high, *preliminary)
        if held.any(axis=1).all():
            options.append(around(np.unique(held.argmax(axis=1), return_inverse=True)[1], low, high))
    if grown:
        options.append(_grown(instance, b, low, high))
    return min(options, key=lambda boxes: union_measure(instance, *boxes))


def _groups(rng: Generator, points: Vector, count: int) -> Indices:
    if len(points) <= MOST:
        return clustered(rng, points, count)
    some = points[rng.choice(len(points), size=MOST, replace=False)]
    group = clustered(rng, some, count)
    centres = np.stack([some[group == g].mean(axis=0) for g in range(group.max() + 1)])
    return np.unique(nearest_to(centres, points), return_inverse=True)[1]


def _grown(instance: Assignment, b: int, low: Vector, high: Vector) -> Boxes:
    """Boxes of one leaf, grown by one interest after the other, the largest first."""
    from yardline.solvers.heuristics.assignment import _filters

    state = empty(instance)
    order = np.argsort(-np.prod(high - low, axis=1), kind="stable")
    alone = np.full(instance.n, -1, dtype=np.int64)
    _filters.fill(np.full(len(low), b), low[order], high[order], state._replace(parent=alone))
    return state.low[b, : state.count[b]].copy(), state.high[b, : state.count[b]].copy()
