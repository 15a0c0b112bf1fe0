"""Assignment in the loops: boxes by their fractions, leaves by min-cost flow under the caps, filters tightened.

A box of fraction f is kept with probability 1 - (1 - f)^max(1, ln m), as in paper 002; a subscriber is at home at
the leaves where a kept box holds it. The paper's own relaxation guides nothing here: ours is one of the judge's cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.decomposition import flow
from yardline.models.assignment import limits, splitting
from yardline.models.assignment.boxes import inside, overlaps
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.assignment.pieces import pieces
from yardline.models.checks import Indices, Vector
from yardline.models.program import Program

Guide = Mapping[str, Any]
Boxes = tuple[Vector, Vector]
Region = dict[str, list[float | None]]


def guide(instance: Assignment, program: Program, point: Vector) -> dict[str, Any]:
    """Fractions of leaves (subscribers x leaves), and the leaves' boxes with theirs."""
    p, leaves = pieces(instance), instance.leaves
    x, f = program.family("x"), program.family("f")
    share = np.zeros(p.may.shape)
    s, b = x.index.reshape(-1, 2).T
    share[s, np.searchsorted(leaves, b)] = point[x.span]
    broker, box = f.index.reshape(-1, 2).T
    open_ = np.isin(broker, leaves) & (point[f.span] > 1e-6)
    return {
        "may": p.may,
        "share": share,
        "leaf": np.searchsorted(leaves, broker[open_]),
        "low": p.low[box[open_]],
        "high": p.high[box[open_]],
        "fraction": np.minimum(1.0, point[f.span][open_]),
    }


def rounded(instance: Assignment, guide: Guide, rng: Generator) -> NDArray[np.bool_]:
    """Who is held by a kept box of which leaf: subscribers x leaves."""
    exponent = max(1.0, math.log(max(1, instance.m)))
    kept = rng.random(len(guide["fraction"])) < 1.0 - (1.0 - guide["fraction"]) ** exponent
    result = np.zeros(guide["may"].shape, dtype=bool)
    held = inside(instance.low, instance.high, guide["low"][kept], guide["high"][kept])
    for r, leaf in enumerate(guide["leaf"][kept].tolist()):
        result[:, leaf] |= held[:, r]
    return result


def repaired(instance: Assignment, guide: Guide, held: NDArray[np.bool_], rng: Generator) -> AssignmentPlan:
    """Everybody to a leaf within the caps: where a kept box holds it if that can be, and where its fraction is large."""
    price = np.where(held, 0.0, 1.0) - guide["share"] + 0.5 * rng.random(held.shape)
    caps = limits.caps(instance)[instance.leaves]
    found = flow.cheapest(price, guide["may"], np.ones(instance.m, np.int64), caps)
    if found is None:
        raise RuntimeError("the flow does not place everybody, but a valid plan exists: please report this bug")
    return filtered(instance, instance.leaves[found.argmax(axis=1)] if instance.m else np.zeros(0, np.int64), rng)


def filtered(instance: Assignment, leaf: Indices, rng: Generator) -> AssignmentPlan:
    """The plan of given leaves: interests, then the children's boxes, joined until there are at most alpha."""
    boxes: dict[int, Boxes] = {}
    for b in reversed(instance.top_down):
        children = np.flatnonzero(instance.parent == b).tolist()
        if children:
            low, high = (np.concatenate([boxes[c][side] for c in children]) for side in (0, 1))
        else:
            low, high = instance.low[leaf == b], instance.high[leaf == b]
        boxes[b] = joined(instance, low, high, int(instance.alpha[b]), rng)
    broker = np.repeat(np.arange(instance.n), [len(boxes[b][0]) for b in range(instance.n)])
    low, high = (np.concatenate([boxes[b][side] for b in range(instance.n)]) for side in (0, 1))
    return AssignmentPlan.from_arrays(instance, leaf=leaf, broker=broker, low=low, high=high)


def joined(instance: Assignment, low: Vector, high: Vector, alpha: int, rng: Generator) -> Boxes:
    """Boxes joined pair by pair, where that adds least measure, until there are at most alpha; then while it adds none."""
    low, high = _outermost(low, high)
    while len(low) > 1:
        i, j = np.triu_indices(len(low), 1)
        both_low, both_high = np.minimum(low[i], low[j]), np.maximum(high[i], high[j])
        single = measures(instance, low, high)
        shared = measures(instance, np.maximum(low[i], low[j]), np.minimum(high[i], high[j]))
        more = measures(instance, both_low, both_high) - single[i] - single[j] + shared
        noise = rng.uniform(0.8, 1.25, len(more))
        if len(low) <= alpha and more.min() > 1e-12 * single.sum():
            break
        pick = int((more * noise).argmin()) if len(low) > alpha else int(more.argmin())
        keep = np.ones(len(low), dtype=bool)
        keep[[i[pick], j[pick]]] = False
        low, high = _outermost(
            np.concatenate([low[keep], both_low[pick : pick + 1]]),
            np.concatenate([high[keep], both_high[pick : pick + 1]]),
        )
    return low, high


def _outermost(low: Vector, high: Vector) -> Boxes:
    """Each box once, without those that lie in another."""
    d = low.shape[1]
    both = np.unique(np.hstack([low, high]), axis=0)
    low, high = both[:, :d], both[:, d:]
    held = inside(low, high, low, high)
    np.fill_diagonal(held, False)
    return low[~held.any(axis=1)], high[~held.any(axis=1)]


def measures(instance: Assignment, low: Vector, high: Vector) -> Vector:
    """The measure of each box by itself; 0 where low exceeds high."""
    if instance.edges is None:
        return np.asarray(np.prod(np.maximum(0.0, high - low), axis=1))
    parts = np.broadcast_to(instance.mass, (len(low), *instance.mass.shape))
    for k, edges in enumerate(instance.edges):
        ends = zip(low[:, k].tolist(), high[:, k].tolist(), strict=True)
        share = np.array([overlaps(np.array([a, max(a, b)]), edges)[0] for a, b in ends]).reshape(len(low), -1)
        parts = np.einsum("na,na...->n...", share, parts)
    return np.asarray(parts)


WORDS = "regions of the event space, each subscriber's leaf priced by those that it lies in"


def split(instance: Assignment, count: int, columns: int, rng: Generator, attempt: int) -> list[Region]:
    """Regions by cuts at edges that few interests cross: again and again the one with the largest program.

    So many regions, or (0) until none has more than so many columns.
    """
    regions: list[Region] = [{"low": [None] * instance.d, "high": [None] * instance.d}]
    final: list[Region] = []
    while regions and len(regions) + len(final) < (count or instance.m):
        regions.sort(key=lambda region: splitting.size(instance, region))
        if not count and splitting.size(instance, regions[-1]) <= columns:
            break
        region = regions.pop()
        halves = _cut(instance, region)
        (regions if halves else final).extend(halves or [region])
    some = [region for region in (*final, *regions) if len(splitting.members(instance, region))]
    return some or [*final, *regions][:1]


def _cut(instance: Assignment, region: Mapping[str, Any]) -> list[Region]:
    """Two halves of a region, at an edge that few interests cross; none where nothing is gained."""
    part = splitting.restricted(instance, region)
    best: tuple[int, int, float] | None = None
    for k in range(instance.d):
        middle = np.unique(np.concatenate([part.low[:, k], part.high[:, k]]))[1:-1]
        for at in middle[len(middle) // 4 : max(1, 3 * len(middle) // 4) + 1].tolist():
            crossing = int(((part.low[:, k] < at) & (part.high[:, k] > at)).sum())
            if best is None or crossing < best[0]:
                best = (crossing, k, at)
    if best is None:
        return []
    _, k, at = best
    lower, upper = ({"low": list(region["low"]), "high": list(region["high"])} for _ in range(2))
    lower["high"][k] = upper["low"][k] = at
    return [lower, upper]


def shares(instance: Assignment, split: list[Any]) -> list[Vector]:
    """At first nobody charges for leaves."""
    return [splitting.budget(instance) for _ in split]


def decides(instance: Assignment, part: Mapping[str, Any]) -> Vector:
    """A region places those whose interest lies in it."""
    caps = limits.caps(instance)[instance.leaves]
    may = limits.candidates(instance).table() & (caps > 0)
    result = np.zeros(may.shape)
    who = splitting.members(instance, part)
    result[who] = may[who]
    return result
