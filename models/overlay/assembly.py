"""Overlay as arrays: the program of formulation.py (same rows, same columns, same names), assembled with numpy.

tests/overlay/test_formulation.py shows that both are the same matrix.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from yardline.models.checks import Indices
from yardline.models.overlay.data import Overlay
from yardline.models.overlay.parties import Party, crowds, parties, too_large, useful_links, wide
from yardline.models.overlay.points import decode, encode
from yardline.models.program import Builder, Program

__all__ = ["assemble", "decode", "encode", "size"]


def size(instance: Overlay) -> int:
    """About how many columns the program has: what decides whether it is within reach."""
    audience = np.asarray(instance.subscribes.sum(axis=0)).reshape(-1)
    publishes = instance.rates > 0
    inside = instance.subscribes.multiply(publishes).sum(axis=0) > 0
    outside = publishes.sum(axis=0) - instance.subscribes.multiply(publishes).sum(axis=0)
    arcs = instance.B * (instance.B - 1)
    if instance.topology == "tree":
        return int(instance.U * instance.B + arcs * (instance.B + instance.U + (inside + outside).sum()))
    copies = inside * np.maximum(1, audience) + outside * (audience + 1)
    return int(instance.U * instance.B + arcs * copies.sum())


def assemble(instance: Overlay) -> Program:
    """The program of an instance."""
    b = Builder()
    x = _places(b, instance)
    if instance.B == 1:
        _access_rows(b, instance, x)
    elif instance.topology == "tree":
        _one_tree(b, instance, x)
    else:
        _mesh(b, instance, x)
    return b.program()


def places(instance: Overlay) -> Indices:
    """Pairs (user, broker) that have a column x; a user without any possible broker has one that must stay 0."""
    may = instance.possible.copy()
    may[~may.any(axis=1), 0] = True
    return np.argwhere(may)


def _places(b: Builder, instance: Overlay) -> Indices:
    """Columns x[u,b]: their positions, users x brokers, -1 where there is none."""
    pairs = places(instance)
    user, broker = pairs.T
    x = np.full((instance.U, instance.B), -1)
    high = instance.possible[user, broker].astype(np.float64)
    x[user, broker] = b.columns("x", pairs, cost=instance.price[user, broker], high=high)
    return x


def _access_rows(b: Builder, instance: Overlay, x: Indices) -> None:
    user, broker = np.nonzero(x >= 0)
    b.entries(b.rows("serve", np.arange(instance.U)[:, None], low=1.0, high=1.0)[user], x[user, broker])
    w = instance.traffic
    tight = [k for k in np.flatnonzero(np.isfinite(instance.limit)) if w[user[broker == k]].sum() > instance.limit[k]]
    limited = np.array(tight, dtype=np.int64)
    for row, k in zip(b.rows("room", limited[:, None], high=instance.limit[limited]), limited, strict=True):
        users = np.flatnonzero((x[:, k] >= 0) & (w > 0))
        b.entries(row, x[users, k], w[users])
    few = crowds(instance)
    rows = b.rows("few", np.array([(k, m) for k, m, _ in few]).reshape(-1, 2), high=np.array([m for _, m, _ in few]))
    for row, (k, _, crowd) in zip(rows, few, strict=True):
        b.entries(row, x[crowd, k])


def arcs_of(links: Indices) -> Indices:
    """Both directions of each link: first all as given, then all reversed."""
    return np.concatenate([links, links[:, ::-1]])


def _mesh(b: Builder, instance: Overlay, x: Indices) -> None:
    groups, arcs = parties(instance), arcs_of(useful_links(instance))
    T = _party_arcs(b, instance, groups, arcs)
    pairs = _members(groups, lambda others: others == 1)
    flows = _members(groups, lambda others: others > 1)
    index = _crossed(flows, arcs)
    f = b.columns("f", index, integer=False).reshape(len(flows), len(arcs))
    _access_rows(b, instance, x)
    both = np.concatenate([pairs, flows])
    _flow_rows(b, instance, x, groups, both, np.concatenate([T[pairs[:, 0]], f]), arcs)
    rows = b.rows("carry", index, low=0.0)
    b.entries(rows, T[flows[:, 0]].ravel())
    b.entries(rows, f.ravel(), -1.0)
    _spread(b, instance, x, groups, arcs, T)


def _members(groups: list[Party], wanted: Callable[[int], bool]) -> Indices:
    """(party, user other than its root), of parties with a wanted number of others."""
    found = [(t, v) for t, party in enumerate(groups) if wanted(len(party.others)) for v in party.others]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _spread(b: Builder, instance: Overlay, x: Indices, groups: list[Party], arcs: Indices, T: Indices) -> None:
    """sum(T[t] out of {i,j}) >= x[root,i] + x[root,j] where the party is too large for both; sum(T[t]) >= n - 1."""
    large = np.array(too_large(instance, groups), dtype=np.int64).reshape(-1, 3)
    for row, (t, i, j) in zip(b.rows("leave", large, low=0.0), large.tolist(), strict=True):
        here = np.isin(arcs, [i, j])
        b.entries(row, T[t, here[:, 0] & ~here[:, 1]])
        column = x[groups[t].root, sorted({i, j})]
        b.entries(row, column[column >= 0], -1.0)
    many = np.array(wide(instance, groups), dtype=np.int64).reshape(-1, 2)
    rows = b.rows("breadth", many[:, :1], low=(many[:, 1] - 1).astype(np.float64))
    b.entries(np.repeat(rows, len(arcs)), T[many[:, 0]].ravel())


def _party_arcs(b: Builder, instance: Overlay, groups: list[Party], arcs: Indices) -> Indices:
    """Columns T[t,i,j]: parties x arcs."""
    index = _crossed(np.arange(len(groups))[:, None], arcs)
    rate = np.array([party.rate for party in groups])
    cost = np.outer(rate, instance.core_cost[arcs[:, 0], arcs[:, 1]])
    return b.columns("T", index, cost=cost.ravel()).reshape(len(groups), len(arcs))


def _crossed(left: Indices, right: Indices) -> Indices:
    """All rows of one index followed by all rows of the other."""
    return np.concatenate([np.repeat(left, len(right), axis=0), np.tile(right, (len(left), 1))], axis=1)


def _flow_rows(
    b: Builder, instance: Overlay, x: Indices, groups: list[Party], flows: Indices, f: Indices, arcs: Indices
) -> None:
    """sum(f into i) - sum(f out of i) == x[v,i] - x[root,i]."""
    if not len(flows):
        return
    B, count = instance.B, len(flows)
    rows = b.rows("flow", _crossed(flows, np.arange(B)[:, None]), low=0.0, high=0.0).reshape(count, B)
    b.entries(rows[:, arcs[:, 1]].ravel(), f.ravel())
    b.entries(rows[:, arcs[:, 0]].ravel(), f.ravel(), -1.0)
    roots = np.array([party.root for party in groups])[flows[:, 0]]
    for user, sign in ((flows[:, 1], -1.0), (roots, 1.0)):
        column = x[user]
        b.entries(rows[column >= 0], column[column >= 0], sign)


def _one_tree(b: Builder, instance: Overlay, x: Indices) -> None:
    groups, links = parties(instance), useful_links(instance)
    arcs, brokers = arcs_of(links), np.arange(instance.B)
    users = np.array(sorted({u for party in groups for u in party.users}), dtype=np.int64)
    z = b.columns("z", links)
    T = _party_arcs(b, instance, groups, arcs)
    a = _away_columns(b, instance.B, arcs)
    q = b.columns("q", _crossed(users[:, None], arcs), integer=False).reshape(len(users), len(arcs))
    _access_rows(b, instance, x)
    _oriented(b, "span", brokers, links, a, z)
    _parents(b, "parent", brokers, instance.B, arcs, a, None)
    _oriented(b, "away", users, links, q, z)
    _parents(b, "reach", users, instance.B, arcs, q, x[users])
    _path_rows(b, groups, users, arcs, T, q)
    _spread(b, instance, x, groups, arcs, T)


def _away_columns(b: Builder, B: int, arcs: Indices) -> Indices:
    """Columns a[k,i,j]: brokers x arcs, -1 where the arc leads into k itself."""
    index = _crossed(np.arange(B)[:, None], arcs)
    away = index[:, 0] != index[:, 2]
    a = np.full(len(index), -1)
    a[away] = b.columns("a", index[away], integer=False)
    return a.reshape(B, len(arcs))


def _path_rows(b: Builder, groups: list[Party], users: Indices, arcs: Indices, T: Indices, q: Indices) -> None:
    """T[t,i,j] >= q[root,i,j] - q[v,i,j]."""
    pairs = [(t, v) for t, party in enumerate(groups) for v in party.others]
    t, v = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    s = np.array([groups[k].root for k in t], dtype=np.int64)
    rows = b.rows("path", _crossed(np.stack([t, v], axis=1), arcs), low=0.0)
    b.entries(rows, T[t].ravel())
    b.entries(rows, q[np.searchsorted(users, s)].ravel(), -1.0)
    b.entries(rows, q[np.searchsorted(users, v)].ravel())


def _oriented(b: Builder, name: str, who: Indices, links: Indices, a: Indices, z: Indices) -> None:
    """a[k,i,j] + a[k,j,i] == z[i,j]."""
    rows = b.rows(name, _crossed(who[:, None], links), low=0.0, high=0.0)
    for part in (a[:, : len(links)].ravel(), a[:, len(links) :].ravel()):
        b.entries(rows[part >= 0], part[part >= 0])
    b.entries(rows, np.tile(z, len(who)), -1.0)


def _parents(b: Builder, name: str, who: Indices, B: int, arcs: Indices, a: Indices, x: Indices | None) -> None:
    """sum(a[k,j,i] for j) == 1 for each i but the root, which is k or where x says."""
    index = _crossed(who[:, None], np.arange(B)[:, None])
    keep = np.ones(len(index), dtype=bool) if x is not None else index[:, 0] != index[:, 1]
    flat = np.full(len(index), -1)
    flat[keep] = b.rows(name, index[keep], low=1.0, high=1.0)
    rows = flat.reshape(len(who), B)
    into = rows[:, arcs[:, 1]]
    b.entries(into[a >= 0], a[a >= 0])
    if x is not None:
        b.entries(rows[x >= 0], x[x >= 0])
