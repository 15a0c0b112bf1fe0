"""A program in exact arithmetic, and the bound that row multipliers prove.

For min c'x, L <= Ax <= U, l <= x <= u and ANY y: every feasible x has c'x = y'Ax + (c - A'y)'x, hence

    c'x  >=  sum_r y[r] * (L[r] if y[r] > 0 else U[r])  +  sum_j min(d[j] * l[j], d[j] * u[j]),    d = c - A'y,

whatever a solver's tolerances did to y. With c = 0 and a positive result there is no feasible x (Farkas).
A float64 is an integer over a power of two, so everything is integer arithmetic over one common power.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np

from yardline.models.checks import Vector
from yardline.models.program import Program

BITS, MOST_BITS = 40, 200
"""Multipliers are integers over 2**BITS, or over more where costs are tiny."""


def bits_of(program: Program) -> int:
    """The precision of multipliers: 2**-BITS relative to the largest cost, where that is below 1."""
    largest = float(np.abs(program.cost).max(initial=0.0))
    return min(MOST_BITS, max(BITS, BITS - math.frexp(largest)[1])) if largest > 0 else BITS


class Refused(ValueError):
    """A certificate is well-formed but proves nothing: why."""


class ExactProgram:
    """The numbers of a program as integers over 2**shift."""

    def __init__(self, program: Program) -> None:
        self.program = program
        finite = [array[np.isfinite(array)] for array in _arrays(program)]
        self.shift = max([0, *(_exponent(array) for array in finite)])
        self.cost = self._integers(program.cost)
        self.data = self._integers(program.matrix.data)
        self.indices = program.matrix.indices.tolist()
        self.starts = program.matrix.indptr.tolist()
        self.low, self.high = self._integers(program.col_low), self._integers(program.col_high)
        self.offset = Fraction(program.offset)

    def _integers(self, array: Vector) -> list[int]:
        return [self._integer(value) for value in array.tolist()]

    def _integer(self, value: float) -> int:
        numerator, denominator = value.as_integer_ratio()
        return numerator * ((1 << self.shift) // denominator)

    def bound(
        self,
        duals: Iterable[tuple[int, int]],
        *,
        bits: int = BITS,
        ray: bool = False,
        narrowed: Mapping[int, tuple[int, int]] | None = None,
    ) -> Fraction:
        """What multipliers (row, integer over 2**bits) prove, with some columns' bounds narrowed to whole numbers."""
        reduced = [0] * len(self.cost) if ray else [c << bits for c in self.cost]
        total = 0
        for row, y in duals:
            if y == 0:
                continue
            total += y * self._side(row, y)
            for position in range(self.starts[row], self.starts[row + 1]):
                reduced[self.indices[position]] -= y * self.data[position]
        total <<= self.shift
        low, high = self.low, self.high
        total += sum(d * (low[j] if d > 0 else high[j]) for j, d in enumerate(reduced) if d)
        for j, (below, above) in (narrowed or {}).items():
            d = reduced[j]
            total += d * ((below << self.shift) - low[j] if d > 0 else (above << self.shift) - high[j])
        proved = Fraction(total, 1 << (2 * self.shift + bits))
        return proved if ray else proved + self.offset

    def _side(self, row: int, y: int) -> int:
        """The row's limit that a multiplier of this sign speaks about."""
        value = float(self.program.row_low[row] if y > 0 else self.program.row_high[row])
        if not np.isfinite(value):
            raise Refused(f"row {self.program.rows[row]} has no {'lower' if y > 0 else 'upper'} limit to multiply")
        return self._integer(value)

    def value(self, point: Vector) -> Fraction:
        """The objective at a point, exactly."""
        numbers = zip(self.cost, point.tolist(), strict=True)
        return self.offset + sum(
            (Fraction(c, 1 << self.shift) * Fraction(x) for c, x in numbers if c and x), Fraction(0)
        )

    def feasible(self, point: Vector) -> bool:
        """Whether a point holds in every row and column exactly, integrality included."""
        x = [Fraction(value) for value in point.tolist()]
        program, one = self.program, 1 << self.shift
        if any(flag and value.denominator != 1 for flag, value in zip(program.integer.tolist(), x, strict=True)):
            return False
        if any(not low <= value * one <= high for low, value, high in zip(self.low, x, self.high, strict=True)):
            return False
        for row in range(program.shape[0]):
            span = range(self.starts[row], self.starts[row + 1])
            activity = sum((self.data[p] * x[self.indices[p]] for p in span), Fraction(0)) / one
            low, high = float(program.row_low[row]), float(program.row_high[row])
            if not (low == -np.inf or activity >= Fraction(low)) or not (high == np.inf or activity <= Fraction(high)):
                return False
        return True


def _arrays(program: Program) -> tuple[Vector, ...]:
    return (
        *(program.cost, program.matrix.data, program.row_low, program.row_high),
        *(program.col_low, program.col_high),
    )


def _exponent(array: Vector) -> int:
    """The least power of two that makes all numbers whole."""
    return max((value.as_integer_ratio()[1].bit_length() - 1 for value in np.unique(array).tolist()), default=0)


def common_step(program: Program) -> Fraction | None:
    """The largest number that divides every cost, where every column with a cost is whole; None where there is none.

    Then all feasible points cost offset + a multiple of it, and a bound may be rounded up to the next one.
    """
    costly = program.cost != 0
    if not costly.any() or not program.integer[costly].all():
        return None
    costs = [Fraction(value) for value in np.unique(np.abs(program.cost[costly])).tolist()]
    denominator = max(cost.denominator for cost in costs)  # powers of two
    return Fraction(int(np.gcd.reduce([int(cost * denominator) for cost in costs], dtype=object)), denominator)


def rounded_up(bound: Fraction, offset: Fraction, step: Fraction) -> Fraction:
    """The least offset + multiple of step that is not below the bound."""
    steps = (bound - offset) / step
    return offset + step * -(-steps.numerator // steps.denominator)


def as_float(exact: Fraction) -> float:
    """The largest float64 that does not exceed an exact bound."""
    try:
        value = float(exact)
    except OverflowError:
        return sys.float_info.max if exact > 0 else -math.inf
    return value if Fraction(value) <= exact else float(np.nextafter(value, -np.inf))
