"""Everybody to the nearest leaf, or to the nearest that is not full; interests play no part in the choice."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from yardline.models import registry
from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.checks import Indices
from yardline.solvers.heuristics.assignment.state import empty


@registry.method("assignment", "closest", paper="002 Closest")
def closest(instance: Assignment, rng: Generator) -> AssignmentPlan:
    """The nearest leaf by the last hop among those not full at beta_max; latency limits are not looked at.

    Filters: each interest enlarges the box that grows least.
    """
    return _nearest(instance, limits.caps(instance)[instance.leaves])


@registry.method("assignment", "closest-no-balance", paper="002 Closest-b")
def closest_no_balance(instance: Assignment, rng: Generator) -> AssignmentPlan:
    """The nearest leaf by the last hop, full or not; neither latency nor load limits are looked at.

    Filters: each interest enlarges the box that grows least.
    """
    return _nearest(instance, np.full(len(instance.leaves), instance.m, dtype=np.int64))


def _nearest(instance: Assignment, caps: Indices) -> AssignmentPlan:
    from yardline.solvers.heuristics.assignment import _choosing

    position = _choosing.closest(instance.at, instance.broker_at[instance.leaves], caps)
    return filled(instance, instance.leaves[position])


def filled(instance: Assignment, leaf: Indices) -> AssignmentPlan:
    """The plan of leaves that are chosen already: each interest enlarges the box that grows least, up to the publisher."""
    from yardline.solvers.heuristics.assignment import _filters

    state = empty(instance)
    _filters.fill(leaf, instance.low, instance.high, state)
    return state.plan(instance, leaf)
