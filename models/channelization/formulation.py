"""Channelization as an integer program (Pyomo), exact with respect to the judge.

Letters: F wanted flows, U users, A[i] the users who want flow i; a pair (j,i) is a user j and a flow i;
s[i] what a group pays to send flow i, c[j,i] what user j pays to receive flow i once, p[i] what flow i costs by unicast.

**Constrained** (a flow in at most one group). A group is named after its first flow in a fixed order of F, largest audience
first: its representative. Flow i may join the group of k only if k <= i in that order. x[k,k] = 1: k represents a group.

Without unicast, the audience of k is subscribed to k's group for sure, and that makes the relaxation strong:

    min     sum((s[i] + sum(c[j,i] for j in A[i] | A[k])) * x[i,k]  for k <= i)
          + sum(c[j,k] * y[j,k])  +  sum(c[j,i] * z[j,i,k])
    (serve)   sum(x[i,k] for k <= i) == 1                       for i in F
    (opened)  x[i,k] <= x[k,k]                                  for k < i
    (groups)  sum(x[k,k] for k in F) <= K
    (join)    y[j,k] >= x[i,k]                                  for k < i, j in A[i] - A[k]
    (unwanted) z[j,i,k] >= x[i,k] + y[j,k] - x[k,k]             for k < i, j not in A[i] | A[k] that may join k

    y[j,k]: user j, who does not want k, subscribes to its group; z[j,i,k]: j receives i there, unwanted.

With unicast nobody is subscribed for sure:

    min     sum(s[i] * x[i,k]) + sum(c[j,k] * y[j,k]) + sum(c[j,i] * z[j,i,k]) + sum(p[i] * t[j,i])
    (once)    sum(x[i,k] for k <= i) <= 1                       for i in F
    (opened)  x[i,k] <= x[k,k]                                  for k < i
    (groups)  sum(x[k,k] for k in F) <= K
    (exists)  y[j,k] <= x[k,k]                                  for users j who want k or a later flow
    (receive) z[j,i,k] >= x[i,k] + y[j,k] - x[k,k]              for k < i and those j
    (carried) z[j,i,k] <= x[i,k],  (tuned) z[j,i,k] <= y[j,k]   where j wants i
    (serve)   t[j,i] + y[j,i] + sum(z[j,i,k] for k < i) >= 1    where j wants i
    (budget)  sum(rate[i] * t[j,i]) <= unicast budget

**Unconstrained** (a flow in several groups), G = 1..K; t only where hybrid:

    min     sum(s[i] * x[i,g]) + sum(c[j,i] * z[j,i,g]) + sum(p[i] * t[j,i])
    (receive) z[j,i,g] >= x[i,g] + y[j,g] - 1                   for all j, i, g
    (carried) z[j,i,g] <= x[i,g],  (tuned) z[j,i,g] <= y[j,g]   where j wants i
    (serve)   t[j,i] + sum(z[j,i,g] for g in G) >= 1            where j wants i
    (order)   sum(x[i,g] for i in F) >= sum(x[i,g+1] for i in F)          groups are alike: largest first
    (closed)  x[i,0] <= 0                                       only where K = 0 (and G is one group that must stay empty)
    (budget)  sum(rate[i] * t[j,i]) <= unicast budget

All variables are 0/1; with relax=True in [0,1], and the optimum is a lower bound.
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from yardline.models.channelization.assembly import representatives
from yardline.models.channelization.data import Channelization
from yardline.models.numbers import widened


def build(instance: Channelization, *, relax: bool = False) -> pyo.ConcreteModel:
    """The Pyomo model of an instance."""
    m = pyo.ConcreteModel("channelization")
    domain = pyo.UnitInterval if relax else pyo.Binary
    if instance.mode == "unconstrained":
        _unconstrained(m, instance, domain)
    elif instance.hybrid:
        _constrained_hybrid(m, instance, domain)
    else:
        _constrained(m, instance, domain)
    return m


def _constrained(m: Any, instance: Channelization, domain: Any) -> None:
    F = representatives(instance)
    rank = {i: position for position, i in enumerate(F)}
    A = {i: set(_row(instance.audience, i)) for i in F}
    s, c, K = instance.send_cost, instance.receive_cost, instance.groups
    XX = [(i, k) for i in F for k in F if rank[k] <= rank[i]]
    X = [(i, k) for i, k in XX if i != k]
    Y = sorted({(j, k) for i, k in X for j in A[i] - A[k]})
    Z = [(j, i, k) for i, k in X for j, k2 in Y if k2 == k and j not in A[i]]

    m.x = pyo.Var(XX, domain=domain)
    m.y = pyo.Var(Y, domain=domain)
    m.z = pyo.Var(Z, domain=domain)
    m.cost = pyo.Objective(
        expr=sum((s[i] + sum(c[j, i] for j in A[i] | A[k])) * m.x[i, k] for i, k in XX)
        + sum(c[j, k] * m.y[j, k] for j, k in Y)
        + sum(c[j, i] * m.z[j, i, k] for j, i, k in Z)
    )

    @m.Constraint(F)
    def serve(m: Any, i: int) -> Any:
        return sum(m.x[i, k] for k in F if rank[k] <= rank[i]) == 1

    @m.Constraint(X)
    def opened(m: Any, i: int, k: int) -> Any:
        return m.x[i, k] <= m.x[k, k]

    if F:
        m.groups = pyo.Constraint(expr=sum(m.x[k, k] for k in F) <= K)

    @m.Constraint([(j, i, k) for i, k in X for j in A[i] - A[k]])
    def join(m: Any, j: int, i: int, k: int) -> Any:
        return m.y[j, k] >= m.x[i, k]

    @m.Constraint(Z)
    def unwanted(m: Any, j: int, i: int, k: int) -> Any:
        return m.z[j, i, k] >= m.x[i, k] + m.y[j, k] - m.x[k, k]


def _constrained_hybrid(m: Any, instance: Channelization, domain: Any) -> None:
    F, T = representatives(instance), _wants(instance)
    rank = {i: position for position, i in enumerate(F)}
    s, c, K = instance.send_cost, instance.receive_cost, instance.groups
    XX = [(i, k) for i in F for k in F if rank[k] <= rank[i]]
    X = [(i, k) for i, k in XX if i != k]
    Y = sorted({(j, k) for j, i in T for k in F if rank[k] <= rank[i]})
    Z = [(j, i, k) for i, k in X for j, k2 in Y if k2 == k]
    wanted = set(T)

    m.x = pyo.Var(XX, domain=domain)
    m.y = pyo.Var(Y, domain=domain)
    m.z = pyo.Var(Z, domain=domain)
    m.t = pyo.Var(T, domain=domain)
    m.cost = pyo.Objective(
        expr=sum(s[i] * m.x[i, k] for i, k in XX)
        + sum(c[j, k] * m.y[j, k] for j, k in Y)
        + sum(c[j, i] * m.z[j, i, k] for j, i, k in Z)
        + _unicast_cost(m, instance)
    )

    @m.Constraint(F)
    def once(m: Any, i: int) -> Any:
        return sum(m.x[i, k] for k in F if rank[k] <= rank[i]) <= 1

    @m.Constraint(X)
    def opened(m: Any, i: int, k: int) -> Any:
        return m.x[i, k] <= m.x[k, k]

    if F:
        m.groups = pyo.Constraint(expr=sum(m.x[k, k] for k in F) <= K)

    @m.Constraint(Y)
    def exists(m: Any, j: int, k: int) -> Any:
        return m.y[j, k] <= m.x[k, k]

    @m.Constraint(Z)
    def receive(m: Any, j: int, i: int, k: int) -> Any:
        return m.z[j, i, k] >= m.x[i, k] + m.y[j, k] - m.x[k, k]

    @m.Constraint([(j, i, k) for j, i, k in Z if (j, i) in wanted])
    def carried(m: Any, j: int, i: int, k: int) -> Any:
        return m.z[j, i, k] <= m.x[i, k]

    @m.Constraint([(j, i, k) for j, i, k in Z if (j, i) in wanted])
    def tuned(m: Any, j: int, i: int, k: int) -> Any:
        return m.z[j, i, k] <= m.y[j, k]

    @m.Constraint(T)
    def serve(m: Any, j: int, i: int) -> Any:
        return m.t[j, i] + m.y[j, i] + sum(m.z[j, i, k] for k in F if rank[k] < rank[i]) >= 1

    _budget(m, instance)


def _unconstrained(m: Any, instance: Channelization, domain: Any) -> None:
    F, T, U = instance.wanted.tolist(), _wants(instance), sorted({j for j, _ in _wants(instance)})
    s, c, G = instance.send_cost, instance.receive_cost, range(max(1, instance.most_groups))

    m.x = pyo.Var(F, G, domain=domain)
    m.y = pyo.Var(U, G, domain=domain)
    m.z = pyo.Var(U, F, G, domain=domain)
    m.t = pyo.Var(T if instance.hybrid else [], domain=domain)
    m.cost = pyo.Objective(
        expr=sum(s[i] * m.x[i, g] for i in F for g in G)
        + sum(c[j, i] * m.z[j, i, g] for j in U for i in F for g in G)
        + _unicast_cost(m, instance)
    )

    @m.Constraint(U, F, G)
    def receive(m: Any, j: int, i: int, g: int) -> Any:
        return m.z[j, i, g] >= m.x[i, g] + m.y[j, g] - 1

    @m.Constraint(T, G)
    def carried(m: Any, j: int, i: int, g: int) -> Any:
        return m.z[j, i, g] <= m.x[i, g]

    @m.Constraint(T, G)
    def tuned(m: Any, j: int, i: int, g: int) -> Any:
        return m.z[j, i, g] <= m.y[j, g]

    @m.Constraint(T)
    def serve(m: Any, j: int, i: int) -> Any:
        return (m.t[j, i] if instance.hybrid else 0) + sum(m.z[j, i, g] for g in G) >= 1

    @m.Constraint(G[:-1] if F else [])
    def order(m: Any, g: int) -> Any:
        return sum(m.x[i, g] for i in F) >= sum(m.x[i, g + 1] for i in F)

    @m.Constraint(F if instance.groups == 0 else [])
    def closed(m: Any, i: int) -> Any:
        return m.x[i, 0] <= 0

    _budget(m, instance)


def _unicast_cost(m: Any, instance: Channelization) -> Any:
    return sum(instance.unicast_price * instance.rates[i] * m.t[j, i] for j, i in m.t)


def _budget(m: Any, instance: Channelization) -> None:
    pairs = [(j, i) for j, i in m.t if instance.rates[i] > 0]
    if pairs and instance.unicast_budget is not None:
        rate = sum(instance.rates[i] * m.t[j, i] for j, i in pairs)
        m.budget = pyo.Constraint(expr=rate <= widened(instance.unicast_budget))


def _wants(instance: Channelization) -> list[tuple[int, int]]:
    """All pairs (user, flow it wants)."""
    return [(int(j), int(i)) for j, i in zip(*instance.wants.nonzero(), strict=True)]


def _row(sets: Any, r: int) -> list[int]:
    return sets.indices[sets.indptr[r] : sets.indptr[r + 1]].tolist()
