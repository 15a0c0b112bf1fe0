"""The workload `assignment-1`: three regions, topics that form a tree of boxes, popularity that can be diffused and generalised.

The paper takes topics, popularity and locations from statistics that are not printed. Ours, each a parameter:

- network: latencies in R^5, either from a table of round-trip times (`latencies`, classical scaling) or from three synthetic
  regions whose centres are as far from each other as Asia, North America and Europe are in ms;
- topics: the dyadic boxes of the unit square down to `depth`; the general ones tend to be more popular (Zipf); the hottest 100
  are left out; each region has its own taste (log-normal factors of the topics two levels down, handed on to what is below);
- diffusion (interest_skew=L): popularities of siblings move towards their mean until their variance is 45 % of what it was;
- generalisation (broad_interests): every topic hands 1 % (L) or 10 % (H) of its popularity up to the one above, bottom-up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.random import Generator

from yardline.instances.workloads.assignment import tree
from yardline.models import checks, registry
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.load import least_factor
from yardline.models.checks import Indices, Vector

REGIONS = ("Asia", "North America", "Europe")
CENTRES = np.array([[-110.0, 60.0, 0, 0, 0], [0.0, -70.0, 0, 0, 0], [110.0, 60.0, 0, 0, 0]])
"""In ms, synthetic: about 170 and 220 from each other."""

LATENCY = {"plain": (None, None, None), "tight": (0.2, 7.0, 8.0), "loose": (1.0, 1.3, 1.5)}
"""max_delay, beta, beta_max of the paper's settings for several levels."""


@registry.workload("assignment", "assignment-1", paper="002, workload set 1")
def regions(
    rng: Generator,
    *,
    subscribers: int = 1000,
    brokers: int = 20,
    interest_skew: Literal["L", "H"] = "H",
    broad_interests: Literal["L", "H"] = "L",
    mix: str = "4:1:4",
    broker_mix: str = "",
    locations: int = 480,
    spread: float = 30.0,
    publisher: float = 60.0,
    latencies: str = "",
    depth: int = 6,
    skew: float = 0.8,
    hottest: int = 100,
    diffusion: float = 0.55,
    taste: float = 1.0,
    levels: int = 1,
    degree: int = 15,
    latency: Literal["plain", "tight", "loose"] = "plain",
    alpha: int = 3,
    max_delay: float = 0.3,
    beta: float = 1.5,
    beta_max: float = 1.8,
    over_balance: float = 0.0,
    containment: Literal["rectangle", "union"] = "rectangle",
) -> Assignment:
    """Three regions, topics as nested boxes with Zipf popularity, diffused (interest_skew) and generalised (broad_interests).

    mix, broker_mix: subscribers and brokers per region (brokers as subscribers where not given); spread: of a region, in ms;
    over_balance: both load factors are so many times the least feasible one (table 3: 1.5; 0: beta and beta_max count);
    publisher: how far it stands from the middle of the second region; latencies: a square table of round-trip times, tab
    separated; depth, skew, hottest, diffusion, taste: of the topics; latency: the paper's settings for several levels.
    """
    m = checks.integer(subscribers, "subscribers")
    shares = _shares(mix, "mix")
    places, region = _network(rng, latencies, checks.integer(locations, "locations", low=3), shares, spread)
    low, high, level, above = _topics(checks.integer(depth, "depth", low=1, high=8))
    popular = _popularity(rng, level, checks.number(skew, "skew"), checks.integer(hottest, "hottest"))
    if interest_skew == "L":
        popular = _diffused(popular, above, min(1.0, checks.number(diffusion, "diffusion")))
    popular = _generalised(popular, above, level, 0.1 if broad_interests == "H" else 0.01)
    home = rng.choice(3, size=m, p=shares)
    topic = _chosen(rng, popular, above, level, home, taste)
    at = _members(rng, region, home)
    spots = places if not broker_mix else places[_members(rng, region, _counts(broker_mix, len(places)))]
    broker_at, parent = tree(rng, spots, checks.integer(brokers, "brokers", low=1), levels, degree)
    delay, desired, most = LATENCY[latency]
    instance = Assignment(
        publisher=CENTRES[1] + np.array([0, 0, 0, 0, checks.number(publisher, "publisher")]),
        broker_at=broker_at,
        parent=parent,
        alpha=alpha,
        at=places[at],
        low=low[topic],
        high=high[topic],
        max_delay=max_delay if delay is None else delay,
        beta=beta if desired is None else desired,
        beta_max=beta_max if most is None else most,
        containment=containment,
    )
    if not checks.number(over_balance, "over_balance"):
        return instance
    cap = max(1.0, over_balance * least_factor(instance))
    return replace(instance, beta=cap, beta_max=cap)


def _shares(text: str, field: str) -> Vector:
    """'4:1:4' (or '4-1-4', which fits into the description of a comparison) as fractions."""
    parts = text.replace("-", ":").split(":")
    if len(parts) != 3 or not all(part.strip().isdigit() for part in parts) or not sum(map(int, parts)):
        checks.fail(field, text, "three whole numbers such as 4:1:4")
    numbers = np.array([int(part) for part in parts], dtype=np.float64)
    return np.asarray(numbers / numbers.sum(), dtype=np.float64)


def _counts(text: str, count: int) -> Indices:
    """So many homes, spread over the regions as the mix says."""
    ends = np.round(np.cumsum(_shares(text, "broker_mix")) * count).astype(np.int64)
    return np.searchsorted(ends, np.arange(count), side="right").astype(np.int64)


def _network(rng: Generator, path: str, count: int, shares: Vector, spread: float) -> tuple[Vector, Indices]:
    """Points of R^5 and the region of each."""
    if path:
        return _embedded(path)
    ends = np.round(np.cumsum(shares) * count).astype(np.int64)
    region = np.searchsorted(ends, np.arange(count), side="right").astype(np.int64)
    points = CENTRES[region] + rng.normal(0.0, checks.number(spread, "spread") / np.sqrt(5.0) * 1.5, (count, 5))
    return np.round(points, 6), region


def _embedded(path: str) -> tuple[Vector, Indices]:
    """Round-trip times as half distances in R^5 (classical scaling); thirds along the first axis are the regions."""
    try:
        table = np.loadtxt(path, delimiter="\t", ndmin=2)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"latencies is {path!r}, which cannot be read ({error}): expected a table of numbers"
        ) from None
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 6:
        checks.fail("latencies", path, "a square table of at least 6 rows")
    distance = np.minimum(table, table.T) / 2
    centred = distance**2 - (distance**2).mean(axis=0) - (distance**2).mean(axis=1)[:, None] + (distance**2).mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    points = vectors[:, -5:] * np.sqrt(np.maximum(values[-5:], 0.0))
    order = np.argsort(points[:, -1], kind="stable")
    region = np.zeros(len(points), dtype=np.int64)
    region[order] = np.arange(len(points)) * 3 // len(points)
    return np.round(points, 6), region


def _topics(depth: int) -> tuple[Vector, Vector, Indices, Indices]:
    """Dyadic boxes of the unit square, level by level; the topic above each (-1: none)."""
    low, high, level, above, first = [], [], [], [], 0
    for k in range(depth + 1):
        side = 2**k
        row, column = (index.ravel() for index in np.indices((side, side)))
        low.append(np.stack([row, column], axis=1) / side)
        high.append(np.stack([row + 1, column + 1], axis=1) / side)
        level.append(np.full(side * side, k))
        before = first - (side // 2) ** 2
        above.append(np.full(1, -1) if k == 0 else before + (row // 2) * (side // 2) + column // 2)
        first += side * side
    return np.concatenate(low), np.concatenate(high), np.concatenate(level), np.concatenate(above).astype(np.int64)


def _popularity(rng: Generator, level: Indices, skew: float, hottest: int) -> Vector:
    """Zipf by rank; general topics tend to rank high; the hottest have none."""
    rank = np.argsort(np.argsort(level + rng.gumbel(0.0, 1.5, len(level)), kind="stable"))
    popular = np.asarray(1.0 / (rank + 1.0) ** skew, dtype=np.float64)
    popular[rank < min(hottest, len(level) - 1)] = 0.0
    return popular


def _diffused(popular: Vector, above: Indices, factor: float) -> Vector:
    """Siblings move towards their mean: their variance falls by the factor."""
    inner = above >= 0
    counts = np.bincount(above[inner], minlength=len(popular))
    mean = np.bincount(above[inner], weights=popular[inner], minlength=len(popular)) / np.maximum(counts, 1)
    result = popular.copy()
    result[inner] = mean[above[inner]] + np.sqrt(1 - factor) * (popular[inner] - mean[above[inner]])
    return result


def _generalised(popular: Vector, above: Indices, level: Indices, fraction: float) -> Vector:
    """Every topic hands a fraction of its popularity up, the deepest first."""
    result = popular.copy()
    for k in range(int(level.max()), 0, -1):
        these = np.flatnonzero(level == k)
        given = fraction * result[these]
        result[these] -= given
        np.add.at(result, above[these], given)
    return result


def _chosen(rng: Generator, popular: Vector, above: Indices, level: Indices, home: Indices, taste: float) -> Indices:
    """A topic for everybody, by popularity and the taste of its region."""
    topic = np.zeros(len(home), dtype=np.int64)
    for r in range(3):
        factor = np.where(level <= 2, np.exp(rng.normal(0.0, checks.number(taste, "taste"), len(level))), 1.0)
        for k in range(3, int(level.max()) + 1):
            factor[level == k] = factor[above[level == k]]
        weights = np.cumsum(popular * factor)
        mine = np.flatnonzero(home == r)
        topic[mine] = np.searchsorted(weights, rng.random(len(mine)) * weights[-1], side="right")
    return np.minimum(topic, len(popular) - 1)


def _members(rng: Generator, region: Indices, home: Indices) -> Indices:
    """A random place in everybody's region."""
    result = np.zeros(len(home), dtype=np.int64)
    for r in range(3):
        there, mine = np.flatnonzero(region == r), np.flatnonzero(home == r)
        result[mine] = (
            there[rng.integers(0, len(there), size=len(mine))]
            if len(there)
            else rng.integers(0, len(region), len(mine))
        )
    return result
