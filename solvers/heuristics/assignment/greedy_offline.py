"""Gr*: one subscriber after the other, those with the fewest candidate leaves first, to where filters grow least.

The growth counts on all brokers between the leaf and the publisher: a box that grows must lie in one box of the
parent, which grows as little as it can; an unused box may be opened. Ties go to the least load / (kappa m). The order
is updated whenever a leaf fills up. When somebody has no leaf left, the load factor rises from beta towards beta_max,
step by step; beyond that the plan breaks the cap and the judge says so.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator

from yardline.models import checks, registry
from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.checks import Indices
from yardline.solvers.heuristics.assignment.state import empty


@registry.method("assignment", "greedy-offline", paper="002 Gr*")
def greedy_offline(
    instance: Assignment, rng: Generator, *, load: Literal["desired", "max"] = "desired", steps: int = 10
) -> AssignmentPlan:
    """Fewest choices first, to the leaf whose filters up to the publisher grow least (best effort).

    load: `desired` starts at beta and rises to beta_max in so many steps when stuck; `max` allows beta_max at once.
    """
    from yardline.solvers.heuristics.assignment import _choosing

    steps = checks.integer(steps, "option steps", low=1)
    found, leaves, state = limits.candidates(instance), instance.leaves, empty(instance)
    sets = found.sets.copy()
    sets[~sets.any(axis=1)] = True  # nobody serves them in time: anywhere, and the judge will say so
    position = _choosing.offline(
        *(sets, found.of, instance.low, instance.high, _rising_caps(instance, load, steps)),
        *((instance.kappa * instance.m)[leaves], leaves, instance.parent, *state.arrays()),
    )
    return state.plan(instance, leaves[position])


def _rising_caps(instance: Assignment, load: str, steps: int) -> Indices:
    """Caps of the leaves, step by step."""
    beta = instance.beta if load == "desired" else instance.beta_max
    factors = np.linspace(beta, instance.beta_max, steps + 1) if beta < instance.beta_max else [instance.beta_max]
    rows = [limits.caps(instance, float(factor))[instance.leaves] for factor in factors[:-1]]
    return np.array([*rows, limits.caps(instance)[instance.leaves]])
