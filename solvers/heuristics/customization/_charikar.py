"""Charikar and others' approximation of directed Steiner trees (two levels) in the stump of a node, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yardline.solvers.kernels import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@kernel
def closure(cost: Floats, last: Ints) -> tuple[Floats, Ints]:
    """Least sums of costs between all vertices, and the vertex before the last on the way; k leads to last[k] only."""
    n = len(cost)
    D, before = cost.copy(), np.full((n, n), -1)
    for i in range(n):
        for j in range(n):
            if cost[i, j] < np.inf:
                before[i, j] = i
        D[i, i] = 0.0
    for k in range(n):
        for i in range(n):
            through = D[i, k]
            if through == np.inf or i == k:
                continue
            for j in range(last[k, 0], last[k, 1]):
                if through + D[k, j] < D[i, j]:
                    D[i, j] = through + D[k, j]
                    before[i, j] = before[k, j]
    return D, before


@kernel
def _walk(before: Ints, i: int, j: int, entered: Ints) -> None:
    """Put the way from i to j down; a vertex that has been entered keeps its entrance."""
    while j != i and entered[j] < 0:
        entered[j] = before[i, j]
        j = before[i, j]


@kernel
def two_levels(cost: Floats, last: Ints, root: int, terminals: Ints) -> Ints:
    """The vertex before each vertex of a tree from the root to the terminals (-1: not in it).

    Again and again the bunch (a vertex v, and the k terminals nearest to it) with the least cost per terminal:
    the way from the root to v, and the ways from v to these.
    """
    D, before = closure(cost, last)
    entered = np.full(len(cost), -1)
    left = np.ones(len(terminals), dtype=np.bool_)
    missing = len(terminals)
    while missing > 0:
        density, centre, reach = np.inf, -1, 0
        for v in range(len(cost)):
            if D[root, v] == np.inf:
                continue
            far = np.sort(D[v, terminals[left]])
            total = D[root, v]
            for k in range(len(far)):
                total += far[k]
                if total / (k + 1) < density:
                    density, centre, reach = total / (k + 1), v, k + 1
        if centre < 0:
            return np.full(len(cost), -1)
        _walk(before, root, centre, entered)
        rest = np.flatnonzero(left)
        for p in rest[np.argsort(D[centre, terminals[rest]])][:reach]:
            _walk(before, centre, terminals[p], entered)
            left[p] = False
            missing -= 1
    return entered
