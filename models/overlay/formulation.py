"""Overlay: one broker per user, trees of brokers, every link paid by the traffic on it.

Data: w[u] traffic of user u, c[u,b] access cost, d[i,j] core cost, L[b] widened capacity; P[u] the brokers open to u
that have room for it alone. Parties t (parties.py): users M[t] whose brokers one tree must join, s[t] the first of
them, r[t] the rate on that tree. A: arcs, both directions of useful links. Crowds (b, k, C): no k + 1 of C fit at b.

**Both topologies:**

    min       sum(w[u] * c[u,b] * x[u,b]) + sum(r[t] * d[i,j] * T[t,i,j])
    (serve)   sum(x[u,b] for b in P[u]) == 1                              for users u
    (room)    sum(w[u] * x[u,b] for u) <= L[b]                            for brokers b that could get too much
    (few)     sum(x[u,b] for u in C) <= k                                 for crowds (b, k, C)
    (leave)   sum(T[t] out of {i,j}) >= x[s[t],i] + x[s[t],j]             where M[t] is too large for {i,j}; or i = j
    (breadth) sum(T[t]) >= n - 1                                          where M[t] needs n >= 3 brokers

**Mesh**: T[t] is an arborescence from the root's broker; f[t,v] a path in it. Of a party of two T[t] is the path.

    (flow)    sum(f[t,v,j,i] for j) - sum(f[t,v,i,j] for j) == x[v,i] - x[s[t],i]     for t, v in M[t] - s[t], brokers i
    (carry)   f[t,v,i,j] <= T[t,i,j]                                      for t, v, arcs (i,j)

**Tree**: z is a spanning tree; a[k] is z directed away from broker k, q[u] is z directed away from the broker of u.
An arc leads from u towards v iff it is directed away from u and not away from v.

    (span)    a[k,i,j] + a[k,j,i] == z[i,j]                               for brokers k, links i < j; no a[k,i,k]
    (parent)  sum(a[k,j,i] for j) == 1                                    for brokers k, i != k
    (away)    q[u,i,j] + q[u,j,i] == z[i,j]                               for users u of parties, links i < j
    (reach)   sum(q[u,j,i] for j) == 1 - x[u,i]                           for users u of parties, brokers i
    (path)    T[t,i,j] >= q[s[t],i,j] - q[v,i,j]                          for t, v in M[t] - s[t], arcs (i,j)

x, T, z in {0,1}; f, a, q in [0,1]. With relax=True all are in [0,1], and the optimum is a lower bound.
A user with P[u] empty has one column x[u,0], which must be 0: no point is left. With one broker there is only x.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from yardline.models.overlay.assembly import arcs_of, places
from yardline.models.overlay.data import Overlay
from yardline.models.overlay.parties import crowds, parties, too_large, useful_links, wide


def build(instance: Overlay, *, relax: bool = False) -> pyo.ConcreteModel:
    """The Pyomo model of an instance."""
    m = pyo.ConcreteModel("overlay")
    domain = pyo.UnitInterval if relax else pyo.Binary
    X = _pairs(places(instance))
    m.x = pyo.Var(X, domain=domain, bounds=lambda m, u, b: (0, int(instance.possible[u, b])))
    core: Any = 0
    if instance.B > 1:
        M = parties(instance)
        A = _pairs(arcs_of(useful_links(instance)))
        m.T = pyo.Var(range(len(M)), A, domain=domain)
        core = sum(M[t].rate * instance.core_cost[i, j] * m.T[t, i, j] for t, i, j in m.T)
    m.cost = pyo.Objective(expr=sum(instance.price[u, b] * m.x[u, b] for u, b in X) + core)
    _access(m, instance, X)
    if instance.B > 1:
        (_one_tree if instance.topology == "tree" else _mesh)(m, instance, M, A, domain)
        _spread(m, instance, M, A)
    return m


def _access(m: Any, instance: Overlay, X: list[tuple[int, int]]) -> None:
    w, L, C = instance.traffic, instance.limit, {(b, k): users for b, k, users in crowds(instance)}

    @m.Constraint(range(instance.U))
    def serve(m: Any, u: int) -> Any:
        return sum(m.x[u, b] for v, b in X if v == u) == 1

    @m.Constraint([b for b in range(instance.B) if np.sum([w[u] for u, k in X if k == b]) > L[b]])
    def room(m: Any, b: int) -> Any:
        return sum(w[u] * m.x[u, b] for u, k in X if k == b and w[u] > 0) <= L[b]

    @m.Constraint(list(C))
    def few(m: Any, b: int, k: int) -> Any:
        return sum(m.x[u, b] for u in C[b, k]) <= k


def _spread(m: Any, instance: Overlay, M: Any, A: list[tuple[int, int]]) -> None:
    N = dict(wide(instance, M))

    @m.Constraint(too_large(instance, M))
    def leave(m: Any, t: int, i: int, j: int) -> Any:
        S, s = {i, j}, M[t].root
        return sum(m.T[t, p, q] for p, q in A if p in S and q not in S) >= sum(_x(m, s, b) for b in S)

    @m.Constraint(list(N))
    def breadth(m: Any, t: int) -> Any:
        return sum(m.T[t, i, j] for i, j in A) >= N[t] - 1


def _mesh(m: Any, instance: Overlay, M: Any, A: list[tuple[int, int]], domain: Any) -> None:
    V = [(t, v) for t, party in enumerate(M) if len(party.others) > 1 for v in party.others]
    paths = [(t, party.others[0]) for t, party in enumerate(M) if len(party.others) == 1]
    m.f = pyo.Var(V, A, domain=pyo.UnitInterval)

    @m.Constraint(paths + V, range(instance.B))
    def flow(m: Any, t: int, v: int, i: int) -> Any:
        f = {arc: m.f[(t, v, *arc)] if len(M[t].others) > 1 else m.T[(t, *arc)] for arc in A}
        into, out = sum(f[k, j] for k, j in A if j == i), sum(f[k, j] for k, j in A if k == i)
        return into - out == _x(m, v, i) - _x(m, M[t].root, i)

    @m.Constraint(V, A)
    def carry(m: Any, t: int, v: int, i: int, j: int) -> Any:
        return m.f[t, v, i, j] <= m.T[t, i, j]


def _one_tree(m: Any, instance: Overlay, M: Any, A: list[tuple[int, int]], domain: Any) -> None:
    B, E = range(instance.B), _pairs(useful_links(instance))
    U = sorted({u for party in M for u in party.users})
    m.z = pyo.Var(E, domain=domain)
    m.a = pyo.Var([(k, i, j) for k in B for i, j in A if j != k], domain=pyo.UnitInterval)
    m.q = pyo.Var(U, A, domain=pyo.UnitInterval)

    @m.Constraint(B, E)
    def span(m: Any, k: int, i: int, j: int) -> Any:
        return sum(m.a[k, p, q] for p, q in ((i, j), (j, i)) if q != k) == m.z[i, j]

    @m.Constraint([(k, i) for k in B for i in B if i != k])
    def parent(m: Any, k: int, i: int) -> Any:
        return sum(m.a[k, p, q] for p, q in A if q == i) == 1

    @m.Constraint(U, E)
    def away(m: Any, u: int, i: int, j: int) -> Any:
        return m.q[u, i, j] + m.q[u, j, i] == m.z[i, j]

    @m.Constraint(U, B)
    def reach(m: Any, u: int, i: int) -> Any:
        return sum(m.q[u, p, q] for p, q in A if q == i) == 1 - _x(m, u, i)

    @m.Constraint([(t, v) for t, party in enumerate(M) for v in party.others], A)
    def path(m: Any, t: int, v: int, i: int, j: int) -> Any:
        return m.T[t, i, j] >= m.q[M[t].root, i, j] - m.q[v, i, j]


def _x(m: Any, u: int, b: int) -> Any:
    """x[u,b], or 0 where user u cannot be at broker b."""
    return sum(m.x[u, at] for at in (b,) if (u, at) in m.x)


def _pairs(index: Any) -> list[tuple[int, int]]:
    return [(int(i), int(j)) for i, j in index.tolist()]
