"""Methods and bounds run in the test's own process: quick, and without the worker between them and the test."""

from __future__ import annotations

from typing import Any

import numpy as np

from yardline.models import registry
from yardline.models.instance import Instance, Solution
from yardline.models.method import Answer, Run


def call(kind: Any, instance: Instance, name: str, *, seed: int = 0, certify: bool = False, **options: Any) -> Answer:
    """The answer of a registered method or bound; the clock is no part of these tests, and compiling may take long."""
    entry = registry.find(kind, instance.problem, name)
    extra = {"run": Run(time_limit=600, seed=seed, certify=certify)} if entry.wants_run else {}
    found = entry.function(instance, np.random.default_rng(seed), **options, **extra)
    return found if isinstance(found, Answer) else Answer(solution=found)


def method(instance: Instance, name: str, **settings: Any) -> Answer:
    return call("method", instance, name, **settings)


def bound(instance: Instance, name: str, **settings: Any) -> Answer:
    return call("bound", instance, name, **settings)


def plan_of(answer: Answer) -> Solution:
    assert answer.solution is not None, answer
    return answer.solution
