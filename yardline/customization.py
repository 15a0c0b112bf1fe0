"""`yl.customization`: the data of the problem, and several publications planned together."""

from __future__ import annotations

from yardline.decomposition.customization.together import Capacity, Together, check_together, together
from yardline.models.customization.data import INSTANCE, SOLUTION, Customization, CustomizationPlan

__all__ = (
    "INSTANCE",
    "SOLUTION",
    "Capacity",
    "Customization",
    "CustomizationPlan",
    "Together",
    "check_together",
    "together",
)
