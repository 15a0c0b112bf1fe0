"""The paper's iterative algorithm: again and again one node is picked, and the plan around it chosen anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.random import Generator

from yardline.models import checks, registry
from yardline.models.checks import Indices, Vector
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.feasibility import why_infeasible
from yardline.models.customization.judge import evaluate
from yardline.models.method import Answer, Run, Unsuitable
from yardline.solvers.customization.paper import transmission_floor
from yardline.solvers.customization.plans import LINK, Costs, entries_of_plan, plan_of_entries
from yardline.solvers.heuristics.customization.baselines import all_in_leaves, all_in_root
from yardline.solvers.heuristics.customization.single_format import single_format
from yardline.solvers.heuristics.customization.stump import Stump, needs, paid, replaced, stump, tree

Select = Literal["random", "slack"]
Start = Literal["all-in-root", "all-in-leaves", "single-format", "best"]
MOST_FORMATS = 200
MOST_DEPTH = 4


@registry.method("customization", "iterative", paper="004 section 5 (Algorithms 2 and 3)")
def iterative(
    instance: Customization,
    rng: Generator,
    *,
    run: Run,
    select: Select = "slack",
    start: Start = "best",
    iterations: int = 500,
    depth: int = 1,
    steiner: Literal["charikar", "exact"] = "charikar",
) -> CustomizationPlan | Answer:
    """From a first plan, picks a node and chooses the plan around it anew by a Steiner tree, again and again.

    select: the node, at random or by the largest slack over the paper's bound. start: the first plan. iterations: how often.
    depth: how far down the neighbourhood of a node goes (the paper: 1). steiner: the approximation of the paper, or exact.
    """
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    checks.integer(depth, "depth", low=1, high=MOST_DEPTH)
    if instance.m > MOST_FORMATS:
        raise Unsuitable(f"there are {instance.m:,} formats, and the tables of this method hold {MOST_FORMATS}")
    refining = Refining.of(instance, first_plan(instance, rng, start), depth, steiner)
    for _ in refining.costs_along(rng, select, iterations):
        if run.left() < 0.05 * run.time_limit:
            break
    return plan_of_entries(instance, refining.entry)


def first_plan(instance: Customization, rng: Generator, start: Start) -> CustomizationPlan:
    """One of the paper's first plans, or the cheapest of the three."""
    makers = {"all-in-root": all_in_root, "all-in-leaves": all_in_leaves, "single-format": single_format}
    chosen = [makers[start]] if start in makers else list(makers.values())
    plans = [maker(instance, rng) for maker in chosen]
    return min((p for p in plans if isinstance(p, CustomizationPlan)), key=lambda p: evaluate(instance, p).cost)


@dataclass(eq=False)
class Refining:
    """A plan in the course of being refined. A node whose surroundings gave nothing is not picked again before they change."""

    costs: Costs
    entry: Indices
    depth: int
    steiner: Literal["charikar", "exact"]
    children: list[Indices]
    floor: Vector  # the paper's bound on each link
    inner: Indices
    parts: dict[int, Stump] = field(default_factory=dict)
    stale: set[int] = field(default_factory=set)

    @classmethod
    def of(
        cls, instance: Customization, plan: CustomizationPlan, depth: int, steiner: Literal["charikar", "exact"]
    ) -> Refining:
        """A plan ready to be refined."""
        costs = Costs.of(instance)
        lists: list[list[int]] = [[] for _ in range(instance.n)]
        for v in (np.flatnonzero(instance.awaiting[1:]) + 1).tolist():
            lists[instance.parent[v]].append(v)
        children = [np.array(sorted(c), dtype=np.int64) for c in lists]
        inner = np.array([v for v in costs.order.tolist() if len(children[v]) or v == 0], dtype=np.int64)
        entry = entries_of_plan(instance, plan)
        return cls(costs, entry, depth, steiner, children, transmission_floor(instance), inner)

    def costs_along(self, rng: Generator, select: Select, iterations: int) -> Iterator[float]:
        """Refine; the cost of the plan after each iteration. Ends early when no node has anything left to give."""
        total = self.costs.total(self.entry)
        for _ in range(iterations):
            i = self._picked(rng, select)
            if i is None:
                return
            total -= self.refine(i, rng)
            yield total

    def _picked(self, rng: Generator, select: Select) -> int | None:
        if select == "random":
            return int(rng.choice(self.inner))
        fresh = np.array([v for v in self.inner.tolist() if v not in self.stale], dtype=np.int64)
        return int(fresh[self._slack()[fresh].argmax()]) if len(fresh) else None

    def _slack(self) -> Vector:
        """What each node's surroundings cost, less the paper's bound on their links (and 0 for conversions)."""
        place, f = np.nonzero(self.entry >= 0)
        work = self.costs.work[place] * self.costs.price[self.entry[place, f], f]
        own: Vector = np.bincount(place, weights=work, minlength=len(self.entry)).astype(np.float64)
        link = np.where(self.entry == LINK, self.costs.send, 0.0).sum(axis=1) - self.floor
        result: Vector = own + 0.0
        reach: Vector = own + link
        for _ in range(self.depth):  # once more for each level of the stump
            below = np.zeros(len(own))
            np.add.at(below, self.costs.parent[1:], reach[1:])
            result += below
            reach = below
        return result

    def refine(self, i: int, rng: Generator) -> float:
        """Choose the plan around a node anew; what that gains (0: it stays as it is)."""
        if i not in self.parts:
            self.parts[i] = stump(self.costs, self.children, i, self.depth)
        part = self.parts[i]
        entered = tree(self.costs, self.entry, part, self.steiner, rng)
        self.stale.add(i)
        if entered is None:
            return 0.0
        before, kept = paid(self.costs, self.entry, part), self.entry[part.nodes]
        self.entry[part.nodes] = replaced(self.entry, part, entered, needs(self.costs, self.entry, part))
        gain = before - paid(self.costs, self.entry, part)
        if gain <= 1e-9 * max(1.0, before):
            self.entry[part.nodes] = kept
            return 0.0
        self._freshen(part)
        return gain

    def _freshen(self, part: Stump) -> None:
        """The nodes whose surroundings overlap with what has changed may be picked again."""
        for v in part.nodes.tolist():
            for _ in range(self.depth + 2):
                self.stale.discard(v)
                v = int(self.costs.parent[v])
                if v < 0:
                    break
