"""Customization as an integer program (Pyomo), exact with respect to the judge.

Letters: V nodes with a request in their subtree (0 the root), path[w] the nodes from the root to w; F formats that can
be made from the source s, E conversions (f,g) with f in F, D[h] the formats of F that can become h, itself included;
R requests (w,h) with h in F, without (0,s), which needs nothing; N requests whose format is not in F (one is enough to
make everything infeasible). U[v] the formats of F that can become something requested in the subtree of v.
t[v,f] what the link into v pays to carry f, c[v,f,g] what node v pays to turn f into g.

A vertex (v,f) says that node v has format f. x[v,f]: f is sent to v; y[v,f,g]: v turns f into g. Every request gets one
unit of flow of its own from (0,s), which may only use what is sent and done: u[w,h,v,f] along links, z[w,h,v,f,g]
through conversions. A least plan is a tree, hence (once) and (passing): a vertex is entered once, and only if it is
left again or requested. Nothing enters (0,s), and no flow of (w,h) leaves (w,h).

    min       sum(t[v,f] * x[v,f]) + sum(c[v,f,g] * y[v,f,g])

    into(w,h,v,f) = u[w,h,v,f] (v not 0) + sum(z[w,h,v,e,f] for e)
    from(w,h,v,f) = u[w,h,k,f] (k after v on path[w]) + sum(z[w,h,v,f,g] for g)

    (arrive)  into(w,h,w,h) == 1                        for (w,h) in R
    (balance) into(w,h,v,f) - from(w,h,v,f) == 0        for (w,h) in R, v in path[w], f in D[h]; not (0,s), not (w,h);
                                                        and where there is a flow to balance
    (sent)    u[w,h,v,f] <= x[v,f]
    (done)    z[w,h,v,f,g] <= y[v,f,g]
    (once)    x[v,f] + sum(y[v,e,f] for e) <= 1         for v in V, f in U[v]; not (0,s)
    (passing) x[v,f] + sum(y[v,e,f] for e)
              <= sum(x[k,f] for children k of v) + sum(y[v,f,g] for g)     for those that are not requested
    (never)   n[w,h] == 1                               for (w,h) in N, where n is fixed at 0

x and y are 0/1, u and z in [0,1] (with x and y whole, whole ones exist); with relax=True all are in [0,1], and the
optimum is a lower bound.
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from yardline.models.customization import graph, tree
from yardline.models.customization.data import Customization


class _Sets:
    """The index sets of the program, as the docstring names them."""

    def __init__(self, instance: Customization) -> None:
        made, makers, s = graph.made(instance), graph.makers(instance), instance.source
        E = [(f, g) for f, g in instance.conversions.tolist() if made[f]]
        requests = [(w, h) for w, h in graph.terminals(instance).tolist()]
        self.s, self.V = s, [v for v in range(instance.n) if instance.awaiting[v]]
        self.R = [(w, h) for w, h in requests if made[h]]
        self.N = [(w, h) for w, h in requests if not made[h]]
        D = {h: {f for f in range(instance.m) if made[f] and makers[h][f]} for _, h in requests}
        self.path = {w: tree.path(instance.parent, w) for w, _ in requests}
        U: dict[int, set[int]] = {v: set() for v in self.V}
        for w, h in self.R:
            for v in self.path[w]:
                U[v] |= D[h]
        self.vertices = [(v, f) for v in self.V for f in sorted(U[v])]
        self.X = [(v, f) for v, f in self.vertices if v != 0]
        self.Y = [(v, f, g) for v in self.V for f, g in E if g in U[v] and (v, g) != (0, s)]
        places = [(w, h, v) for w, h in self.R for v in self.path[w]]
        self.places = [(w, h, v, f) for w, h, v in places for f in sorted(D[h])]
        self.Z = [
            (w, h, v, f, g) for w, h, v in places for f, g in E if g in D[h] and (v, g) != (0, s) and (v, f) != (w, h)
        ]


def build(instance: Customization, *, relax: bool = False) -> pyo.ConcreteModel:
    """The Pyomo model of an instance."""
    S, m = _Sets(instance), pyo.ConcreteModel("customization")
    _variables(m, instance, S, pyo.UnitInterval if relax else pyo.Binary)
    _flow_rows(m, S)
    _tree_rows(m, instance, S)
    return m


def _variables(m: Any, instance: Customization, S: _Sets, domain: Any) -> None:
    t, c = instance.send_cost, instance.convert_cost
    number = {(f, g): p for p, (f, g) in enumerate(instance.conversions.tolist())}
    m.x = pyo.Var(S.X, domain=domain)
    m.y = pyo.Var(S.Y, domain=domain)
    m.u = pyo.Var([q for q in S.places if q[2] != 0], domain=pyo.UnitInterval)
    m.z = pyo.Var(S.Z, domain=pyo.UnitInterval)
    m.n = pyo.Var(S.N, bounds=(0, 0))
    m.cost = pyo.Objective(
        expr=sum(t[v, f] * m.x[v, f] for v, f in S.X) + sum(c[v, number[f, g]] * m.y[v, f, g] for v, f, g in S.Y)
    )


def _flow_rows(m: Any, S: _Sets) -> None:
    enter: dict[tuple[int, ...], list[Any]] = {q: [] for q in S.places}
    leave: dict[tuple[int, ...], list[Any]] = {q: [] for q in S.places}
    for w, h, v, f in m.u:
        enter[w, h, v, f].append(m.u[w, h, v, f])
        above = S.path[w][S.path[w].index(v) - 1]
        leave[w, h, above, f].append(m.u[w, h, v, f])
    for w, h, v, f, g in S.Z:
        enter[w, h, v, g].append(m.z[w, h, v, f, g])
        leave[w, h, v, f].append(m.z[w, h, v, f, g])

    @m.Constraint(S.R)
    def arrive(m: Any, w: int, h: int) -> Any:
        return sum(enter[w, h, w, h]) == 1

    @m.Constraint([q for q in S.places if q[2:] != (0, S.s) and q[2:] != q[:2] and enter[q] + leave[q]])
    def balance(m: Any, *q: int) -> Any:
        return sum(enter[q]) - sum(leave[q]) == 0

    @m.Constraint(list(m.u))
    def sent(m: Any, w: int, h: int, v: int, f: int) -> Any:
        return m.u[w, h, v, f] <= m.x[v, f]

    @m.Constraint(S.Z)
    def done(m: Any, w: int, h: int, v: int, f: int, g: int) -> Any:
        return m.z[w, h, v, f, g] <= m.y[v, f, g]


def _tree_rows(m: Any, instance: Customization, S: _Sets) -> None:
    enter: dict[tuple[int, int], list[Any]] = {q: [] for q in S.vertices}
    leave: dict[tuple[int, int], list[Any]] = {q: [] for q in S.vertices}
    for v, f in S.X:
        enter[v, f].append(m.x[v, f])
        leave[int(instance.parent[v]), f].append(m.x[v, f])
    for v, f, g in S.Y:
        enter[v, g].append(m.y[v, f, g])
        leave[v, f].append(m.y[v, f, g])
    inner = [q for q in S.vertices if q != (0, S.s)]

    @m.Constraint(inner)
    def once(m: Any, v: int, f: int) -> Any:
        return sum(enter[v, f]) <= 1

    @m.Constraint([q for q in inner if q not in set(S.R)])
    def passing(m: Any, v: int, f: int) -> Any:
        return sum(enter[v, f]) <= sum(leave[v, f])

    @m.Constraint(S.N)
    def never(m: Any, w: int, h: int) -> Any:
        return m.n[w, h] == 1
