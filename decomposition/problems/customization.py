"""Customization in the loops: arcs of the multilayer graph by their fractions, then cheapest ways for what is missing.

A vertex (v, f) has the number v * formats + f. Arcs are sends (conversion -1) and conversions at a node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
ONE_BY_ONE = 200
"""Requests up to which each takes the cheapest way from all that is there; beyond, some do so together."""


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
    used, _ = ways(instance, guide["tail"], guide["head"], price, guide["cost"], rng)
    return _plan(instance, guide["tail"][used], guide["head"][used])


def ways(
    instance: Customization,
    tail: Indices,
    head: Indices,
    price: Vector,
    cost: Vector,
    rng: Generator,
    start: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.bool_], Vector]:
    """The arcs on cheapest ways to every request from what is there (the root, the arcs of a start), one after the other.

    Beyond ONE_BY_ONE requests they go in portions. Also: per request what its way added.
    """
    goals = graph.terminals(instance) @ np.array([instance.m, 1])
    weights = price + 1e-12 * (1.0 + cost.max(initial=0.0))  # an arc of price 0 is still an arc
    count = instance.n * instance.m
    steps = csr_array((weights, (tail, head)), shape=(count, count))
    number = csr_array((np.arange(1, len(tail) + 1), (tail, head)), shape=(count, count))
    used = np.zeros(len(tail), dtype=bool) if start is None else start.copy()
    there = np.zeros(count, dtype=bool)
    there[[instance.source, *head[used].tolist()]] = True
    added = np.zeros(len(goals))
    for portion in np.array_split(rng.permutation(len(goals)), max(1, min(len(goals), ONE_BY_ONE))):
        if not len(portion):
            continue
        far, before, _ = dijkstra(steps, indices=np.flatnonzero(there), min_only=True, return_predecessors=True)
        for goal in portion.tolist():
            vertex, added[goal] = int(goals[goal]), far[goals[goal]]
            while not there[vertex]:
                there[vertex] = True
                used[number[before[vertex], vertex] - 1] = True
                vertex = int(before[vertex])
    return used, added


def _plan(instance: Customization, tail: Indices, head: Indices) -> CustomizationPlan:
    """The plan of some arcs."""
    (u, f), (v, g) = np.divmod(tail, instance.m), np.divmod(head, instance.m)
    link = u != v
    chosen = {"x": np.stack([v[link], g[link]], 1), "y": np.stack([v[~link], f[~link], g[~link]], 1)}
    return decode(instance, chosen)


def weights(instance: Customization) -> Vector:
    """Requests are drawn evenly."""
    return np.ones(len(graph.terminals(instance)))


def sample(instance: Customization, chosen: Indices) -> Customization:
    """The instance with the chosen requests only."""
    nodes, formats = graph.terminals(instance)[chosen].T
    asked = csr_array((np.ones(len(nodes), dtype=np.int64), (nodes, formats)), shape=(instance.n, instance.m))
    return replace(instance, requests=asked)


def extended(
    instance: Customization, chosen: Indices, plan: CustomizationPlan, rng: Generator
) -> tuple[CustomizationPlan, Vector]:
    """Every other request along a cheapest way from what is there; per request what it added."""
    tail, head, cost = arcs(instance)
    start = _arcs_of(instance, plan, tail, head)
    used, added = ways(instance, tail, head, cost, cost, rng, start)
    return _plan(instance, tail[used], head[used]), added


def arcs(instance: Customization) -> tuple[Indices, Indices, Vector]:
    """All arcs between vertices on some way from the source to a request: tails, heads, costs."""
    vertex, made, m = graph.useful(instance), graph.made(instance), instance.m
    sends = vertex.copy()
    sends[0] = False
    v, f = np.nonzero(sends)
    a, b = instance.conversions.T
    done = vertex[:, b] & made[a]
    w, c = np.nonzero(done)
    tail = np.concatenate([instance.parent[v] * m + f, w * m + a[c]])
    head = np.concatenate([v * m + f, w * m + b[c]])
    return tail, head, np.concatenate([instance.send_cost[v, f], instance.convert_cost[w, c]])


def _arcs_of(instance: Customization, plan: CustomizationPlan, tail: Indices, head: Indices) -> NDArray[np.bool_]:
    """Which arcs a plan uses."""
    m, count = instance.m, instance.n * instance.m
    v, f = plan.sends.nonzero()
    w, c = plan.converts.nonzero()
    a, b = instance.conversions[c].T
    own = np.concatenate([(instance.parent[v] * m + f) * count + v * m + f, (w * m + a) * count + w * m + b])
    return np.asarray(np.isin(tail * count + head, own))
