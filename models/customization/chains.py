"""Cheapest chains of conversions, and the conversions and sends that some cheapest way needs.

With D(f,g) the least cost of a chain from f to g, a conversion of cost c from f to g can be left out when

    D(f,h) + D(h,g) <= c,  D(f,h) < c  and  D(h,g) < c        for some format h,

because what is kept has the same distances. By induction over their size: a cheapest chain either has only conversions below its
cost, or one of that cost and others that are free; and a conversion that was left out is made up for by two smaller distances.
At a node all conversions have the same weight, and whoever can become g is able to become whatever g can: so some least plan
uses kept conversions only. Whole costs are compared exactly; others count as dearer only beyond the last digits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from yardline.models.checks import Indices, Vector
from yardline.models.customization.data import Customization

MOST_FORMATS = 512
"""The table of distances takes the cube of this; beyond, all conversions are kept."""
MOST_CELLS = 4_000_000
MOST_CELLS_OF_SENDS = 100_000_000
"""Beyond (weights that differ everywhere, many formats), all sends are kept."""
LAST_DIGITS = 1e-9
ALL = slice(None)


def chains(instance: Customization) -> tuple[Vector, Indices]:
    """Distances between formats without weights, and the format before the last on a cheapest chain of kept conversions.

    The latter is negative where there is no chain.
    """
    distance, before = shortest_path(_steps(instance, kept(instance)), method="D", return_predecessors=True)
    return distance, before.astype(np.int64)


def _steps(instance: Customization, chosen: NDArray[np.bool_] | slice = ALL) -> csr_array:
    cells = tuple(instance.conversions[chosen].T)
    return csr_array((instance.conversion_cost[chosen], cells), shape=(instance.m, instance.m))


def kept(instance: Customization) -> NDArray[np.bool_]:
    """Which conversions a least plan may need."""
    cost = instance.conversion_cost
    result = np.ones(len(cost), dtype=bool)
    if instance.m > MOST_FORMATS:
        return result
    D, limit = shortest_path(_steps(instance), method="FW"), _limits(cost)
    for part in np.array_split(np.arange(len(cost)), 1 + len(cost) * instance.m // MOST_CELLS):
        f, g = instance.conversions[part].T
        there, onward, c = D[f], D.T[g], cost[part, None]
        around = np.where((there < c) & (onward < c), there + onward, np.inf).min(axis=1, initial=np.inf)
        result[part] = around > limit[part]
    return result


def _limits(cost: Vector) -> Vector:
    """What a way around may cost: as much as the conversion where sums are exact, else clearly less."""
    return cost if _whole(cost) else cost * (1 - LAST_DIGITS)


def _whole(cost: Vector) -> bool:
    return bool((cost == np.floor(cost)).all()) and cost.sum() < 2.0**53


def kept_sends(instance: Customization) -> NDArray[np.bool_]:
    """Which formats a least plan may need to send over the link into each node: nodes x formats."""
    m, work = instance.m, instance.beta * instance.node_weight
    weights = np.stack([work[instance.parent], work, instance.alpha * instance.link_weight], axis=1)[1:]
    alike, which = np.unique(weights, axis=0, return_inverse=True)
    result = np.ones((instance.n, m), dtype=bool)
    if m > MOST_FORMATS or len(alike) * m * m > MOST_CELLS_OF_SENDS:
        return result
    D = shortest_path(_steps(instance), method="FW")
    exact = _whole(instance.conversion_cost) and _whole(instance.tau) and _whole(alike)
    needed = np.zeros((len(alike), m), dtype=bool)
    for part in np.array_split(np.arange(len(alike)), 1 + len(alike) * m * m // MOST_CELLS):
        above, below, link = alike[part].T
        T = link[:, None] * instance.tau
        around = _times(above, D) + T[:, None, :] + _times(below, D.T)
        least = np.where(T[:, None, :] < T[:, :, None], around, np.inf).min(axis=2)
        needed[part] = least > (T if exact else T * (1 - LAST_DIGITS))
    result[1:] = needed[which.ravel()]
    return result


def _times(weight: Vector, distance: Vector) -> Vector:
    """Weighted tables of distances; where there is no chain, no weight makes one."""
    finite = np.isfinite(distance)
    return np.where(finite, weight[:, None, None] * np.where(finite, distance, 0.0), np.inf)
