"""What `auto` stands for: the exact method and its tree where they are within reach, otherwise the best there is beyond.

A problem whose integer program does not reach far names its own bound for large instances by calling it `best`; one that
chooses altogether differently registers a chooser.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from yardline.models import registry
from yardline.models.instance import Instance
from yardline.models.problem import problem_of
from yardline.models.registry import Kind

AUTO = "auto"

Chooser = Callable[[Kind, Any, float], str]
_choosers: dict[str, Chooser] = {}

WITHIN_REACH = 150_000
"""Columns of an integer program, per minute of time, whose relaxation is solved quickly enough to branch on."""


def chooser(problem: str) -> Callable[[Chooser], Chooser]:
    """Register how a problem chooses among its own methods and bounds."""

    def decorate(function: Chooser) -> Chooser:
        _choosers[problem] = function
        return function

    return decorate


def choose(kind: Kind, instance: Instance, time_limit: float) -> str:
    """The method or bound that suits an instance and the time there is."""
    registry.load(kind, instance.problem)
    if instance.problem in _choosers:
        return _choosers[instance.problem](kind, instance, time_limit)
    size = problem_of(instance).part("assembly").size(instance)
    near = size <= WITHIN_REACH * min(10.0, max(0.1, time_limit / 60))
    if kind == "method":
        return "exact" if near else "portfolio"
    if near:
        return "tree"
    return "best" if any(entry.name == "best" for entry in registry.entries("bound", instance.problem)) else "lp"
