"""What `auto` stands for: the exact method and its tree where they are within reach, otherwise the best there is beyond."""

from __future__ import annotations

from yardline.models.instance import Instance
from yardline.models.problem import problem_of
from yardline.models.registry import Kind

AUTO = "auto"

WITHIN_REACH = 150_000
"""Columns of an integer program, per minute of time, whose relaxation is solved quickly enough to branch on."""


def choose(kind: Kind, instance: Instance, time_limit: float) -> str:
    """The method or bound that suits an instance and the time there is."""
    size = problem_of(instance).part("assembly").size(instance)
    near = size <= WITHIN_REACH * min(10.0, max(0.1, time_limit / 60))
    if kind == "method":
        return "exact" if near else "portfolio"
    return "tree" if near else "lp"
