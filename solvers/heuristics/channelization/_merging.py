"""The merging loop of flow-merge, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yardline.solvers.kernels import kernel


@kernel
def _increase(
    bits: NDArray[np.uint8], rate: NDArray[np.float64], weights: NDArray[np.float64], a: int, b: int
) -> float:
    """What users receive more when groups a and b become one."""
    only_a = only_b = 0.0
    for byte in range(bits.shape[1]):
        first, second = bits[a, byte], bits[b, byte]
        only_a += weights[byte, first & ~second]
        only_b += weights[byte, second & ~first]
    return rate[a] * only_b + rate[b] * only_a


@kernel
def _nearest(
    bits: NDArray[np.uint8],
    rate: NDArray[np.float64],
    weights: NDArray[np.float64],
    alive: NDArray[np.bool_],
    a: int,
) -> tuple[int, float]:
    """The later group that is cheapest to merge a with."""
    best, least = -1, np.inf
    for b in range(a + 1, len(rate)):
        if alive[b]:
            cost = _increase(bits, rate, weights, a, b)
            if cost < least:
                best, least = b, cost
    return best, least


@kernel
def merge(
    bits: NDArray[np.uint8], rate: NDArray[np.float64], weights: NDArray[np.float64], K: int
) -> NDArray[np.int64]:
    """Merge until K groups are left; the group (a flow's position) that each flow ends up in. Changes its arguments."""
    n = len(rate)
    alive = np.ones(n, dtype=np.bool_)
    owner = np.arange(n)
    neighbour = np.full(n, -1)
    least = np.full(n, np.inf)
    for a in range(n):
        neighbour[a], least[a] = _nearest(bits, rate, weights, alive, a)
    for _ in range(n - K):
        a = int(np.argmin(least))
        b = neighbour[a]
        rate[a] += rate[b]
        bits[a] |= bits[b]
        alive[b] = False
        least[b] = np.inf
        owner[owner == b] = a
        neighbour[a], least[a] = _nearest(bits, rate, weights, alive, a)
        for c in range(n):
            if not alive[c] or c == a:
                continue
            if neighbour[c] == a or neighbour[c] == b:
                neighbour[c], least[c] = _nearest(bits, rate, weights, alive, c)
            elif c < a:
                cost = _increase(bits, rate, weights, c, a)
                if cost < least[c]:
                    neighbour[c], least[c] = a, cost
    return owner
