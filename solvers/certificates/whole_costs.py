"""Costs as whole numbers on a grid of 2**-bits, rounded down: sums of them fit into 64 bits and are exact.

Rounding costs down can only lower what plans cost, so a bound on the grid is a bound. The grid is as fine as 64 bits allow:
whole costs stay as they are, others lose about 1e-18 of the sum of all costs each.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from yardline.models.checks import Indices, Vector

NEVER = 1 << 61
"""Stands for infinity; every sum of costs on the grid is below it."""


def bits_of_sum(total: float) -> int:
    """The bits of a grid on which a sum of this size stays below 2**60."""
    return 0 if total <= 0 else 59 - math.frexp(total)[1]


def on_grid(cost: Vector, bits: int) -> Indices:
    """Costs as multiples of 2**-bits, rounded down (the scaling by a power of two is exact)."""
    return np.floor(np.ldexp(cost, bits)).astype(np.int64)


def worth(units: int, bits: int) -> Fraction:
    """What a number of grid units is worth."""
    return Fraction(units) / Fraction(2) ** bits


def step_of(cost: Vector) -> Fraction | None:
    """The largest number that divides every cost: plans cost multiples of it. None where it is too small to be of use."""
    numbers = [Fraction(value) for value in np.unique(cost[cost > 0]).tolist()]
    if not numbers or max(number.denominator for number in numbers) > 2**20:
        return None
    denominator = max(number.denominator for number in numbers)  # powers of two
    return Fraction(math.gcd(*(int(number * denominator) for number in numbers)), denominator)
