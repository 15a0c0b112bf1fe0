"""The bound `forced`: subscribers without a choice, and the least filters that can hold them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from yardline.models import checks, registry
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.feasibility import why_infeasible
from yardline.models.checks import Indices
from yardline.models.method import Answer, Run
from yardline.solvers.assignment.cells import DESIRED, cuts
from yardline.solvers.certificates.cells import WHOLE
from yardline.solvers.certificates.forced import (
    KIND,
    MOST_BOXES,
    Ground,
    inserted,
    least_cover,
    nothing,
    union_measure,
)
from yardline.solvers.certificates.grid import Whole, measured
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certificates.verdict import header

BECAUSE = (
    "filters must hold the subscribers who can go nowhere else, and alpha boxes that do measure no less (whole numbers)"
)
UNION = "filters must hold the subscribers who can go nowhere else, whatever their boxes are (whole numbers; both containments)"

NODES = 20_000
"""Open branches of a cover after which no witness is added."""


@registry.bound("assignment", "forced")
def forced(
    instance: Assignment,
    rng: Generator,
    *,
    run: Run,
    load: Literal["max", "desired"] = "max",
    cells: int = 10_000,
    witnesses: int = 24,
) -> Answer:
    """Alpha-aware cover of subscribers with a single candidate (under `union`: the measure of what they want).

    load: `desired` bounds only plans within max(beta, least feasible factor);
    cells: how fine the grid is at most; witnesses: subscribers per broker that covers are searched for, at most.
    """
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    if not instance.m:
        return Answer(bound=0.0, valid_because="there are no subscribers")
    most = checks.integer(witnesses, "option witnesses")
    ground = Ground(instance, measured(instance, cuts(instance, checks.integer(cells, "option cells", low=1))), load)
    found = searched(ground, run, most)
    document, bound = certified(ground, found, load, np.full(instance.n, WHOLE, dtype=np.int64))
    return Answer(bound=as_float(bound), valid_because=because(instance, load), certificate=document)


def because(instance: Assignment, load: str) -> str:
    """Why the bound holds, and for whom."""
    return (BECAUSE if instance.containment == "rectangle" else UNION) + (DESIRED if load == "desired" else "")


def searched(ground: Ground, run: Run, most: int) -> dict[int, tuple[int, list[int]]]:
    """Per broker that somebody is forced to: the least measure of its filter, and the witnesses of that."""
    instance, result = ground.instance, {}
    for b in range(instance.n):
        who = ground.members(b)
        if not len(who):
            continue
        least = ground.union_of_cells(b)
        chosen: list[int] = []
        boxes = int(instance.alpha[b])
        if instance.containment == "rectangle" and boxes <= MOST_BOXES and most and run.left() > 0.3 * run.time_limit:
            value, chosen = _witnesses(ground, boxes, who, most)
            least, chosen = (value, chosen) if value > least else (least, [])
        result[b] = (least, chosen)
    return result


def _witnesses(ground: Ground, boxes: int, who: Indices, most: int) -> tuple[int, list[int]]:
    """Witnesses one by one: whoever the best cover so far has the most trouble with."""
    ends = np.concatenate([ground.first[who], ground.last[who]], axis=1)
    who = who[np.unique(ends, axis=0, return_index=True)[1]]
    first, last = ground.first[who], ground.last[who]
    low, high = nothing(ground, boxes)
    chosen: list[int] = []
    best = 0
    for _ in range(min(most, len(who))):
        sizes = union_measure(ground, low, high)
        pick = int(np.argmin(sizes))
        trouble = _trouble(ground, low[pick], high[pick], first, last) - sizes[pick]
        s = int(np.argmax(trouble))
        if trouble[s] <= 0 or len(low) * boxes > NODES:
            break
        chosen.append(int(who[s]))
        low, high = inserted(low, high, first[s], last[s])
        best = int(union_measure(ground, low, high).min())
    return best, chosen


def _trouble(ground: Ground, low: Whole, high: Whole, first: Whole, last: Whole) -> Whole:
    """For every interest, the least measure of one node's boxes with it."""
    result = np.full(len(first), np.iinfo(np.int64).max)
    for r in range(len(low)):
        lows, highs = np.repeat(low[None], len(first), axis=0), np.repeat(high[None], len(first), axis=0)
        lows[:, r], highs[:, r] = np.minimum(lows[:, r], first), np.maximum(highs[:, r], last)
        result = np.minimum(result, union_measure(ground, lows, highs))
    return result


def certified(
    ground: Ground, found: dict[int, tuple[int, list[int]]], load: str, parts: Whole
) -> tuple[dict[str, Any], Fraction]:
    """The certificate of what was found and the exact bound that it proves."""
    instance = ground.instance
    total = 0
    for b, (least, chosen) in found.items():
        proved = least_cover(ground, int(instance.alpha[b]), chosen, least) if chosen else least
        total += int(parts[b]) * proved
    document = {
        **header(KIND, instance),
        "bound": str(total * ground.cells.unit / WHOLE),
        "load": load,
        "cuts": [cut.tolist() for cut in ground.cells.cuts],
        "part": None if (parts == WHOLE).all() else parts.tolist(),
        "witnesses": {str(b): chosen for b, (_, chosen) in found.items() if chosen},
        "targets": {str(b): least for b, (least, chosen) in found.items() if chosen},
    }
    return document, total * ground.cells.unit / WHOLE
