"""The recursion over sets of formats at one node, in whole numbers, compiled. A set is the bits of an integer."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

NEVER = 1 << 61
Table = NDArray[np.int64]
Steps = NDArray[np.uint8]


@numba.njit(cache=True)
def cheapest(price: Table) -> Table:
    """c[A, p]: the cheapest conversion from some format of A to the p-th format that is not in A."""
    m = len(price)
    whole = np.full((1 << m, m), NEVER, dtype=np.int64)
    c = np.full((1 << m, m), NEVER, dtype=np.int64)
    for A in range(1, 1 << m):
        e = 0
        while not (A >> e) & 1:
            e += 1
        p = 0
        for f in range(m):
            whole[A, f] = min(whole[A ^ (1 << e), f], price[e, f])
            if not (A >> f) & 1:
                c[A, p] = whole[A, f]
                p += 1
    return c


@numba.njit(cache=True)
def idle(wanted: int, m: int) -> Table:
    """H without children: 0 where all that is wanted is there."""
    H = np.empty(1 << m, dtype=np.int64)
    for B in range(1 << m):
        H[B] = 0 if (B & wanted) == wanted else NEVER
    return H


@numba.njit(cache=True)
def convert(H: Table, c: Table, made: Steps) -> None:
    """H becomes V: V[A] = min(H[A], min over f not in A of c[A,f] + V[A+f]); made[A] is that f's place, or m for none."""
    m = c.shape[1]
    full = (1 << m) - 1
    for A in range(full, -1, -1):
        least, step, p = H[A], m, 0
        absent = full ^ A
        while absent:
            low = absent & -absent
            trial = c[A, p] + H[A | low]
            step = p if trial < least else step
            least = min(least, trial)
            absent ^= low
            p += 1
        H[A] = least
        made[A] = step


@numba.njit(cache=True)
def send(V: Table, tau: Table, left: Steps) -> None:
    """V becomes W: W[B] = min over X in B of tau(X) + V[X]; left[B] is the place in B of a format to leave out, or m."""
    m = len(tau)
    T = np.zeros(1 << m, dtype=np.int64)
    for e in range(m):
        for B in range(1 << e):
            T[B + (1 << e)] = T[B] + tau[e]
    for B in range(1 << m):
        least, step, p = min(NEVER, T[B] + V[B]), m, 0
        there = B
        while there:
            low = there & -there
            trial = V[B ^ low]
            step = p if trial < least else step
            least = min(least, trial)
            there ^= low
            p += 1
        V[B] = least
        left[B] = step


@numba.njit(cache=True)
def add(H: Table, W: Table) -> None:
    """H += W, where NEVER stays NEVER."""
    for B in range(len(H)):
        H[B] = NEVER if H[B] >= NEVER or W[B] >= NEVER else H[B] + W[B]
