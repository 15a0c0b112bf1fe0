"""Loads as even as latency limits allow: the least feasible load factor, and a flow that meets it."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from yardline.models import registry
from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.assignment.flow import placed, spread_out
from yardline.models.assignment.load import least_factor
from yardline.models.method import Unsuitable
from yardline.solvers.heuristics.assignment.closest import filled


@registry.method("assignment", "balance", paper="002 Balance")
def balance(instance: Assignment, rng: Generator) -> AssignmentPlan:
    """The least possible load factor by max-flow; interests play no part in the choice."""
    factor = least_factor(instance)
    if not np.isfinite(factor):
        raise Unsuitable("some subscribers can use no leaf with a capacity, so no load factor is possible")
    found = limits.candidates(instance)
    counts = np.bincount(found.of, minlength=len(found.sets))
    flow = placed(found.sets, counts, limits.caps(instance, factor)[instance.leaves])
    return filled(instance, instance.leaves[spread_out(found.of, flow)])
