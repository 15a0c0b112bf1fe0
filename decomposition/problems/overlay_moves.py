"""Overlay: many placements priced at once; users moved, exchanged or gathered, and links exchanged, while that pays.

For N placements broker[n,u], at[n,b,u] = 1 where broker[n,u] = b:

    published[n,b,c] = sum(at[n,b,u] * g[u,c] for u)          hosts[n,b,c]: some u at b subscribes to c
    mesh   core[n] = sum(published[n,b,c] * tree(hosts[n,.,c] + b) for b, c with published[n,b,c] > 0)
    tree   core[n] = sum over links of length * (rate published on one side of what somebody on the other wants, both ways)

where a tree is a minimum spanning one in the metric closure, with brokers added that make it lighter. These prices guide a
search; the judge has the last word on every plan.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models.checks import Indices, Vector
from yardline.models.overlay import wiring
from yardline.models.overlay.data import Overlay

SWEEPS = 10
PAIRS = 2_000
"""Pairs of users up to which they are moved together, too."""

LINKS = 100
"""Links, at most, that one look at a tree tries to bring in."""


class Prices:
    """What placements of one instance cost, in the metric closure of the core or on a given tree."""

    def __init__(self, instance: Overlay, links: Indices | None) -> None:
        self.instance, self.wants = instance, instance.subscribes.toarray().astype(np.float64)
        self.distance, self.weight = wiring.closure(instance.core_cost), dict[bytes, float]()
        self.links = links

    def of(self, broker: Indices) -> Vector:
        """The cost of each row's placement."""
        at = (broker[:, None, :] == np.arange(self.instance.B)[:, None]).astype(np.float64)
        access = self.instance.price[np.arange(broker.shape[1]), broker].sum(axis=1)
        published, hosts = at @ self.instance.rates, at @ self.wants > 0
        if self.links is None:
            return np.asarray(access + self._mesh(published, hosts))
        return np.asarray(access + carried(self.instance, self.links[None], published, hosts))

    def _mesh(self, published: Vector, hosts: NDArray[np.bool_]) -> Vector:
        n, b, c = np.nonzero(published > 0)
        terminals = hosts[n, :, c]
        terminals[np.arange(len(n)), b] = True
        weight = self._joined(terminals)
        return np.bincount(n, weights=published[n, b, c] * weight, minlength=len(published)).astype(np.float64)

    def _joined(self, terminals: NDArray[np.bool_]) -> Vector:
        """Weights of trees, each set of brokers worked out once."""
        packed = np.packbits(terminals, axis=1)
        keys = [row.tobytes() for row in packed]
        new = {key: p for p, key in enumerate(keys) if key not in self.weight}
        for key, p in new.items():
            self.weight[key] = helped(self.distance, frozenset(np.flatnonzero(terminals[p]).tolist()))[1]
        return np.array([self.weight[key] for key in keys])


def carried(instance: Overlay, trees: Indices, published: Vector, hosts: NDArray[np.bool_]) -> Vector:
    """What trees (N x links x 2) cost for N placements; one of either may stand against many of the other."""
    far = np.array([_sides(links, instance.B) for links in trees.tolist()]).reshape(*trees.shape[:2], instance.B)
    beyond, there = far @ published, far @ hosts > 0
    before, here = published.sum(axis=1)[:, None] - beyond, (1.0 - far) @ hosts > 0
    length = instance.core_cost[trees[:, :, 0], trees[:, :, 1]]
    return np.asarray(((before * there + beyond * here).sum(axis=2) * length).sum(axis=1))


def _sides(links: list[list[int]], brokers: int) -> list[list[float]]:
    """Per link of a tree, 1 for the brokers on one side of it once it is cut."""
    return [[float(side >> b & 1) for b in range(brokers)] for side in _cut(links, brokers)]


def _cut(links: list[list[int]], brokers: int) -> list[int]:
    """The brokers below each link as bits, the tree hanging from broker 0."""
    near: list[list[tuple[int, int]]] = [[] for _ in range(brokers)]
    for p, (a, b) in enumerate(links):
        near[a].append((b, p))
        near[b].append((a, p))
    order, above = [0], {0: (-1, -1)}
    for b in order:
        for other, p in near[b]:
            if other != above[b][0]:
                above[other] = (b, p)
                order.append(other)
    below, result = [1 << b for b in range(brokers)], [0] * len(links)
    for b in reversed(order[1:]):
        parent, p = above[b]
        below[parent] |= below[b]
        result[p] = below[b]
    return result


def exchanged(instance: Overlay, broker: Indices, links: Indices, rng: Generator) -> Indices:
    """The tree with one link more and one of its circle less, again and again while that pays."""
    at = (broker == np.arange(instance.B)[:, None]).astype(np.float64)
    published, hosts = (at @ instance.rates)[None], (at @ instance.subscribes.toarray() > 0)[None]
    best = float(carried(instance, links[None], published, hosts)[0])
    while True:
        trees = _exchanges(instance, links, rng)
        costs = carried(instance, trees, published, hosts)
        if not len(costs) or costs.min() >= best * (1 - 1e-12):
            return links
        links, best = trees[costs.argmin()], float(costs.min())


def _exchanges(instance: Overlay, links: Indices, rng: Generator) -> Indices:
    """Neighbours of a tree: for each other link (some of them, where there are many) those without one of its circle."""
    every = np.stack(np.triu_indices(instance.B, 1), axis=1)
    new = every[~(every[:, None] == links).all(axis=2).any(axis=1)]
    far = np.array(_sides(links.tolist(), instance.B)).reshape(len(links), instance.B)
    result = []
    for link in new[rng.permutation(len(new))[:LINKS]]:
        for p in np.flatnonzero(far[:, link[0]] != far[:, link[1]]).tolist():
            other = links.copy()
            other[p] = link
            result.append(other[np.lexsort((other[:, 1], other[:, 0]))])
    return np.array(result, dtype=np.int64).reshape(len(result), len(links), 2)


def helped(distance: Vector, brokers: frozenset[int]) -> tuple[frozenset[int], float]:
    """The brokers, with others added one by one while the spanning tree gets lighter, and its weight."""
    inside = np.zeros(len(distance), dtype=bool)
    inside[list(brokers)] = True
    weight = float(wiring.spanning_weights(inside[None], distance)[0])
    while len(brokers) > 1 and not inside.all():
        others = np.flatnonzero(~inside)
        trial = np.repeat(inside[None], len(others), axis=0)
        trial[np.arange(len(others)), others] = True
        weights = wiring.spanning_weights(trial, distance)
        if weights.min() >= weight * (1 - 1e-12):
            break
        inside, weight = trial[weights.argmin()], float(weights.min())
    return frozenset(np.flatnonzero(inside).tolist()), weight


def settled(instance: Overlay, broker: Indices, links: Indices | None) -> Indices:
    """Users moved alone, exchanged or moved in pairs while that pays and there is room."""
    prices, broker = Prices(instance, links), broker.copy()
    best = float(prices.of(broker[None])[0])
    for _ in range(SWEEPS):
        before = best
        for u in range(instance.U):
            trials = _with_room(instance, neighbours(instance, broker, u))
            costs = prices.of(trials)
            if len(costs) and costs.min() < best * (1 - 1e-12):
                broker, best = trials[costs.argmin()].copy(), float(costs.min())
        if best == before:
            break
    return broker


def neighbours(instance: Overlay, broker: Indices, u: int) -> Indices:
    """User u elsewhere; exchanged with another; together with another elsewhere."""
    U, B = instance.U, instance.B
    alone = np.repeat(broker[None], B, axis=0)
    alone[:, u] = np.arange(B)
    others = np.arange(u + 1, U) if U * (U - 1) // 2 <= PAIRS else np.zeros(0, dtype=np.int64)
    exchanged = np.repeat(broker[None], len(others), axis=0)
    exchanged[:, u], exchanged[np.arange(len(others)), others] = broker[others], broker[u]
    pairs = np.repeat(alone, len(others), axis=0)
    pairs[np.arange(len(pairs)), np.tile(others, B)] = np.repeat(np.arange(B), len(others))
    return np.concatenate([alone, exchanged, pairs])


def _with_room(instance: Overlay, trials: Indices) -> Indices:
    """The placements that keep the limits."""
    at = trials[:, None, :] == np.arange(instance.B)[:, None]
    fits = (at @ instance.traffic <= instance.limit).all(axis=1)
    return np.asarray(trials[fits & instance.possible[np.arange(instance.U), trials].all(axis=1)])
