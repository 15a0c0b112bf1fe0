"""The stump of a node (the node and what is below it down to some depth) and the cheapest plan inside it.

What arrives at the node stays, what the nodes at the lower edge have to have stays: their requests and what they send on. In
between, formats on links and conversions are chosen anew: a directed Steiner tree in the stump's multilayer graph, from a source
that is everything that arrives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from yardline.models.checks import Indices, Vector
from yardline.models.customization.layers import Layers
from yardline.solvers.customization.ascent import Grid
from yardline.solvers.customization.branching import Search
from yardline.solvers.customization.plans import LINK, NONE, Costs

SECONDS = 2.0
"""The longest that one exact Steiner tree may take; then its best tree so far serves."""


@dataclass(frozen=True, eq=False)
class Stump:
    """Nodes (the top first), the place of each one's parent among them, and the children of the nodes at the lower edge."""

    nodes: Indices
    above: Indices
    edge: Indices  # places of the nodes whose children are outside
    outside: Indices  # those children


def stump(costs: Costs, children: list[Indices], top: int, depth: int) -> Stump:
    """The stump of a node with children."""
    nodes, above, level = [top], [-1], [0]
    for _ in range(depth):
        grown = [(place, int(c)) for place in level for c in children[nodes[place]]]
        level = list(range(len(nodes), len(nodes) + len(grown)))
        nodes += [c for _, c in grown]
        above += [place for place, _ in grown]
    outside = [children[nodes[place]] for place in level] or [np.zeros(0, dtype=np.int64)]
    return Stump(np.array(nodes), np.array(above), np.array(level, dtype=np.int64), np.concatenate(outside))


def paid(costs: Costs, entry: Indices, part: Stump) -> float:
    """What a plan pays inside a stump: conversions at its nodes, formats on its links."""
    rows = entry[part.nodes]
    place, f = np.nonzero(rows >= 0)
    work = costs.work[part.nodes[place]] * costs.price[rows[place, f], f]
    place, f = np.nonzero(rows[1:] == LINK)
    return float(work.sum() + costs.send[part.nodes[1:][place], f].sum())


def needs(costs: Costs, entry: Indices, part: Stump) -> Indices:
    """The vertices that the stump's plan has to reach: place of the node times formats plus format."""
    m = entry.shape[1]
    wanted = costs.wanted[part.nodes].copy()
    place = {int(v): p for p, v in enumerate(part.nodes.tolist())}
    for c in part.outside.tolist():
        wanted[place[int(costs.parent[c])]] |= entry[c] == LINK
    return np.flatnonzero(wanted[:, :].reshape(-1)) if m else np.zeros(0, dtype=np.int64)


def arcs_of(costs: Costs, part: Stump, arrived: Indices) -> tuple[Indices, Indices, Vector]:
    """Arcs of the stump's multilayer graph: tail, head, cost; the vertex after all others is the source."""
    m, count = len(costs.price), len(part.nodes)
    e, f = np.nonzero(np.isfinite(costs.price))
    place = np.repeat(np.arange(count), len(e))
    tails, heads = [place * m + np.tile(e, count)], [place * m + np.tile(f, count)]
    prices = [costs.work[part.nodes[place]] * np.tile(costs.price[e, f], count)]
    below = np.repeat(np.arange(1, count), m)
    formats = np.tile(np.arange(m), count - 1)
    tails += [part.above[below] * m + formats, np.full(len(arrived), count * m)]
    heads += [below * m + formats, arrived]
    prices += [costs.send[part.nodes[below], formats], np.zeros(len(arrived))]
    return np.concatenate(tails), np.concatenate(heads), np.concatenate(prices)


def tree(
    costs: Costs, entry: Indices, part: Stump, steiner: Literal["charikar", "exact"], rng: Generator
) -> Indices | None:
    """The vertex before each vertex of a tree that reaches all needs (-1: not in it); None where none was found."""
    m = entry.shape[1]
    arrived = np.flatnonzero(entry[part.nodes[0]] <= LINK)  # by link, or the source itself
    wanted = needs(costs, entry, part)
    tail, head, cost = arcs_of(costs, part, arrived)
    if steiner == "exact":
        return _exact(tail, head, cost, len(part.nodes) * m, wanted, rng)
    return _charikar(tail, head, cost, part, m, wanted)


def _charikar(tail: Indices, head: Indices, cost: Vector, part: Stump, m: int, wanted: Indices) -> Indices | None:
    from yardline.solvers.heuristics.customization import _charikar

    source = len(part.nodes) * m
    table = np.full((source + 1, source + 1), np.inf)
    np.minimum.at(table, (tail, head), cost)
    alone = (part.edge[0] if len(part.edge) else 1) * m  # from the lower edge on, a vertex leads to its own node only
    span = np.empty((source + 1, 2), dtype=np.int64)
    vertices = np.arange(source + 1)
    lowest = (vertices >= alone) & (vertices < source)
    span[:, 0] = np.where(lowest, vertices // m * m, 0)
    span[:, 1] = np.where(lowest, vertices // m * m + m, source + 1)
    entered: Indices = _charikar.two_levels(table, span, source, wanted)
    return None if (entered[wanted] < 0).any() else entered


def _exact(tail: Indices, head: Indices, cost: Vector, source: int, wanted: Indices, rng: Generator) -> Indices | None:
    import time

    order = np.argsort(head, kind="stable")
    every = np.arange(source + 1)
    graph = Layers(
        node=every,
        format=every,
        tail=tail[order],
        head=head[order],
        item=np.zeros(len(tail), dtype=np.int64),
        cost=cost[order],
        root=source,
        terminals=wanted,
    )
    end = time.monotonic() + SECONDS
    search = Search(Grid.of(graph), rng, seconds_left=lambda: end - time.monotonic())
    search.run()
    if search.arcs is None:
        return None
    entered = np.full(source + 1, -1)
    entered[graph.head[search.arcs]] = graph.tail[search.arcs]
    return entered


def replaced(entry: Indices, part: Stump, entered: Indices, needed: Indices) -> Indices:
    """The entries of the stump's nodes along a tree, without what the needs do not need."""
    m, source = entry.shape[1], len(part.nodes) * entry.shape[1]
    kept = np.full(source + 1, -1)
    for v in needed.tolist():
        while v != source and kept[v] < 0:
            kept[v] = entered[v]
            v = int(entered[v])
    rows = np.full((len(part.nodes), m), NONE)
    v = np.flatnonzero(kept[:source] >= 0)
    inside = kept[v] // m == v // m
    rows[v[inside] // m, v[inside] % m] = kept[v[inside]] % m
    rows[v[~inside] // m, v[~inside] % m] = LINK
    top = entry[part.nodes[0]]
    rows[0] = np.where(top <= LINK, top, rows[0])
    return rows
