"""Cheapest conversions from the source to a set of formats at one node, for many sets at once (without weights).

Up to EXACT_FORMATS formats that the source can make: exact, by a table over sets of formats,
    made[A + f] = min over f of made[A] + (cheapest conversion from A or the source to f),   then the best superset.
Beyond: the shortest-path heuristic (again and again the nearest wanted format, along a cheapest chain of conversions
from what is there already), which leaves nothing to prune, but need not be cheapest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from yardline.models.checks import Indices, Vector
from yardline.models.customization import graph
from yardline.models.customization.data import Customization
from yardline.models.method import Unsuitable

EXACT_FORMATS = 16
MOST_FORMATS = 6_000


def conversions(instance: Customization, wanted: NDArray[np.bool_]) -> csr_array:
    """Which conversions make each row of wanted formats, all within reach: rows x conversions, 0/1."""
    small = int(graph.made(instance).sum()) <= EXACT_FORMATS
    maker = _by_sets(instance, wanted) if small else _by_paths(instance, wanted)
    rows, formats = np.nonzero(maker >= 0)
    codes = instance.conversions @ np.array([instance.m, 1])  # in increasing order, as the conversions are sorted
    columns = np.searchsorted(codes, maker[rows, formats] * instance.m + formats)
    return csr_array(
        (np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=(len(wanted), len(instance.conversions))
    )


def _by_sets(instance: Customization, wanted: NDArray[np.bool_]) -> Indices:
    """From which format each format is made (-1: not at all), row by row; exact."""
    others = np.setdiff1d(np.flatnonzero(graph.made(instance)), [instance.source])
    origins = np.append(others, instance.source)
    price = _prices(instance)[np.ix_(origins, others)]
    best, last = _tables(price)
    bits = 1 << np.arange(len(others))
    state = best[wanted[:, others] @ bits]
    maker = np.full(wanted.shape, -1)
    while (state > 0).any():
        rows = np.flatnonzero(state)
        f = last[state[rows]]
        state[rows] -= bits[f]
        there = np.column_stack([(state[rows, None] & bits) > 0, np.ones(len(rows), dtype=bool)])
        origin = np.where(there, price[:, f].T, np.inf).argmin(axis=1)
        maker[rows, others[f]] = origins[origin]
    return maker


def _tables(price: Vector) -> tuple[Indices, Indices]:
    """For each set of formats: the cheapest set that holds it, and which format of a set to make last."""
    k = price.shape[1]
    cost, last = np.full(1 << k, np.inf), np.full(1 << k, -1)
    cost[0] = 0.0
    cheapest = np.empty((k, 1 << k))  # conversion to f from a set or the source
    cheapest[:, 0] = price[k]
    for e in range(k):
        half = 1 << e
        cheapest[:, half : 2 * half] = np.minimum(cheapest[:, :half], price[e][:, None])
    size = np.bitwise_count(np.arange(1 << k))
    for count in range(1, k + 1):
        sets = np.flatnonzero(size == count)
        for f in range(k):
            whole = sets[(sets >> f) & 1 == 1]
            trial = cost[whole - (1 << f)] + cheapest[f, whole - (1 << f)]
            better = trial < cost[whole]
            cost[whole[better]] = trial[better]
            last[whole[better]] = f
    return _best_supersets(cost, k), last


def _best_supersets(cost: Vector, k: int) -> Indices:
    best, least = np.arange(1 << k), cost.copy()
    for f in range(k):
        without = np.flatnonzero((np.arange(1 << k) >> f) & 1 == 0)
        better = without[least[without + (1 << f)] < least[without]]
        best[better] = best[better + (1 << f)]
        least[better] = least[better + (1 << f)]
    return best


def _by_paths(instance: Customization, wanted: NDArray[np.bool_]) -> Indices:
    """The same by the shortest-path heuristic, all rows side by side."""
    if instance.m > MOST_FORMATS:
        raise Unsuitable(f"there are {instance.m:,} formats, and the table of their distances holds {MOST_FORMATS:,}")
    steps = csr_array((instance.conversion_cost, tuple(instance.conversions.T)), shape=(instance.m, instance.m))
    distance, before = shortest_path(steps, method="D", return_predecessors=True)
    maker = np.full(wanted.shape, -1)
    there = np.zeros(wanted.shape, dtype=bool)
    there[:, instance.source] = True
    near = np.tile(distance[instance.source], (len(wanted), 1))  # from what is there to each format
    origin = np.full(wanted.shape, instance.source)
    while True:
        rows = np.flatnonzero((wanted & ~there).any(axis=1))
        if not len(rows):
            return maker
        goal = np.where(wanted[rows] & ~there[rows], near[rows], np.inf).argmin(axis=1)
        start = origin[rows, goal]
        while len(rows):  # walk back from the goals until something that is there
            step = before[start, goal]
            maker[rows, goal] = step
            there[rows, goal] = True
            closer = distance[goal] < near[rows]
            near[rows] = np.where(closer, distance[goal], near[rows])
            origin[rows] = np.where(closer, goal[:, None], origin[rows])
            going = ~there[rows, step]
            rows, goal, start = rows[going], step[going], start[going]


def _prices(instance: Customization) -> Vector:
    """Cost of each conversion, infinite where there is none."""
    price = np.full((instance.m, instance.m), np.inf)
    price[tuple(instance.conversions.T)] = instance.conversion_cost
    return price
