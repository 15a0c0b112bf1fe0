"""First methods of overlay: a place for each user, then trees that do not look at who is where.

`random` is the paper's yardstick: every other method is measured by how much cheaper it is. `greedy` is the paper's
two-stage packing: the cheapest broker that still has room, then minimum spanning trees.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator

from yardline.models import registry
from yardline.models.checks import Indices
from yardline.models.method import Answer
from yardline.models.overlay import wiring
from yardline.models.overlay.data import Overlay, OverlayPlan

Wiring = Literal["random", "mst"]


@registry.method("overlay", "random", paper="003 random assignment")
def random(instance: Overlay, rng: Generator, *, wiring: Wiring = "mst") -> OverlayPlan | Answer:
    """Each user to a random broker open to it, capacities not looked at; trees at random or minimum spanning."""
    lost = _lost(instance)
    if lost is not None:
        return lost
    lots = np.where(instance.open, rng.random(instance.open.shape), -1.0)
    return _wired(instance, lots.argmax(axis=1), rng, wiring)


@registry.method("overlay", "greedy", paper="003 Algorithm 1, two-stage greedy packing")
def greedy(
    instance: Overlay, rng: Generator, *, heaviest_first: bool = False, wiring: Wiring = "mst"
) -> OverlayPlan | Answer:
    """Each user to the cheapest open broker with room (the emptiest where none has), then minimum spanning trees."""
    lost = _lost(instance)
    if lost is not None:
        return lost
    order = np.argsort(-instance.traffic, kind="stable") if heaviest_first else np.arange(instance.U)
    return _wired(instance, packed(instance, order), rng, wiring)


def packed(instance: Overlay, order: Indices) -> Indices:
    """The broker of each user when they choose one after the other."""
    load = np.zeros(instance.B)
    broker = np.zeros(instance.U, dtype=np.int64)
    traffic = instance.traffic.tolist()
    for u in order.tolist():
        after = load + traffic[u]
        room = instance.open[u] & (after <= instance.limit)
        if room.any():
            b = int(np.where(room, instance.access_cost[u], np.inf).argmin())
        else:  # the plan will break a capacity, and the judge says so: break it by as little as can be
            b = int(np.where(instance.open[u], after - instance.limit, np.inf).argmin())
        broker[u] = b
        load[b] = after[b]
    return broker


def _lost(instance: Overlay) -> Answer | None:
    """A user without any open broker: no plan can be written down."""
    for user in np.flatnonzero(~instance.open.any(axis=1)).tolist():
        return Answer(infeasible=f"user {user} is open to no broker (access_cost[{user}] is null throughout)")
    return None


def _wired(instance: Overlay, broker: Indices, rng: Generator, how: Wiring) -> OverlayPlan:
    """The plan with trees: minimum spanning (mesh: left to the judge) or at random."""
    if instance.topology == "tree":
        links = _random_tree(np.arange(instance.B), rng) if how == "random" else spanning_tree(instance)
        return OverlayPlan.of(instance, broker=broker, links=links.tolist())
    if how == "mst":
        return OverlayPlan.of(instance, broker=broker)
    return OverlayPlan.of(instance, broker=broker, trees=_random_trees(instance, broker, rng))


def spanning_tree(instance: Overlay) -> Indices:
    """The links of a minimum spanning tree of core_cost."""
    links = np.stack(np.triu_indices(instance.B, 1), axis=1)
    return np.asarray(links[wiring.forest(links, instance.core_cost[links[:, 0], links[:, 1]], instance.B)])


def _random_trees(instance: Overlay, broker: Indices, rng: Generator) -> list[tuple[int, int, list[list[int]]]]:
    """A random tree for each source broker and channel, over the brokers that it must join."""
    audience = instance.subscribes.T.tocsr()
    trees = []
    for c in range(instance.T):
        hosts = broker[audience.indices[audience.indptr[c] : audience.indptr[c + 1]]]
        for b in np.unique(broker[instance.rates[:, c] > 0]).tolist():
            members = np.union1d(hosts, [b])
            if len(members) > 1:
                trees.append((b, c, _random_tree(members, rng).tolist()))
    return trees


def _random_tree(members: Indices, rng: Generator) -> Indices:
    """Brokers in random order, each linked to a random one before it."""
    order = rng.permutation(members)
    before = np.floor(rng.random(len(order)) * np.arange(len(order))).astype(np.int64)
    return np.stack([order[before[1:]], order[1:]], axis=1)
