"""The paper's optimal algorithm, as a check on ours: every set of formats in, every set of formats out, at every node.

    P[i](In) = min over Out of S(In -> Out) + sum over children j of min over X in Out of T[j](X) + P[j](X)

Corrected where the page as printed goes wrong: conversion is weighted by beta and transmission by alpha, the root pays no
link, and Out holds what the node requests. S is the least cost of conversions that make all of Out from In.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models import registry
from yardline.models.checks import Indices, Vector
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.feasibility import why_infeasible
from yardline.models.customization.subsets import post_order
from yardline.models.method import Answer, Unsuitable

MOST_FORMATS = 5


@registry.method("customization", "optimal-paper", paper="004 section 4 (Algorithm 1)")
def optimal_paper(instance: Customization, rng: Generator) -> CustomizationPlan | Answer:
    """The paper's recursion over sets in and out of each node (corrected), for up to 5 formats."""
    if instance.m > MOST_FORMATS:
        raise Unsuitable(f"there are {instance.m} formats, and this method ends at {MOST_FORMATS}: use exact")
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    return _Recursion(instance).plan()


class _Recursion:
    def __init__(self, instance: Customization) -> None:
        self.instance, self.size = instance, 1 << instance.m
        self.sets = np.arange(self.size)
        self.member = (self.sets[:, None] >> np.arange(instance.m)) & 1
        self.inside = (self.sets[:, None] & self.sets) == self.sets  # [B, X]: X is a part of B
        self.S, self.step = self._conversions()
        self.wanted = instance.requests.toarray() @ (1 << np.arange(instance.m))
        self.order = post_order(instance)
        self.out: dict[int, Indices] = {}  # best Out per In
        self.sent: dict[int, Indices] = {}  # best X per Out of the parent
        self._walk()

    def _conversions(self) -> tuple[Vector, NDArray[np.object_]]:
        """S[In, Out] over sets that hold In, and the conversions that lead there: one more format at a time."""
        S = np.full((self.size, self.size), np.inf)
        step = np.empty((self.size, self.size), dtype=object)
        for start in range(self.size):
            S[start, start], step[start, start] = 0.0, ()
            for have in range(start, self.size):  # sets only grow, and so do their numbers
                for c, (f, g) in enumerate(self.instance.conversions.tolist()):
                    more, cost = have | 1 << g, S[start, have] + self.instance.conversion_cost[c]
                    if have >> f & 1 and more != have and cost < S[start, more]:
                        S[start, more], step[start, more] = cost, (*step[start, have], c)
        return S, step

    def _walk(self) -> None:
        """P of every node, from the leaves up."""
        instance = self.instance
        below: dict[int, Vector] = {}
        for i in self.order.tolist():
            children = below.pop(i, np.zeros(self.size))
            after = np.where((self.sets & self.wanted[i]) == self.wanted[i], children, np.inf)
            made = np.where(
                np.isfinite(self.S),
                instance.beta * instance.node_weight[i] * np.where(np.isfinite(self.S), self.S, 0.0),
                np.inf,
            )
            total = made + after
            self.out[i] = total.argmin(axis=1)
            P = total.min(axis=1)
            if i:
                paid = np.where(self.inside, self.member @ instance.send_cost[i] + P, np.inf)
                self.sent[i] = paid.argmin(axis=1)
                parent = int(instance.parent[i])
                below[parent] = below.get(parent, np.zeros(self.size)) + paid.min(axis=1)

    def plan(self) -> CustomizationPlan:
        """The choices, from the root down."""
        sends: list[list[int]] = [[] for _ in range(self.instance.n)]
        converts: list[list[int]] = [[] for _ in range(self.instance.n)]
        ended: dict[int, int] = {}
        for i in self.order[::-1].tolist():
            arrived = 1 << self.instance.source
            if i:
                arrived = int(self.sent[i][ended[int(self.instance.parent[i])]])
                sends[i] = np.flatnonzero(self.member[arrived]).tolist()
            ended[i] = int(self.out[i][arrived])
            converts[i] = sorted(self.step[arrived, ended[i]])
        return CustomizationPlan.of(self.instance, sends=sends, converts=converts)
