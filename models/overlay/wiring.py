"""Trees of brokers: the metric closure, minimum spanning trees in it, the sides of a link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from yardline.models.checks import Indices, Vector

CHUNK = 4_000_000  # entries of the arrays that many spanning trees at once may take


def closure(cost: Vector) -> Vector:
    """The least cost of a path between each two brokers."""
    result = cost.copy()
    for k in range(len(cost)):
        np.minimum(result, result[:, k, None] + result[k], out=result)
    return result


def spanning_weights(terminals: NDArray[np.bool_], distance: Vector) -> Vector:
    """The weight of a minimum spanning tree over each row's brokers: Prim's rule, all rows in step."""
    step = max(1, CHUNK // max(1, terminals.shape[1]))
    parts = [_prim(terminals[p : p + step], distance) for p in range(0, len(terminals), step)]
    return np.concatenate([np.zeros(0), *parts])


def _prim(terminals: NDArray[np.bool_], distance: Vector) -> Vector:
    rows = np.arange(len(terminals))
    weight = np.zeros(len(terminals))
    start = terminals.argmax(axis=1)
    near = np.where(terminals, distance[start], np.inf)  # from the tree so far to each broker not in it
    near[rows, start] = np.inf
    for _ in range(int(terminals.sum(axis=1).max(initial=1)) - 1):
        best = near.argmin(axis=1)
        found = near[rows, best]
        live = found < np.inf
        weight[live] += found[live]
        outside = near < np.inf
        outside[rows, best] = False
        near = np.where(outside, np.minimum(near, distance[best]), np.inf)
    return weight


def sides(links: Indices, brokers: int) -> NDArray[np.bool_]:
    """Per link of a forest, which brokers stand on its second end's side once it is cut: links x brokers."""
    result = np.zeros((len(links), brokers), dtype=bool)
    for p in range(len(links)):
        rest = np.delete(links, p, axis=0)
        part = components(rest, brokers)
        result[p] = part == part[links[p, 1]]
    return result


def components(links: Indices, brokers: int) -> Indices:
    """The connected part that each broker belongs to."""
    graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(brokers, brokers))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def forest(links: Indices, weight: Vector, brokers: int) -> NDArray[np.bool_]:
    """Which links a lightest spanning forest keeps: those that join two parts, lightest first."""
    part = list(range(brokers))

    def root(b: int) -> int:
        while part[b] != b:
            part[b] = part[part[b]]
            b = part[b]
        return b

    kept = np.zeros(len(links), dtype=bool)
    for p in np.argsort(weight, kind="stable").tolist():
        a, b = root(int(links[p, 0])), root(int(links[p, 1]))
        kept[p] = a != b
        part[a] = b
    return kept
