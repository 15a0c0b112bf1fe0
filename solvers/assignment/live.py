"""A plan that lives: subscribers join, leave and change; the plan stays valid at once, and is improved now and then.

Load caps stay those of the last `reoptimise` (at first: of the instance). A joining subscriber goes to the leaf near
enough, with room, whose filters up to the publisher grow least; a leaving one leaves its filters as they are, until
`reoptimise` lets them shrink.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import default_rng

from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.checks import Indices, Vector
from yardline.models.method import Run
from yardline.models.numbers import EPS, SAME
from yardline.solvers.heuristics.assignment.people import seats
from yardline.solvers.heuristics.assignment.search import Search, dice_of

CHUNK, PATIENCE = 50, 5_000
"""Rounds between two looks at the clock, and rounds without a gain after which improving ends."""


class Live:
    """Subscribers by number: those of the instance first, then whoever joins."""

    def __init__(self, instance: Assignment, solution: AssignmentPlan) -> None:
        self._search = Search.of(instance, solution, limits.caps(instance)[instance.leaves])
        self._base, self._caps = instance, self._search.caps
        self._at, self._low, self._high = (np.array(a) for a in (instance.at, instance.low, instance.high))
        self._limit = np.array(instance.max_latency) if instance.max_latency is not None else np.zeros(instance.m)
        self._leaf: Indices = np.array(solution.leaf)
        self._there = np.ones(instance.m, dtype=bool)
        self._count = instance.m
        self._seats = seats(instance)
        self._seats.loads[:] = np.bincount(self._leaf, minlength=instance.n)[instance.leaves]
        self._way = limits.offsets(instance)[instance.leaves]

    def join(self, at: Any, low: Any, high: Any, *, max_latency: float | None = None) -> int:
        """A new subscriber; its number. A ValueError says why where no leaf can take it."""
        place, a, c = (np.asarray(v, dtype=np.float64) for v in (at, low, high))
        if place.shape != (self._base.t,) or a.shape != (self._base.d,) or a.shape != c.shape or not (a <= c).all():
            raise ValueError(f"subscriber at {at} wants {low} to {high}: expected a point and a box with low <= high")
        leaf = self._placed(place, a, c, max_latency)
        s = self._room()
        self._at[s], self._low[s], self._high[s], self._leaf[s] = place, a, c, self._base.leaves[leaf]
        self._limit[s], self._there[s] = max_latency or 0.0, True
        return s

    def leave(self, s: int) -> None:
        """A subscriber is gone; filters stay as they are until `reoptimise`."""
        self._known(s)
        self._there[s] = False
        self._seats.loads[np.searchsorted(self._base.leaves, self._leaf[s])] -= 1

    def change(self, s: int, low: Any, high: Any) -> None:
        """A subscriber wants something else from now on; it may get another leaf."""
        self._known(s)
        before = int(np.searchsorted(self._base.leaves, self._leaf[s]))
        a, c = (np.asarray(v, dtype=np.float64) for v in (low, high))
        if a.shape != (self._base.d,) or a.shape != c.shape or not (a <= c).all():
            raise ValueError(f"subscriber {s} wants {low} to {high}: expected a box with low <= high")
        self._seats.loads[before] -= 1
        try:
            leaf = self._placed(self._at[s], a, c, float(self._limit[s]))
        except ValueError:
            self._seats.loads[before] += 1
            raise
        self._low[s], self._high[s], self._leaf[s] = a, c, self._base.leaves[leaf]

    def reoptimise(self, max_moves: int = 1000, *, seconds: float = 10.0, seed: int = 0) -> int:
        """Improve the plan, moving at most so many; how many got another leaf. Caps become those of who is there now."""
        instance, leaf = self.instance, self._leaf[self._who()]
        loads = np.bincount(leaf, minlength=instance.n)[instance.leaves]
        caps = np.maximum(limits.caps(instance)[instance.leaves], loads)
        search, dice = Search.begun(instance, self._search.state, leaf, caps), dice_of(default_rng(seed))
        run = Run(time_limit=seconds)
        gained = 0
        while run.left() > 0 and gained < PATIENCE:
            known = search.cost
            search.rounds(CHUNK, dice, moves=max_moves)
            gained = 0 if search.cost < known * (1 - SAME) else gained + CHUNK
        self._search, self._base, self._caps = search, instance, caps
        self._leaf[self._who()] = instance.leaves[search.where]
        self._seats = seats(instance)
        self._seats.loads[:] = search.seats.loads
        return search.moved

    @property
    def instance(self) -> Assignment:
        """Who is there now, as an instance."""
        who = self._who()
        limit = self._limit[who] if self._base.max_latency is not None else None
        return replace(self._base, at=self._at[who], low=self._low[who], high=self._high[who], max_latency=limit)

    @property
    def solution(self) -> AssignmentPlan:
        """The plan of who is there now."""
        return self._search.state.plan(self.instance, self._leaf[self._who()])

    def _who(self) -> Indices:
        return np.flatnonzero(self._there[: self._count])

    def _known(self, s: int) -> None:
        if not 0 <= s < self._count or not self._there[s]:
            raise ValueError(f"subscriber {s} is not there")

    def _placed(self, at: Vector, low: Vector, high: Vector, max_latency: float | None) -> int:
        """The leaf (by position) for an interest, which has one more now; filters grow."""
        from yardline.solvers.heuristics.assignment import _choosing

        base, state = self._base, self._search.state
        latency = np.sqrt(((base.broker_at[base.leaves] - at) ** 2).sum(axis=1)) + self._way
        limit = latency.min() * (1 + base.max_delay) if base.max_delay is not None else (max_latency or 0.0)
        near = latency <= limit * (1 + EPS)
        mine = np.flatnonzero(near)
        pick, room = _choosing.held(mine, low, high, 1, self._caps, self._seats, state)
        if not room:
            raise ValueError(
                f"{len(mine)} leaves are near enough, and none of them has room: reoptimise, or raise load.max"
            )
        return int(_choosing.seated(mine, low, high, pick, self._caps, self._seats, state))

    def _room(self) -> int:
        """The next number, with space for what belongs to it."""
        if self._count == len(self._there):
            more = max(16, self._count)
            for name in ("_at", "_low", "_high", "_limit", "_leaf", "_there"):
                array = getattr(self, name)
                setattr(self, name, np.concatenate([array, np.zeros((more, *array.shape[1:]), dtype=array.dtype)]))
        self._count += 1
        return self._count - 1
