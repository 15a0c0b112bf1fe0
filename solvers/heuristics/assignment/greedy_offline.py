"""Gr*: one subscriber after the other, those with the fewest candidate leaves first, to where filters grow least.

The growth counts on all brokers between the leaf and the publisher: a box that grows must lie in one box of the
parent, which grows as little as it can; an unused box may be opened. Ties go to the least load / (kappa m). The order
is updated whenever a leaf fills up. When somebody has no leaf left, the load factor rises from beta towards beta_max,
step by step; beyond that the plan breaks the cap and the judge says so.
"""

from __future__ import annotations

from typing import Literal

from numpy.random import Generator

from yardline.models import checks, registry
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.solvers.heuristics.assignment.people import everybody, seats
from yardline.solvers.heuristics.assignment.rising import rising_caps
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
    state, caps = empty(instance), rising_caps(instance, load, steps)
    position = _choosing.offline(everybody(instance), caps, seats(instance), state)
    return state.plan(instance, instance.leaves[position])
