"""Gr and Gr without latency: one subscriber after the other, in the order given, to where filters grow least.

The rule is that of `greedy-offline`, without its order. When all candidate leaves are full at beta_max, `evict` says what
happens: nothing (the plan breaks the cap), or a random subscriber of one of those leaves makes room and is placed again,
next or after all others. The filter keeps the room that the evicted one had.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models import checks, registry
from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.solvers.heuristics.assignment.people import everybody, seats
from yardline.solvers.heuristics.assignment.rising import rising_caps
from yardline.solvers.heuristics.assignment.state import empty


@registry.method("assignment", "greedy-online", paper="002 Gr")
def greedy_online(
    instance: Assignment,
    rng: Generator,
    *,
    load: Literal["desired", "max"] = "desired",
    steps: int = 10,
    evict: Literal["none", "next", "later"] = "none",
    evictions: float = 1.0,
) -> AssignmentPlan:
    """In the order given, to the leaf whose filters up to the publisher grow least (best effort).

    load: `desired` starts at beta and rises to beta_max in so many steps when stuck; `max` allows beta_max at once.
    evict: whether a random subscriber makes room in a full leaf, and when that one is placed again;
    evictions: how many may be pushed out, as a multiple of the number of subscribers.
    """
    caps = rising_caps(instance, load, checks.integer(steps, "option steps", low=1))
    most = int(checks.number(evictions, "option evictions") * instance.m) if evict != "none" else 0
    return _online(instance, rng, None, caps, ("none", "next", "later").index(evict), most)


@registry.method("assignment", "greedy-no-latency", paper="002 Gr-l")
def greedy_no_latency(
    instance: Assignment, rng: Generator, *, load: Literal["desired", "max"] = "desired", steps: int = 10
) -> AssignmentPlan:
    """Gr without the latency limits: what they cost; its plans are valid only by luck."""
    caps = rising_caps(instance, load, checks.integer(steps, "option steps", low=1))
    return _online(instance, rng, np.ones_like(limits.candidates(instance).sets), caps, 0, 0)


def _online(
    instance: Assignment, rng: Generator, sets: NDArray[np.bool_] | None, caps: NDArray[np.int64], evict: int, most: int
) -> AssignmentPlan:
    from yardline.solvers.heuristics.assignment import _online

    state, dice = empty(instance), rng.integers(1, 2**62, 1).astype(np.uint64)
    position = _online.online(everybody(instance, sets), caps, seats(instance), evict, most, dice, state)
    return state.plan(instance, instance.leaves[position])
