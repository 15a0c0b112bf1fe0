"""The multilayer graph of an instance as arrays: what methods, bounds and checkers of Steiner arborescences work on.

A vertex is a pair (node, format) on some way from the source to a request, an arc a send or a conversion between two such
vertices; conversions that a chain of others makes needless at every node, and sends that a cheaper format makes needless
(chains.py), have none. Some least plan is a tree of
these arcs: it starts at (root, source), reaches every request, enters each vertex once, and leaves every vertex that is not
requested. Arcs into the root's vertex are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from yardline.models.checks import Indices, Vector
from yardline.models.customization import graph
from yardline.models.customization.assembly import plan_of
from yardline.models.customization.chains import kept, kept_sends
from yardline.models.customization.data import Customization, CustomizationPlan


@dataclass(frozen=True, eq=False, kw_only=True)
class Layers:
    """Vertices, arcs (sorted by head), the root's vertex and the requested ones."""

    node: Indices  # of each vertex
    format: Indices
    tail: Indices  # of each arc
    head: Indices
    item: Indices  # what each arc is: a conversion, or graph.BY_LINK
    cost: Vector
    root: int
    terminals: Indices

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.node)

    @cached_property
    def into(self) -> Indices:
        """Where the arcs into each vertex begin: those of v are into[v] to into[v + 1]."""
        return np.searchsorted(self.head, np.arange(self.n + 1))

    @cached_property
    def outward(self) -> tuple[Indices, Indices]:
        """Where the arcs out of each vertex begin, in the order given (the second array)."""
        order = np.argsort(self.tail, kind="stable")
        return np.searchsorted(self.tail[order], np.arange(self.n + 1)), order


def layers(instance: Customization) -> Layers:
    """The multilayer graph of an instance."""
    useful = graph.useful(instance)
    useful[0, instance.source] = True
    number = np.full(useful.shape, -1)
    node, formats = np.nonzero(useful)
    number[node, formats] = np.arange(len(node))
    parts = [_sends(instance, useful, number), _conversions(instance, useful, number)]
    tail, head, item, cost = (np.concatenate(column) for column in zip(*parts, strict=True))
    root = int(number[0, instance.source])
    order = np.argsort(head, kind="stable")  # two sorted runs: quick
    order = order[head[order] != root]
    wanted = graph.terminals(instance)
    return Layers(
        node=node,
        format=formats,
        tail=tail[order],
        head=head[order],
        item=item[order],
        cost=cost[order],
        root=root,
        terminals=number[wanted[:, 0], wanted[:, 1]],
    )


def _sends(
    instance: Customization, useful: NDArray[np.bool_], number: Indices
) -> tuple[Indices, Indices, Indices, Vector]:
    v, f = np.nonzero(useful[1:] & kept_sends(instance)[1:])
    v = v + 1
    there = useful[instance.parent[v], f]
    v, f = v[there], f[there]
    item = np.full(len(v), graph.BY_LINK)
    return number[instance.parent[v], f], number[v, f], item, instance.send_cost[v, f]


def _conversions(
    instance: Customization, useful: NDArray[np.bool_], number: Indices
) -> tuple[Indices, Indices, Indices, Vector]:
    of_use = np.flatnonzero(kept(instance))
    by_target = of_use[np.argsort(instance.conversions[of_use, 1], kind="stable")]  # arcs come out sorted by head
    f, g = instance.conversions[by_target].T
    v, c = np.nonzero(useful[:, f] & useful[:, g])
    at, flat = v * instance.m, number.ravel()
    return flat[at + f[c]], flat[at + g[c]], by_target[c], instance.convert_cost[v, by_target[c]]


def plan_of_arcs(instance: Customization, layered: Layers, arcs: Indices) -> CustomizationPlan:
    """The plan that uses these arcs, without those that no request needs."""
    v, f, item = layered.node[layered.head[arcs]], layered.format[layered.head[arcs]], layered.item[arcs]
    link = item == graph.BY_LINK
    sends = zip(v[link].tolist(), f[link].tolist(), strict=True)
    converts = zip(v[~link].tolist(), item[~link].tolist(), strict=True)
    return plan_of(instance, graph.needed(instance, graph.entrances(instance, sends, converts)))
