"""Workloads of assignment."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.random import Generator

from yardline.models import checks, registry
from yardline.models.assignment.data import Assignment
from yardline.models.checks import Indices, Vector

WIDTHS = (0.1, 0.2, 0.3, 0.4, 0.5)
"""Predefined widths of interests, most frequent first; the paper prints none. A cell is 0.1 wide."""


@registry.workload("assignment", "assignment-2", paper="002, workload set 2")
def topics(
    rng: Generator,
    *,
    subscribers: int = 1000,
    brokers: int = 20,
    interests: int = 50,
    spread_over: float = 10.0,
    places: int = 10,
    locations: int = 500,
    network: int = 5,
    publisher: float = -0.25,
    skew: float = 0.5,
    dimensions: int = 2,
    levels: int = 1,
    degree: int = 15,
    alpha: int = 3,
    max_delay: float = 0.3,
    beta: float = 2.3,
    beta_max: float = 2.5,
    containment: Literal["rectangle", "union"] = "rectangle",
) -> Assignment:
    """Few interests (random unit squares) of Zipf popularity, each wanted from a few locations only.

    interests: how many; spread_over: side of the square that they lie in; places: locations per interest; locations, network,
    publisher, levels, degree: as for assignment-3.
    """
    counts = {"brokers": brokers, "interests": interests, "places": places, "locations": locations, "network": network}
    for name, value in {**counts, "dimensions": dimensions}.items():
        checks.integer(value, name, low=1)
    m = checks.integer(subscribers, "subscribers")
    corner = np.round(rng.random((interests, dimensions)) * checks.number(spread_over, "spread_over"), 9)
    points = rng.random((locations, network))
    where = np.stack([rng.choice(locations, size=places, replace=places > locations) for _ in range(interests)])
    interest = zipf(rng, m, interests, skew)
    at = points[where[interest, rng.integers(0, places, size=m)]]
    broker_at, parent = tree(rng, points, brokers, levels, degree)
    return Assignment(
        publisher=np.full(network, publisher),
        broker_at=broker_at,
        parent=parent,
        alpha=alpha,
        at=at,
        low=corner[interest],
        high=np.round(corner[interest] + 1.0, 9),
        max_delay=max_delay,
        beta=beta,
        beta_max=beta_max,
        containment=containment,
    )


@registry.workload("assignment", "assignment-3", paper="002, workload set 3")
def independent(
    rng: Generator,
    *,
    subscribers: int = 1000,
    brokers: int = 20,
    locations: int = 500,
    network: int = 5,
    publisher: float = -0.25,
    cells: int = 10,
    skew: float = 0.5,
    dimensions: int = 2,
    levels: int = 1,
    degree: int = 15,
    alpha: int = 3,
    max_delay: float = 0.3,
    beta: float = 1.3,
    beta_max: float = 1.5,
    containment: Literal["rectangle", "union"] = "rectangle",
) -> Assignment:
    """Interests centred in 10 x 10 cells of random popularity (Zipf 0.5), widths by Zipf 0.5, locations independent.

    cells: per dimension; locations: distinct points that subscribers are at; network: dimensions of their unit cube;
    publisher: all its coordinates (inside the cube those near it can hardly use any broker but the nearest);
    levels, degree: depth of the broker tree and most children of a broker.
    """
    for name, value in (
        ("brokers", brokers),
        ("locations", locations),
        ("cells", cells),
        ("dimensions", dimensions),
        ("network", network),
    ):
        checks.integer(value, name, low=1)
    m = checks.integer(subscribers, "subscribers")
    low, high = _interests(rng, m, cells, dimensions, skew)
    places = rng.random((locations, network))
    broker_at, parent = tree(rng, places, brokers, levels, degree)
    return Assignment(
        publisher=np.full(network, publisher),
        broker_at=broker_at,
        parent=parent,
        alpha=alpha,
        at=places[rng.integers(0, locations, size=m)],
        low=low,
        high=high,
        max_delay=max_delay,
        beta=beta,
        beta_max=beta_max,
        containment=containment,
    )


def _interests(rng: Generator, m: int, cells: int, dimensions: int, skew: float) -> tuple[Vector, Vector]:
    """Boxes around centres of cells, cut off at the borders of the unit cube."""
    rank = rng.permutation(cells**dimensions)
    cell = rank[zipf(rng, m, cells**dimensions, skew)]
    centre = np.stack(np.unravel_index(cell, (cells,) * dimensions), axis=1) + 0.5
    width = np.array(WIDTHS)[zipf(rng, m * dimensions, len(WIDTHS), skew)].reshape(m, dimensions)
    low, high = centre / cells - width / 2, centre / cells + width / 2
    # equal edges shall be equal numbers, whatever centre and width they came from
    return np.clip(np.round(low, 9), 0.0, 1.0), np.clip(np.round(high, 9), 0.0, 1.0)


def zipf(rng: Generator, count: int, size: int, exponent: float) -> Indices:
    """Ranks 0..size-1 with probabilities proportional to 1 / (rank + 1)**exponent."""
    weights = np.cumsum(1.0 / np.arange(1, size + 1) ** exponent)
    ranks: Indices = np.searchsorted(weights, rng.random(count) * weights[-1], side="right").astype(np.int64)
    return ranks


def tree(rng: Generator, places: Vector, brokers: int, levels: int, degree: int) -> tuple[Vector, Indices]:
    """Brokers level by level, spread like the places; parents are near, none with more children than the degree."""
    sizes = level_sizes(brokers, levels, degree)
    at = [spread(rng, places, size) for size in sizes]
    parent, first = [np.full(sizes[0], -1)], 0
    for above, here in pairwise(at):
        parent.append(first + _near_parents(above, here, degree))
        first += len(above)
    return np.concatenate(at), np.concatenate(parent).astype(np.int64)


def level_sizes(brokers: int, levels: int, degree: int) -> list[int]:
    """How many brokers stand on each level: as many on the last as the degree allows, what is left over on the first.

    >>> level_sizes(100, 2, 15)
    [7, 93]
    """
    levels, degree = checks.integer(levels, "levels", low=1), checks.integer(degree, "degree", low=1)
    for last in range(brokers - levels + 1, 0, -1):
        sizes = [last]
        while len(sizes) < levels:
            sizes.insert(0, -(-sizes[0] // degree))
        if sum(sizes) <= brokers:
            sizes[0] += brokers - sum(sizes)
            return sizes
    checks.fail("levels", levels, f"a depth that {brokers} brokers can have")


def spread(rng: Generator, places: Vector, count: int, rounds: int = 10) -> Vector:
    """Points distributed like the places: centres of clusters of them (Lloyd's rounds from a random start)."""
    centres = places[rng.choice(len(places), size=count, replace=count > len(places))]
    for _ in range(rounds):
        nearest = ((places[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        counts = np.bincount(nearest, minlength=count)
        sums = np.stack([np.bincount(nearest, weights=column, minlength=count) for column in places.T], axis=1)
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return centres


def _near_parents(above: Vector, here: Vector, degree: int) -> Indices:
    """A near parent for everybody, the nearest pairs first; each parent gets a child before any gets many."""
    distance = ((here[:, None] - above[None]) ** 2).sum(axis=2)
    parent = np.full(len(here), -1)
    for most in (1, degree):
        for child, candidate in zip(*np.unravel_index(np.argsort(distance, axis=None), distance.shape), strict=True):
            if parent[child] < 0 and (parent == candidate).sum() < most:
                parent[child] = candidate
    return parent
