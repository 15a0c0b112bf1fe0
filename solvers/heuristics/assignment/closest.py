"""Everybody to the nearest leaf that is not full; interests play no part in the choice."""

from __future__ import annotations

from numpy.random import Generator

from yardline.models import registry
from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.solvers.heuristics.assignment.state import empty


@registry.method("assignment", "closest", paper="002 Closest")
def closest(instance: Assignment, rng: Generator) -> AssignmentPlan:
    """The nearest leaf by the last hop among those not full at beta_max; latency limits are not looked at.

    Filters: each interest enlarges the box that grows least.
    """
    from yardline.solvers.heuristics.assignment import _choosing, _filters

    leaves = instance.leaves
    position = _choosing.closest(instance.at, instance.broker_at[leaves], limits.caps(instance)[leaves])
    leaf, state = leaves[position], empty(instance)
    _filters.fill(leaf, instance.low, instance.high, instance.parent, *state.arrays())
    return state.plan(instance, leaf)
