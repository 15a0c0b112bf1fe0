"""Caps that rise step by step, as the greedy methods let them when they are stuck."""

from __future__ import annotations

import numpy as np

from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment
from yardline.models.checks import Indices


def rising_caps(instance: Assignment, load: str, steps: int) -> Indices:
    """Caps of the leaves, from beta (`desired`) to beta_max in so many steps, or beta_max at once (`max`)."""
    beta = instance.beta if load == "desired" else instance.beta_max
    factors = np.linspace(beta, instance.beta_max, steps + 1) if beta < instance.beta_max else [instance.beta_max]
    rows = [limits.caps(instance, float(factor))[instance.leaves] for factor in factors[:-1]]
    return np.array([*rows, limits.caps(instance)[instance.leaves]])
