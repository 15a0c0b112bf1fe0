"""What `auto` stands for: exact wherever the recursion or the cuts are likely to get to the end, else the portfolio."""

from __future__ import annotations

from yardline.models.customization.data import Customization
from yardline.models.registry import Kind
from yardline.solvers.automatic import chooser
from yardline.solvers.customization.exact import size
from yardline.solvers.customization.recursion import seconds_needed

FEW_ARCS = 50_000


@chooser("customization")
def choose(kind: Kind, instance: Customization, time_limit: float) -> str:
    """The method or bound for an instance and the time there is."""
    if kind == "bound":
        return "best"
    within = seconds_needed(instance) < 0.5 * time_limit or size(instance) <= FEW_ARCS
    return "exact" if within else "portfolio"
