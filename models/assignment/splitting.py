"""Assignment in parts: regions of the event space, boxes without common inside.

A plan's cost is a sum over regions of what its filters measure there. Cut down to a region, filters still have at most
alpha boxes, nest, and hold what the region leaves of the interests; caps stay absolute. So a plan, restricted, is one for
the region's own instance. Leaves cost nothing; a part may charge for them what another pays back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from yardline.models import checks
from yardline.models.assignment import assembly, limits
from yardline.models.assignment.data import Assignment
from yardline.models.checks import Fields, Indices, Vector
from yardline.models.program import Family, Names, Program

Region = Mapping[str, Sequence[float | None]]  # "low" and "high"; None: no limit


def budget(instance: Assignment) -> Vector:
    """What the shares of all parts may come to at most: subscribers x leaves."""
    return np.zeros((instance.m, len(instance.leaves)))


def parts(instance: Assignment, split: Sequence[Any]) -> list[Region]:
    """The regions, checked: no two have inside in common."""
    result = []
    for p, given in enumerate(split):
        fields = Fields(given, f"split[{p}]")
        sides = {
            name: checks.listing(fields.need(name), fields.path(name), length=instance.d) for name in ("low", "high")
        }
        fields.done()
        result.append({name: [_side(v, fields.path(name)) for v in side] for name, side in sides.items()})
    for a, b in combinations(range(len(result)), 2):
        (first, last), (start, stop) = _ends(result[a]), _ends(result[b])
        if not ((last <= start) | (stop <= first)).any():
            raise ValueError(f"split[{a}] and split[{b}] overlap: expected regions without common inside")
    return result  # type: ignore[return-value]


def _side(value: object, field: str) -> float | None:
    return None if value is None else checks.number(value, field, low=-math.inf)


def _ends(region: Region) -> tuple[Vector, Vector]:
    low = np.array([-math.inf if v is None else v for v in region["low"]])
    return low, np.array([math.inf if v is None else v for v in region["high"]])


def members(instance: Assignment, region: Region) -> Indices:
    """Subscribers whose interest has a part in the region that is as wide as it (others may be left out)."""
    first, last = _ends(region)
    low, high = np.maximum(instance.low, first), np.minimum(instance.high, last)
    wide = np.where(instance.low < instance.high, low < high, low <= high)
    return np.flatnonzero(wide.all(axis=1))


def restricted(instance: Assignment, region: Region) -> Assignment:
    """The instance of a region: interests cut down to it, those outside left out, caps as in the whole."""
    who, (first, last) = members(instance, region), _ends(region)
    room = np.where(np.isin(np.arange(instance.n), instance.leaves), limits.caps(instance) + 0.5, 0.0)
    factor = max(1.0, float(room.sum()) / max(1, len(who)))
    return replace(
        instance,
        at=instance.at[who],
        low=np.maximum(instance.low[who], first),
        high=np.minimum(instance.high[who], last),
        max_latency=None if instance.max_latency is None else instance.max_latency[who],
        kappa=room / room.sum(),
        beta=1.0,
        beta_max=factor,
    )


def program(instance: Assignment, region: Region, share: Vector) -> tuple[Program, Vector]:
    """The program of a region, leaves priced by its share, and which columns (subscribers x leaves, -1: none) those are.

    Rows that put leaves in order which nothing tells apart are left out: prices do tell them apart.
    """
    made, who = assembly.assemble(restricted(instance, region)), members(instance, region)
    x = made.family("x")
    columns = np.full((instance.m, len(instance.leaves)), -1)
    s, b = x.index.reshape(-1, 2).T
    columns[who[s], np.searchsorted(instance.leaves, b)] = np.arange(len(s)) + x.start
    cost = made.cost.copy()
    there = columns >= 0
    cost[columns[there]] += share[there]
    return _without(replace(made, cost=checks.frozen(cost)), "first"), columns


def _without(made: Program, name: str) -> Program:
    """The program without one family of rows."""
    assert isinstance(made.rows, Names)
    keep = np.array([family.name != name for family in made.rows.families for _ in family.index], dtype=bool)
    rows, start = [], 0
    for family in made.rows.families:
        if family.name != name:
            rows.append(Family(family.name, family.index, start))
            start += len(family.index)
    kept = {"matrix": made.matrix[keep], "row_low": made.row_low[keep], "row_high": made.row_high[keep]}
    return replace(made, rows=Names(rows), **kept)


def size(instance: Assignment, region: Region) -> int:
    """About how many columns a part has."""
    return assembly.size(restricted(instance, region))
