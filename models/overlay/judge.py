"""The judge of overlay: what a plan costs and which rules it breaks. Knows nothing of any algorithm.

    g[u,c]    = generate[u,c] where some other user subscribes to c, else 0
    traffic[u] = sum(g[u,c]) + sum(g[v,c] for v != u, c in subscribes[u])
    access    = sum(traffic[u] * access_cost[u, broker[u]])
    core      mesh: sum(G[b,c] * weight of the tree of (b,c));  G[b,c] = sum of g[u,c] over users u at b.
              Without trees: the minimum spanning tree, in the metric closure, of b and the brokers of c's subscribers.
              tree: per link, direction and channel, the rate published on the near side if somebody on the far side
              subscribes, times core_cost of the link as given.
    cost      = access + core

Rules: `open` (a user's broker is open to it), `capacity` (traffic at a broker). Mesh: `tree-given` (trees, if given,
list every (b,c) that needs one), `tree-connects` (a tree joins its source to every broker with a subscriber). Tree:
`links` (exactly B-1), `spanning` (the links connect all brokers). A broken part has no cost: a broker that is not open,
a missing tree, a link that closes a cycle of the spanning tree.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from yardline.models.checks import Indices, Vector
from yardline.models.judgement import Judgement, Violation
from yardline.models.numbers import ratio
from yardline.models.overlay import wiring
from yardline.models.overlay.data import Overlay, OverlayPlan
from yardline.models.overlay.fields import Trees


def evaluate(instance: Overlay, plan: OverlayPlan) -> Judgement:
    """Cost, terms and violations of a plan."""
    access = float(instance.price[np.arange(instance.U), plan.broker].sum())
    published, hosts = _at_brokers(instance, plan.broker)
    if instance.topology == "tree":
        core, broken = _one_tree(instance, plan, published, hosts)
    else:
        core, broken = _mesh(instance, plan, published, hosts)
    loads = _totals(plan.broker, instance.traffic, instance.B)
    terms = {
        "access": access,
        "core": core,
        "brokers_used": len(np.unique(plan.broker)),
        "fullest": _fullest(instance, loads),
    }
    violations = (*_places(instance, plan, loads), *broken)
    return Judgement(cost=access + core, terms=terms, violations=violations)


def _totals(owner: Indices, amounts: Vector, count: int) -> Vector:
    """The sum of the amounts of each owner."""
    return np.bincount(owner, weights=amounts, minlength=count).astype(np.float64)


def _at_brokers(instance: Overlay, broker: Indices) -> tuple[Vector, NDArray[np.bool_]]:
    """Per broker and channel: the rate published there, and whether a subscriber is there."""
    shape = (instance.B, instance.U)
    at = coo_array((np.ones(instance.U), (broker, np.arange(instance.U))), shape=shape).tocsr()
    return np.asarray(at @ instance.rates), (at @ instance.subscribes).toarray() > 0


def _fullest(instance: Overlay, loads: Vector) -> float | None:
    """The largest load / capacity over brokers with a capacity; None where one without any room is used."""
    limited = np.flatnonzero(np.isfinite(instance.capacity))
    shares = [ratio(float(loads[b]), float(instance.capacity[b])) for b in limited]
    known = [share for share in shares if share is not None]
    return max(known, default=0.0) if len(known) == len(shares) else None


def _places(instance: Overlay, plan: OverlayPlan, loads: Vector) -> Iterator[Violation]:
    for user in np.flatnonzero(~instance.open[np.arange(instance.U), plan.broker]).tolist():
        yield Violation(rule="open", where={"user": user, "broker": int(plan.broker[user])}, amount=1.0)
    for b in np.flatnonzero(loads > instance.limit).tolist():
        over = float(loads[b] - instance.capacity[b])
        yield Violation(rule="capacity", where={"broker": b}, amount=over)


def _mesh(
    instance: Overlay, plan: OverlayPlan, published: Vector, hosts: NDArray[np.bool_]
) -> tuple[float, list[Violation]]:
    sources, channels = np.nonzero(published > 0)
    terminals = hosts[:, channels].T.copy()  # per pair (source, channel), the brokers that its tree must join
    terminals[np.arange(len(sources)), sources] = True
    pairs = np.stack([sources, channels], axis=1)
    rate = published[sources, channels]
    if plan.trees is None:
        sets, which = np.unique(np.packbits(terminals, axis=1), axis=0, return_inverse=True)
        distinct = np.unpackbits(sets, axis=1, count=instance.B).astype(bool)
        weight = wiring.spanning_weights(distinct, wiring.closure(instance.core_cost))
        return float(rate @ weight[which.reshape(-1)]), []
    trees = plan.trees
    links = instance.core_cost[trees.links[:, 0], trees.links[:, 1]]
    weight = _totals(trees.owner, links, len(trees.index))
    core = float(published[trees.index[:, 0], trees.index[:, 1]] @ weight)
    return core, list(_broken_trees(trees, pairs, terminals))


def _broken_trees(trees: Trees, pairs: Indices, terminals: NDArray[np.bool_]) -> Iterator[Violation]:
    """What trees do not connect, and trees that are needed (two brokers or more to join) but not given."""
    brokers = terminals.shape[1]
    position = {(source, channel): p for p, (source, channel) in enumerate(trees.index.tolist())}
    part = _parts(trees, brokers)
    for (source, channel), needed in zip(pairs.tolist(), terminals, strict=True):
        p = position.get((source, channel))
        where = {"source": source, "channel": channel}
        if p is None:
            if needed.sum() > 1:
                yield Violation(rule="tree-given", where=where, amount=1.0)
            continue
        for b in np.flatnonzero(needed & (part[p] != part[p, source])).tolist():
            yield Violation(rule="tree-connects", where={**where, "broker": b}, amount=1.0)


def _parts(trees: Trees, brokers: int) -> Indices:
    """The connected part of each broker in each tree: trees x brokers, all trees as one graph."""
    nodes = trees.links + brokers * trees.owner[:, None]
    size = brokers * len(trees.index)
    graph = coo_array((np.ones(len(nodes)), (nodes[:, 0], nodes[:, 1])), shape=(size, size))
    labels = connected_components(graph, directed=False)[1] if size else np.zeros(0)
    return labels.reshape(-1, brokers).astype(np.int64)


def _one_tree(
    instance: Overlay, plan: OverlayPlan, published: Vector, hosts: NDArray[np.bool_]
) -> tuple[float, list[Violation]]:
    links = np.zeros((0, 2), np.int64) if plan.links is None else plan.links
    broken = []
    if len(links) != instance.B - 1:
        broken.append(
            Violation(rule="links", where={"expected": instance.B - 1}, amount=abs(len(links) - instance.B + 1))
        )
    parts = int(wiring.components(links, instance.B).max()) + 1
    if parts > 1:
        broken.append(Violation(rule="spanning", where={}, amount=float(parts - 1)))
    links = links[wiring.forest(links, instance.core_cost[links[:, 0], links[:, 1]], instance.B)]
    far = wiring.sides(links, instance.B)
    near = _same_part(links, instance.B) & ~far
    crossing = _crossing(near, far, published, hosts) + _crossing(far, near, published, hosts)
    return float(instance.core_cost[links[:, 0], links[:, 1]] @ crossing), broken


def _same_part(links: Indices, brokers: int) -> NDArray[np.bool_]:
    part = wiring.components(links, brokers)
    return part[links[:, :1]] == part  # type: ignore[no-any-return]


def _crossing(near: NDArray[np.bool_], far: NDArray[np.bool_], published: Vector, hosts: NDArray[np.bool_]) -> Vector:
    """Per link, the rate published on the near side on channels that somebody on the far side subscribes to."""
    wanted = far.astype(np.int64) @ hosts.astype(np.int64) > 0
    return np.asarray(((near.astype(np.float64) @ published) * wanted).sum(axis=1))
