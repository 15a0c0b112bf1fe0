"""FilterGen: which boxes the program may choose from.

    super-interests   k clusters of (place, low, high), each the smallest box around its interests
    J[i]              per dimension i and length l = 2 delta, 4 delta, ...: intervals of length at most l that hold every interval
                      of length at most l / 2, no two overlapping by more than `overlap` l (a scan from the left), shrunk to
                      what they hold
    R                 the product of the J[i], each shrunk to the smallest box around the interests in it

delta is the smallest POSITIVE length, and there is one length more than printed, so that the longest intervals get a box too.
Both spaces are scaled to span 1 before clustering; the paper does not say how it weighs ms against event values.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.random import Generator

from yardline.models.checks import Indices, Vector

MOST_BOXES, MOST_PAIRS = 60_000, 6_000_000
"""Boxes in the product, and boxes times brokers, beyond which the shortest lengths are left out."""


def filter_gen(
    rng: Generator, at: Vector, low: Vector, high: Vector, *, supers: int, overlap: float, most: int = MOST_BOXES
) -> tuple[Vector, Vector]:
    """Lower and upper corners of the candidate boxes for some interests, about `most`; every interest lies in one of them."""
    group = clustered(rng, np.concatenate([scaled(at), scaled(np.concatenate([low, high], axis=1))], axis=1), supers)
    a, c = around(group, low, high)
    intervals = [lengthwise(a[:, k], c[:, k], overlap) for k in range(low.shape[1])]
    while np.prod([float(len(J)) for J in intervals]) > most:
        widest = max(range(len(intervals)), key=lambda k: len(intervals[k]))
        lengths = np.sort(intervals[widest][:, 1] - intervals[widest][:, 0])
        kept = intervals[widest][:, 1] - intervals[widest][:, 0] > lengths[len(lengths) // 10]
        intervals[widest] = intervals[widest][kept] if kept.any() else intervals[widest][-1:]
    boxes = np.array(list(itertools.product(*intervals)))  # boxes x d x 2
    whole = np.stack([low.min(axis=0), high.max(axis=0)], axis=1)[None]
    boxes = np.concatenate([boxes, whole, np.stack([a, c], axis=2)])
    return shrunk(boxes[:, :, 0], boxes[:, :, 1], low, high)


def scaled(values: Vector) -> Vector:
    """Coordinates over the widest span among them."""
    span = float((values.max(axis=0) - values.min(axis=0)).max(initial=0.0))
    return values / span if span > 0 else values


def clustered(rng: Generator, points: Vector, count: int, rounds: int = 12) -> Indices:
    """The cluster of each point (k-means: Lloyd's rounds from random points)."""
    distinct = np.unique(points, axis=0)
    centres = distinct[rng.choice(len(distinct), size=min(count, len(distinct)), replace=False)]
    nearest = np.zeros(len(points), dtype=np.int64)
    for _ in range(rounds):
        nearest = nearest_to(centres, points)
        counts = np.bincount(nearest, minlength=len(centres))
        sums = np.stack([np.bincount(nearest, weights=column, minlength=len(centres)) for column in points.T], axis=1)
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return np.unique(nearest, return_inverse=True)[1]


def nearest_to(centres: Vector, points: Vector) -> Indices:
    """The nearest centre of each point."""
    square = (points**2).sum(axis=1)[:, None] - 2 * points @ centres.T + (centres**2).sum(axis=1)
    return np.asarray(square.argmin(axis=1))


def around(group: Indices, low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """The smallest box around the interests of each group."""
    a = np.full((group.max(initial=-1) + 1, low.shape[1]), np.inf)
    c = np.full_like(a, -np.inf)
    np.minimum.at(a, group, low)
    np.maximum.at(c, group, high)
    return a, c


def lengthwise(low: Vector, high: Vector, overlap: float) -> Vector:
    """The intervals J of one dimension: intervals x 2."""
    length, span = high - low, float(high.max() - low.min())
    positive = length[length > 0]
    if not span > 0 or not len(positive):
        return np.unique(np.stack([low, high], axis=1), axis=0)
    delta = float(positive.min())
    found = [np.zeros((0, 2))]
    for j in range(1, int(np.ceil(np.log2(span / delta))) + 2):
        l = delta * 2.0**j
        short = length <= l / 2
        found.append(_scanned(low[short], high[short], l, overlap))
    return np.unique(np.concatenate(found), axis=0)


def _scanned(low: Vector, high: Vector, l: float, overlap: float) -> Vector:
    """From the left: an interval of length l at the first left end that is not near the one before, shrunk."""
    result, last = [], -np.inf
    for p in np.unique(low):
        if p - last <= (1 - overlap) * l:
            continue
        last = p
        inside = (low >= p) & (high <= p + l)
        result.append((float(p), float(high[inside].max())))
    return np.array(result).reshape(-1, 2)


def shrunk(a: Vector, c: Vector, low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """Boxes as small as what they hold allows, each once; those that hold nothing are gone."""
    from yardline.decomposition.assignment import _held

    a, c, owner = a.copy(), c.copy(), np.zeros(len(a), dtype=np.int64)
    some = _held.counted(a, c, owner, np.ones((1, len(low)), dtype=bool), low, high) > 0
    both = np.unique(np.concatenate([a[some], c[some]], axis=1), axis=0)
    return both[:, : low.shape[1]], both[:, low.shape[1] :]
