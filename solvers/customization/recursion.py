"""A least plan by the recursion over sets of formats (solvers/certificates/sets.py has its statement and its tables)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

import yardline.solvers.kernels  # noqa: F401  so that the clock stands still while the checker's loops are compiled, too
from yardline.models.checks import Indices
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.subsets import Subsets, subsets, table
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certificates.sets import MOST_FORMATS, Steps, Tables, recursion
from yardline.solvers.certificates.whole_costs import worth

STEPS_PER_SECOND = 3e8
"""About how many pairs of set and format a second does; the first call also has to be compiled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """A least plan and its cost, as the recursion adds it up."""

    plan: CustomizationPlan
    bound: float
    exact: Fraction


def seconds_needed(instance: Customization) -> float:
    """About how long the recursion takes; infinite where it does not serve."""
    m, nodes = len(subsets(instance).formats), int(instance.awaiting.sum())
    return float("inf") if m > MOST_FORMATS else nodes * m * 2.0**m / STEPS_PER_SECOND


def least_plan(instance: Customization, *, going: Callable[[], bool] = lambda: True) -> Least | None:
    """A least plan, or None where `going` said to stop before."""
    sets = subsets(instance)
    tables = recursion(instance, sets, keep=True, going=going)
    if tables is None:
        return None
    exact = worth(tables.least, tables.bits)
    return Least(plan=_plan(instance, sets, tables), bound=as_float(exact), exact=exact)


def _plan(instance: Customization, sets: Subsets, tables: Tables) -> CustomizationPlan:
    """Follow the steps from the root down."""
    m = len(sets.formats)
    price = table(instance, sets, instance.conversion_cost, np.inf)
    number = table(instance, sets, np.arange(len(instance.conversions)), -1)
    sends: list[tuple[int, int]] = []
    converts: list[tuple[int, int]] = []
    ended: dict[int, int] = {}  # what each node has in the end
    for i in sets.order[::-1].tolist():
        A = 1 << sets.source if i == 0 else _sent(tables.left[i], ended[int(instance.parent[i])], m)
        sends += [(i, f) for f in range(m) if i and (A >> f) & 1]
        while (place := int(tables.made[i][A])) < m:
            f = _bit((1 << m) - 1 - A, place)
            e = min((e for e in range(m) if (A >> e) & 1), key=lambda e: price[e, f])
            converts.append((i, int(number[e, f])))
            A |= 1 << f
        ended[i] = A
    links = np.array(sends, dtype=np.int64).reshape(-1, 2)
    links[:, 1] = sets.formats[links[:, 1]]
    return CustomizationPlan.of(
        instance,
        sends=_rows(links, (instance.n, instance.m)),
        converts=_rows(np.array(converts, dtype=np.int64).reshape(-1, 2), (instance.n, len(instance.conversions))),
    )


def _sent(left: Steps, B: int, m: int) -> int:
    """The part of B that goes down the link."""
    while (place := int(left[B])) < m:
        B ^= 1 << _bit(B, place)
    return B


def _bit(A: int, place: int) -> int:
    """The format at a place of a set."""
    for _ in range(place):
        A &= A - 1
    return (A & -A).bit_length() - 1


def _rows(pairs: Indices, shape: tuple[int, int]) -> csr_array:
    return csr_array((np.ones(len(pairs), dtype=np.int64), (pairs[:, 0], pairs[:, 1])), shape=shape)
