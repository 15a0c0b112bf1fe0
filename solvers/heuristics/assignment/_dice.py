"""Random numbers inside kernels (numba): xorshift on a state that the caller holds, so that a seed gives one sequence."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _next(dice):  # type: ignore[no-untyped-def]
    x = dice[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    dice[0] = x
    return x


@njit(cache=True)
def below(dice, bound):  # type: ignore[no-untyped-def]
    """A whole number from 0 to bound - 1."""
    return np.int64(_next(dice) % np.uint64(bound))


@njit(cache=True)
def fraction(dice):  # type: ignore[no-untyped-def]
    """A number from 0 to 1, 1 excluded."""
    return np.float64(_next(dice) >> np.uint64(11)) / 9007199254740992.0
