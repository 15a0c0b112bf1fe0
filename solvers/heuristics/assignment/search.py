"""Local search on plans: ruin and recreate. What leaves is a leaf's whole audience, or those at one side of a box.

A round: some subscribers leave, boxes shrink to what they must still hold, also those of inner brokers, then
everybody comes back to where filters grow least (fewest candidate leaves first, noise between equals). Kept if it is not dearer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator

from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.assignment.judge import evaluate
from yardline.models.checks import Indices
from yardline.models.method import Run
from yardline.solvers.heuristics.assignment.rising import open_sets
from yardline.solvers.heuristics.assignment.state import Growing, empty

REPORTED, PATIENCE = 2_000, 5_000
"""Rounds between reports, and rounds without a gain after which it ends."""


@dataclass(slots=True)
class Search:
    """A plan that changes: who is where, and the filters."""

    instance: Assignment
    caps: Indices
    state: Growing
    where: Indices
    lists: tuple[Indices, ...] = ()  # loads, head, after, before
    sets: Any = None
    few: Any = None  # candidate leaves of everybody
    noise: float = 4.0
    cost: float = field(default=0.0)

    @classmethod
    def of(cls, instance: Assignment, plan: AssignmentPlan, caps: Indices) -> Search:
        """From a valid plan; its boxes are kept where they are nested one by one, which all methods here do."""
        state = empty(instance)
        for b in range(instance.n):
            low, high = plan.boxes(b)
            state.low[b, : len(low)], state.high[b, : len(low)], state.count[b] = low, high, len(low)
        return cls.begun(instance, state, plan.leaf, caps)

    @classmethod
    def begun(cls, instance: Assignment, state: Growing, leaf: Indices, caps: Indices) -> Search:
        """From filters and the leaves of everybody (-1: nowhere yet)."""
        from yardline.solvers.heuristics.assignment import _search

        for b in range(instance.n):
            boxes = (state.low[b], state.high[b], state.count[b])
            state.size[b] = _search.size_of(*boxes, state.edges, state.cells, state.table)
        position = np.full(instance.n + 1, -1, dtype=np.int64)
        position[instance.leaves] = np.arange(len(instance.leaves))
        where, many = position[leaf], len(instance.leaves)
        lists = tuple(np.zeros(size, np.int64) for size in (many, many, instance.m, instance.m))
        _search.listed(where, *lists)
        sets = open_sets(instance)
        few = sets.sum(axis=1)[limits.candidates(instance).of].astype(np.float64)
        return cls(instance, caps, state, where, lists, sets, few, cost=float(state.size.sum()))

    def inserted(self, pool: Indices) -> bool:
        """Put some who are nowhere to where filters grow least, fewest candidates first; False: somebody found no room."""
        return self._recreated(pool[np.argsort(self.few[pool], kind="stable")])

    def _recreated(self, pool: Indices) -> bool:
        from yardline.solvers.heuristics.assignment import _search

        instance, leaves = self.instance, self.instance.leaves
        done = _search.recreate(
            *(pool, self.sets, limits.candidates(instance).of, instance.low, instance.high, self.caps),
            *((instance.kappa * instance.m)[leaves], leaves, self.where, *self.lists),
            *(instance.parent, *self.state.arrays()),
        )
        self.cost = self.cost if not done else float(self.state.size.sum())
        return bool(done)

    def round(self, rng: Generator, most: int) -> bool:
        """One round; whether anything was kept."""
        from yardline.solvers.heuristics.assignment import _search

        saved = [array.copy() for array in (self.state.low, self.state.high, self.state.count, self.state.size)]
        pool, old = self._ruin(rng, most)
        order = np.argsort(self.few[pool] + self.noise * rng.random(len(pool)), kind="stable")
        if (self.instance.level > 0).any():
            inner = np.ones(self.instance.n, dtype=bool)
            inner[self.instance.leaves] = False
            again = _search.rebuilt if rng.random() < 0.05 else _search.tightened
            again(np.array(self.instance.top_down), inner, self.instance.parent, *self.state.arrays())
        known = self.cost
        done = self._recreated(pool[order])
        cost, self.cost = float(self.state.size.sum()), known
        if done and cost <= self.cost * (1 + 1e-12):
            self.cost = cost
            return True
        _search.restore(pool, old, self.where, *self.lists)
        for array, kept in zip(
            (self.state.low, self.state.high, self.state.count, self.state.size), saved, strict=True
        ):
            array[:] = kept
        return False

    def _ruin(self, rng: Generator, most: int) -> tuple[Indices, Indices]:
        """Who leaves, and from where: all of a few leaves, or those at a side of a box."""
        from yardline.solvers.heuristics.assignment import _search

        instance, state = self.instance, self.state
        pool, old, filled = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64), 0
        common = (instance.leaves, self.where, *self.lists, state.low, state.high, state.count, state.size, pool)
        if rng.random() < 0.3:
            for l in rng.choice(
                len(instance.leaves), size=min(len(instance.leaves), int(rng.integers(1, 5))), replace=False
            ):
                begun, filled = filled, _search.whole(int(l), most, *common, filled)
                old[begun:filled] = l
        else:
            for l in rng.choice(
                len(instance.leaves), size=min(len(instance.leaves), int(rng.integers(1, 4))), replace=False
            ):
                b = int(instance.leaves[l])
                if state.count[b]:
                    share = float(rng.choice([0.01, 0.1, 0.3, 1.0]))
                    side = (
                        int(rng.integers(state.count[b])),
                        int(rng.integers(instance.d)),
                        bool(rng.random() < 0.5),
                        share,
                    )
                    begun, filled = (
                        filled,
                        _search.shave(
                            *(int(l), *side, most, instance.low, instance.high, *common, filled),
                            *(state.edges, state.cells, state.table),
                        ),
                    )
                    old[begun:filled] = l
        return pool[:filled], old[:filled]

    def plan(self) -> AssignmentPlan:
        """The plan as it is now."""
        return self.state.plan(self.instance, self.instance.leaves[self.where])


def searched(
    instance: Assignment, plan: AssignmentPlan, caps: Indices, rng: Generator, run: Run, *, rounds: int, until: float
) -> AssignmentPlan:
    """A valid plan after so many rounds, or when only `until` seconds are left; the plan itself where nothing was gained."""
    search = Search.of(instance, plan, caps)
    most = max(10, min(instance.m, 4 * instance.m // max(1, len(instance.leaves)) + 200))
    reported = search.cost
    gained, known = 0, search.cost
    for k in range(rounds):
        if run.left() <= until or k - gained > PATIENCE:
            break
        search.round(rng, most)
        if search.cost < known * (1 - 1e-9):
            gained, known = k, search.cost
        if k % REPORTED == REPORTED - 1 and search.cost < reported:
            reported = search.cost
            run.report(f"round {k + 1}", solution=search.plan(), value=reported)
    return better(instance, search.plan(), plan)


def better(instance: Assignment, one: AssignmentPlan, two: AssignmentPlan) -> AssignmentPlan:
    """The first of two plans if it is valid and no dearer, else the second."""
    first, second = evaluate(instance, one), evaluate(instance, two)
    return one if first.valid and (first.cost <= second.cost or not second.valid) else two
