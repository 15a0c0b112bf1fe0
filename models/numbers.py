"""Where the last digits are forgiven. The forgiveness is part of the problems: judge, methods and bounds share it.

A limit is widened once, in floating point, and exact from then on; so no valid plan is ever below a valid bound.
"""

EPS = 1e-9
"""Relative (and, for sums against a limit, absolute) widening of every limit."""

SAME = 1e-9
"""Two computations of one cost differ by no more than this, relatively."""

OPTIMAL = 1e-6
"""Bound and cost that agree within this, relatively, are called optimal: what open solvers can promise."""


def widened(limit: float) -> float:
    """The limit that a sum of rates or loads is held against.

    >>> widened(4.0) > 4.0
    True
    """
    return limit * (1 + EPS) + EPS


def relative_gap(cost: float, bound: float) -> float:
    """(cost - bound) / cost; 0 when both are 0.

    >>> relative_gap(4.0, 3.0)
    0.25
    >>> relative_gap(0.0, 0.0)
    0.0
    """
    return 0.0 if cost == bound else (cost - bound) / abs(cost) if cost else float("inf")


def meets(bound: float, cost: float) -> bool:
    """Whether a bound proves a cost optimal."""
    return bound >= cost - OPTIMAL * abs(cost)


def ratio(numerator: float, denominator: float) -> float | None:
    """A reported quotient: 0/0 counts as 0, x/0 is None."""
    if denominator:
        return numerator / denominator
    return None if numerator else 0.0
