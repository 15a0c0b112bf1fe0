"""Between plans and points of the program (assembly.py): decode and encode."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from yardline.models.checks import Indices, Vector
from yardline.models.overlay import wiring
from yardline.models.overlay.data import Overlay, OverlayPlan
from yardline.models.overlay.parties import Party, parties, useful_links
from yardline.models.program import Program

Links = frozenset[tuple[int, int]]
Joined = dict[frozenset[int], Links]  # the cheapest known links that join a set of brokers


def decode(instance: Overlay, chosen: Mapping[str, Indices]) -> OverlayPlan:
    """The plan of a 0/1 point: x says who is where; mesh: T holds a tree per party; tree: z is the spanning tree."""
    broker = np.zeros(instance.U, dtype=np.int64)
    users, at = chosen["x"].reshape(-1, 2).T
    broker[users] = at
    if instance.topology == "tree":
        return OverlayPlan.of(instance, broker=broker, links=_whole_tree(instance, chosen).tolist())
    known: Joined = {}
    used = chosen.get("T", np.zeros(0, np.int64)).reshape(-1, 3)
    for t, party in enumerate(parties(instance) if instance.B > 1 else []):
        arcs = used[used[:, 0] == t, 1:]
        _offer(instance, known, frozenset(broker[list(party.users)].tolist()), np.unique(np.sort(arcs, axis=1), axis=0))
    trees = [
        (source, channel, sorted(known[brokers]))
        for source, channel, brokers in _needed(instance, broker)
        if len(brokers) > 1
    ]
    return OverlayPlan.of(instance, broker=broker, trees=trees)


def _whole_tree(instance: Overlay, chosen: Mapping[str, Indices]) -> Indices:
    """The chosen links, completed to a spanning tree by the lightest others where some are missing."""
    every = np.stack(np.triu_indices(instance.B, 1), axis=1)
    weight = instance.core_cost[every[:, 0], every[:, 1]]
    taken = {(i, j) for i, j in chosen.get("z", every[:0]).reshape(-1, 2).tolist()}
    first = np.array([(i, j) in taken for i, j in every.tolist()], dtype=bool)
    return every[wiring.forest(every, np.where(first, -1.0, weight), instance.B)]


def _needed(instance: Overlay, broker: Indices) -> list[tuple[int, int, frozenset[int]]]:
    """(source broker, channel, brokers to join) for all that is published."""
    audience = instance.subscribes.T.tocsr()
    result = []
    for c in range(instance.T):
        users = audience.indices[audience.indptr[c] : audience.indptr[c + 1]]
        hosts = frozenset(broker[users].tolist())
        for b in np.unique(broker[instance.rates[:, c] > 0]).tolist():
            result.append((b, c, hosts | {b}))
    return result


def _offer(instance: Overlay, known: Joined, brokers: frozenset[int], links: Indices) -> None:
    """Remember the tree that these links hold for these brokers, if it is the cheapest so far."""
    tree = _pruned(instance, links, brokers)
    if brokers not in known or _weight(instance, tree) < _weight(instance, known[brokers]):
        known[brokers] = tree


def _weight(instance: Overlay, links: Links) -> float:
    return float(sum(instance.core_cost[i, j] for i, j in sorted(links)))


def _pruned(instance: Overlay, links: Indices, brokers: frozenset[int]) -> Links:
    """A lightest spanning forest of the links, without ends that nobody needs."""
    links = links[wiring.forest(links, instance.core_cost[links[:, 0], links[:, 1]], instance.B)]
    needed = np.zeros(instance.B, dtype=bool)
    needed[list(brokers)] = True
    while len(links):
        degree = np.bincount(links.ravel(), minlength=instance.B)
        loose = ((degree[links] == 1) & ~needed[links]).any(axis=1)
        if not loose.any():
            break
        links = links[~loose]
    part = wiring.components(links, instance.B)
    inside = part[links[:, 0]] == part[min(brokers)]
    return frozenset((int(i), int(j)) for i, j in links[inside])


def encode(instance: Overlay, program: Program, plan: OverlayPlan) -> Vector:
    """The point of a valid plan. Trees lose what they do not need, so the point costs no more than the plan."""
    point = np.zeros(program.shape[1])
    x = program.family("x")
    point[x.span] = plan.broker[x.index[:, 0]] == x.index[:, 1] if len(x.index) else 0.0
    if instance.B == 1:
        return point
    if instance.topology == "tree":
        _encode_one_tree(instance, program, plan, point)
    else:
        _encode_mesh(instance, program, plan, point)
    return point


def _encode_one_tree(instance: Overlay, program: Program, plan: OverlayPlan, point: Vector) -> None:
    assert plan.links is not None
    away = np.stack([_orientation(plan.links, k, instance.B) for k in range(instance.B)])  # root, from, to
    z, a, q, T = (program.family(name) for name in ("z", "a", "q", "T"))
    point[z.span] = (away[0] | away[0].T)[z.index[:, 0], z.index[:, 1]]
    point[a.span] = away[a.index[:, 0], a.index[:, 1], a.index[:, 2]]
    if not len(T.index):
        return
    point[q.span] = away[plan.broker[q.index[:, 0]], q.index[:, 1], q.index[:, 2]]
    used = np.stack([_paths(away, plan.broker, party) for party in parties(instance)])
    point[T.span] = used[T.index[:, 0], T.index[:, 1], T.index[:, 2]]


def _paths(away: NDArray[np.bool_], broker: Indices, party: Party) -> NDArray[np.bool_]:
    """The arcs on paths from the root of a party to its others: away from the root, but not away from all others."""
    others = away[np.unique(broker[list(party.others)])]
    return np.asarray(away[broker[party.root]] & ~others.all(axis=0))


def _orientation(links: Indices, root: int, brokers: int) -> NDArray[np.bool_]:
    """The links directed away from a broker: from x to."""
    result = np.zeros((brokers, brokers), dtype=bool)
    neighbours: list[list[int]] = [[] for _ in range(brokers)]
    for i, j in links.tolist():
        neighbours[i].append(j)
        neighbours[j].append(i)
    seen, queue = {root}, [root]
    for i in queue:
        for j in neighbours[i]:
            if j not in seen:
                seen.add(j)
                queue.append(j)
                result[i, j] = True
    return result


def _encode_mesh(instance: Overlay, program: Program, plan: OverlayPlan, point: Vector) -> None:
    known, groups = _plan_trees(instance, plan), parties(instance)
    T, f = program.family("T"), program.family("f")
    if not groups:
        return
    arcs = T.index[T.index[:, 0] == 0, 1:]
    of_party = point[T.span].reshape(len(groups), len(arcs))
    of_user = point[f.span].reshape(-1, len(arcs))
    row = 0
    for t, party in enumerate(groups):
        links = np.array(sorted(known[frozenset(plan.broker[list(party.users)].tolist())]), np.int64).reshape(-1, 2)
        toward = _orientation(links, int(plan.broker[party.root]), instance.B)
        parent = np.where(toward.any(axis=0), toward.argmax(axis=0), -1)
        of_party[t] = toward[arcs[:, 0], arcs[:, 1]]
        for v in party.others if len(party.others) > 1 else ():
            of_user[row] = _path(parent, int(plan.broker[v]), instance.B)[arcs[:, 0], arcs[:, 1]]
            row += 1
    point[T.span], point[f.span] = of_party.ravel(), of_user.ravel()


def _path(parent: Indices, end: int, brokers: int) -> NDArray[np.bool_]:
    result = np.zeros((brokers, brokers), dtype=bool)
    while parent[end] >= 0:
        result[parent[end], end] = True
        end = int(parent[end])
    return result


def _plan_trees(instance: Overlay, plan: OverlayPlan) -> Joined:
    """For each set of brokers to be joined, the cheapest tree that the plan has for it, on useful links only."""
    replaced = Replacements(instance)
    given = {} if plan.trees is None else {(source, channel): links for source, channel, links in plan.trees}
    known: Joined = {}
    for source, channel, brokers in _needed(instance, plan.broker):
        if plan.trees is None:
            if brokers not in known:
                _offer(instance, known, brokers, replaced.by_useful(closure_tree(replaced.distance, brokers)))
        else:
            links = given.get((source, channel), np.zeros((0, 2), np.int64))
            _offer(instance, known, brokers, replaced.by_useful(links))
    return known


def closure_tree(distance: Vector, brokers: frozenset[int]) -> Indices:
    """The links of a minimum spanning tree in the metric closure."""
    members = np.array(sorted(brokers))
    first, second = np.triu_indices(len(members), 1)
    links = np.stack([members[first], members[second]], axis=1)
    return links[wiring.forest(links, distance[links[:, 0], links[:, 1]], len(distance))]


class Replacements:
    """Shortest paths over useful links, which stand in for links that are not useful."""

    def __init__(self, instance: Overlay) -> None:
        links = useful_links(instance)
        self.distance = np.full((instance.B, instance.B), np.inf)
        np.fill_diagonal(self.distance, 0.0)
        i, j = links.T
        self.distance[i, j] = self.distance[j, i] = instance.core_cost[i, j]
        self.after = np.where(np.isfinite(self.distance), np.arange(instance.B), -1)
        for k in range(instance.B):
            way = self.distance[:, k, None] + self.distance[k]
            shorter = way < self.distance
            self.after = np.where(shorter, self.after[:, k, None], self.after)
            self.distance = np.minimum(self.distance, way)

    def by_useful(self, links: Indices) -> Indices:
        """The useful links on shortest paths between the ends of links."""
        found = set()
        for i, j in links.tolist():
            while i != j:
                step = int(self.after[i, j])
                found.add((min(i, step), max(i, step)))
                i = step
        return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
