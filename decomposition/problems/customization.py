"""Customization in the loops: arcs of the multilayer graph by their fractions, then cheapest ways for what is missing.

A vertex (v, f) has the number v * formats + f. Arcs are sends (conversion -1) and conversions at a node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from yardline.models.checks import Indices, Vector
from yardline.models.customization import graph
from yardline.models.customization.assembly import decode
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.program import Program

Guide = Mapping[str, Any]
ONE_BY_ONE = 300
"""Requests up to which each takes the cheapest way from all that is there; beyond, all take theirs from the root."""


def guide(instance: Customization, program: Program, point: Vector) -> dict[str, Any]:
    """The arcs with their ends, costs and fractions."""
    x, y = program.family("x"), program.family("y")
    v, f = x.index.reshape(-1, 2).T
    w, a, b = y.index.reshape(-1, 3).T
    m = instance.m
    return {
        "tail": np.concatenate([instance.parent[v] * m + f, w * m + a]),
        "head": np.concatenate([v * m + f, w * m + b]),
        "cost": np.concatenate([program.cost[x.span], program.cost[y.span]]),
        "share": np.concatenate([point[x.span], point[y.span]]),
    }


def rounded(instance: Customization, guide: Guide, rng: Generator) -> NDArray[np.bool_]:
    """Every arc with the probability of its fraction."""
    kept: NDArray[np.bool_] = rng.random(len(guide["share"])) < guide["share"]
    return kept


def repaired(instance: Customization, guide: Guide, kept: NDArray[np.bool_], rng: Generator) -> CustomizationPlan:
    """Requests along ways that are cheap where arcs were kept or have large fractions; what nobody needs falls away."""
    noise = rng.uniform(0.5, 1.5, len(kept))
    price = guide["cost"] * np.where(kept, 0.05, 1.05 - guide["share"]) * noise
    used = ways(instance, guide["tail"], guide["head"], price, guide["cost"], rng)
    return plan(instance, guide["tail"][used], guide["head"][used])


def ways(
    instance: Customization, tail: Indices, head: Indices, price: Vector, cost: Vector, rng: Generator
) -> NDArray[np.bool_]:
    """The arcs on cheapest ways from the root to every request, one request after the other."""
    goals = rng.permutation(graph.terminals(instance)) @ np.array([instance.m, 1])
    weights = price + 1e-12 * (1.0 + cost.max(initial=0.0))  # an arc of price 0 is still an arc
    count = instance.n * instance.m
    steps = csr_array((weights, (tail, head)), shape=(count, count))
    number = csr_array((np.arange(1, len(tail) + 1), (tail, head)), shape=(count, count))
    there = np.zeros(count, dtype=bool)
    there[instance.source] = True
    used = np.zeros(len(tail), dtype=bool)
    portions = goals[:, None] if len(goals) <= ONE_BY_ONE else [goals]
    for portion in portions:
        _, before, _ = dijkstra(steps, indices=np.flatnonzero(there), min_only=True, return_predecessors=True)
        for vertex in portion.tolist():
            while not there[vertex]:
                there[vertex] = True
                used[number[before[vertex], vertex] - 1] = True
                vertex = int(before[vertex])
    return used


def plan(instance: Customization, tail: Indices, head: Indices) -> CustomizationPlan:
    """The plan of some arcs."""
    (u, f), (v, g) = np.divmod(tail, instance.m), np.divmod(head, instance.m)
    link = u != v
    chosen = {"x": np.stack([v[link], g[link]], 1), "y": np.stack([v[~link], f[~link], g[~link]], 1)}
    return decode(instance, chosen)
