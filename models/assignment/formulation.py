"""Subscriber assignment as an integer program (Pyomo), exact with respect to the judge.

Letters: S subscribers, B brokers, L leaves, L[b] the leaves at or below broker b, B[s] the brokers on the way to some
leaf that s may use; R[b] the boxes that the filter of b may need, c cells of the event space, w[c] their measure, Z the
pairs (b,c) of a broker and a cell that some box of R[b] covers (pieces.py says which boxes and cells, and why they
suffice). A cell is *wanted* by s where it lies in its interest (with `union`: and is as wide). cap[b] is what the
leaves below b may take together.

    x[s,b]  subscriber s goes to leaf b               f[b,r]    the filter of broker b has box r
    z[b,c]  the filter of broker b covers cell c      y[s,b,r]  at broker b subscriber s is in box r   (`rectangle`)

    min         sum(w[c] * z[b,c] for (b,c) in Z)
    (serve)     sum(x[s,b] for leaves b that s may use) == 1             for s in S
    (barred)    x[s,b] <= 0                                              where no leaf serves s (b is the first leaf)
    (capacity)  sum(x[s,b] for s) <= cap[b]                              for b in L, where more could come
    (boxes)     sum(f[b,r] for r in R[b]) <= alpha[b]                    for b in B, where R[b] has more

**Containment `rectangle`.** Every subscriber is in exactly one box of each broker on its way, and pays alone for all
cells of that box; that makes the relaxation strong:

    (put)       sum(y[s,b,r] for r) == sum(x[s,l] for l in L[b])         for s, b in B[s]
    (open)      y[s,b,r] <= f[b,r]                                       for all y
    (fit)       sum(y[s,b,r] for s) <= cap[b] * f[b,r]                   where more than cap[b] could be in r
    (pay)       z[b,c] >= sum(y[s,b,r] for r over c)                     for s, b in B[s], c not wanted by s
    (nest)      sum(y[s,b,q] for q holding r) >= sum(y[s,d,q] for children d of b, q holding r)
                                                                         for s, inner b, boxes r at its children
    (nest) says: if the box of s at the child holds r, so does its box at the parent.

**Containment `union`.** An interest may lie across several boxes, so cells are covered one by one:

    (made)      z[b,c] <= sum(f[b,r] for r over c)                       for (b,c) in Z
    (pay)       z[b,c] >= sum(f[b,r] for r over c in class g)            for (b,c) in Z, dimensions k, classes g
    where a class holds boxes that differ in dimension k only: two of those over c would be one box together.

**Both.**

    (want)      z[b,c] >= sum(x[s,l] for l in L[b])                      for s, b in B[s], c wanted by s
    (rise)      z[b,c] >= z[d,c]                                         for children d of b: the nesting condition
    (full)      cap[b] * z[b,c] >= sum(x[s,l] for s who want c, l in L[b])   where more than cap[b] want c
    (many)      sum(z[b,c] for b in front l) >= k[l,c]                   for levels l: those who want c must fit in
    (first)     x[s,b] <= sum(x[t,a] for t < s)                          for leaves a, b that nothing tells apart
    (first) puts the leaf with the first subscriber first: deactivate it before adding rows that tell such leaves apart.

x, f, z are 0/1 and y is in [0,1]: with whole x, f and z any box that y touches will do. With relax=True all are in
[0,1], and the optimum is a lower bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from yardline.models.assignment.boxes import inside
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.pieces import Pieces, fronts, least_brokers, pieces, twins


def build(instance: Assignment, *, relax: bool = False) -> pyo.ConcreteModel:
    """The Pyomo model of an instance."""
    p, m = pieces(instance), pyo.ConcreteModel("assignment")
    _variables(m, instance, p, pyo.UnitInterval if relax else pyo.Binary)
    m.cost = pyo.Objective(expr=sum(float(p.measure[c]) * m.z[b, c] for b, c in m.z))
    _places(m, instance, p)
    if instance.containment == "union":
        _union(m, instance, p)
    else:
        _rectangle(m, instance, p)
    _cells(m, instance, p)
    _alike(m, instance, p)
    return m


def _variables(m: Any, instance: Assignment, p: Pieces, domain: Any) -> None:
    L = instance.leaves.tolist()
    nobody = [s for s in range(instance.m) if not p.may[s].any()]
    m.x = pyo.Var([(s, L[l]) for s, l in np.argwhere(p.may).tolist()] + [(s, L[0]) for s in nobody], domain=domain)
    m.f = pyo.Var(_pairs(p.usable), domain=domain)
    m.z = pyo.Var(_pairs((p.usable.astype(int) @ p.covers.astype(int)) > 0), domain=domain)
    if instance.containment == "rectangle":
        in_box = p.reach[:, :, None] & p.usable[None] & p.holds[:, None]
        m.y = pyo.Var([tuple(i) for i in np.argwhere(in_box).tolist()], domain=pyo.UnitInterval)


def _places(m: Any, instance: Assignment, p: Pieces) -> None:
    S, L, cap, alpha = range(instance.m), instance.leaves.tolist(), p.caps.tolist(), instance.alpha.tolist()
    may = {s: [L[l] for l in np.flatnonzero(p.may[s])] for s in S}
    users = {b: [s for s in S if b in may[s]] for b in L}
    R = {b: np.flatnonzero(p.usable[b]).tolist() for b in range(instance.n)}

    @m.Constraint(S)
    def serve(m: Any, s: int) -> Any:
        return sum(m.x[s, b] for b in may[s] or L[:1]) == 1

    @m.Constraint([s for s in S if not may[s]])
    def barred(m: Any, s: int) -> Any:
        return m.x[s, L[0]] <= 0

    @m.Constraint([b for b in L if len(users[b]) > cap[b]])
    def capacity(m: Any, b: int) -> Any:
        return sum(m.x[s, b] for s in users[b]) <= cap[b]

    @m.Constraint([b for b in R if len(R[b]) > alpha[b]])
    def boxes(m: Any, b: int) -> Any:
        return sum(m.f[b, r] for r in R[b]) <= alpha[b]


def _rectangle(m: Any, instance: Assignment, p: Pieces) -> None:
    SB, cap = _pairs(p.reach), p.caps.tolist()
    Y: dict[tuple[int, int], list[int]] = {pair: [] for pair in SB}  # boxes that s may be in at b
    inside_box: dict[tuple[int, int], list[int]] = {}  # who may be in box r at b
    for s, b, r in m.y:
        Y[s, b].append(r)
        inside_box.setdefault((b, r), []).append(s)
    over = p.covers

    @m.Constraint(SB)
    def put(m: Any, s: int, b: int) -> Any:
        return sum(m.y[s, b, r] for r in Y[s, b]) == _passes(m, instance, p, s, b)

    @m.Constraint(list(m.y))
    def open(m: Any, s: int, b: int, r: int) -> Any:
        return m.y[s, b, r] <= m.f[b, r]

    @m.Constraint([(b, r) for b, r in m.f if len(inside_box[b, r]) > max(1, cap[b])])
    def fit(m: Any, b: int, r: int) -> Any:
        return sum(m.y[s, b, r] for s in inside_box[b, r]) <= cap[b] * m.f[b, r]

    cells = {(s, b): np.flatnonzero(over[Y[s, b]].any(axis=0) & ~p.wanted[s]).tolist() for s, b in SB}

    @m.Constraint([(s, b, c) for s, b in SB for c in cells[s, b]])
    def pay(m: Any, s: int, b: int, c: int) -> Any:
        return m.z[b, c] >= sum(m.y[s, b, r] for r in Y[s, b] if over[r, c])

    _nesting(m, instance, p, Y)


def _nesting(m: Any, instance: Assignment, p: Pieces, Y: dict[tuple[int, int], list[int]]) -> None:
    """The box of a subscriber at a broker holds its box one level down."""
    children: dict[int, list[int]] = {}
    for b, above in enumerate(instance.parent.tolist()):
        children.setdefault(above, []).append(b)
    within = inside(p.low, p.high, p.low, p.high)
    lower = {(s, b): [(d, q) for d in children.get(b, []) for q in Y.get((s, d), [])] for s, b in Y}
    index = [(s, b, r) for s, b in Y for r in sorted({q for _, q in lower[s, b]}) if not within[r][Y[s, b]].all()]

    @m.Constraint(index)
    def nest(m: Any, s: int, b: int, r: int) -> Any:
        outer = sum(m.y[s, b, q] for q in Y[s, b] if within[r, q])
        return outer >= sum(m.y[s, d, q] for d, q in lower[s, b] if within[r, q])


def _union(m: Any, instance: Assignment, p: Pieces) -> None:
    over, d = p.covers, instance.d
    R = {b: np.flatnonzero(p.usable[b]).tolist() for b in range(instance.n)}
    classes = {k: _sections(p, k) for k in range(d)}

    @m.Constraint(list(m.z))
    def made(m: Any, b: int, c: int) -> Any:
        return m.z[b, c] <= sum(m.f[b, r] for r in R[b] if over[r, c])

    index = [
        (b, c, k, g) for b, c in m.z for k in range(d) for g in sorted({classes[k][r] for r in R[b] if over[r, c]})
    ]

    @m.Constraint(index)
    def pay(m: Any, b: int, c: int, k: int, g: int) -> Any:
        return m.z[b, c] >= sum(m.f[b, r] for r in R[b] if over[r, c] and classes[k][r] == g)


def _sections(p: Pieces, k: int) -> list[int]:
    """The class of every box: those that differ in dimension k only have the same."""
    sides = np.hstack([np.delete(p.low, k, axis=1), np.delete(p.high, k, axis=1)])
    keys = [tuple(row) for row in sides.tolist()]
    number = {key: g for g, key in enumerate(sorted(set(keys)))}
    return [number[key] for key in keys]


def _cells(m: Any, instance: Assignment, p: Pieces) -> None:
    S, cap = range(instance.m), p.caps.tolist()
    wants = {c: [s for s in S if p.wanted[s, c]] for c in range(len(p.measure))}
    near = {(b, c): [s for s in wants[c] if p.reach[s, b]] for b, c in m.z}
    front, k = [f.tolist() for f in fronts(instance)], least_brokers(instance, p).tolist()
    parent = instance.parent.tolist()

    @m.Constraint([(s, b, c) for b, c in m.z for s in near[b, c]])
    def want(m: Any, s: int, b: int, c: int) -> Any:
        return m.z[b, c] >= _passes(m, instance, p, s, b)

    @m.Constraint([(b, c) for b, c in m.z if parent[b] >= 0])
    def rise(m: Any, b: int, c: int) -> Any:
        return m.z[parent[b], c] >= m.z[b, c]

    @m.Constraint([(b, c) for b, c in m.z if len(near[b, c]) > max(1, cap[b])])
    def full(m: Any, b: int, c: int) -> Any:
        return cap[b] * m.z[b, c] >= sum(_passes(m, instance, p, s, b) for s in near[b, c])

    @m.Constraint([(l, c) for l in range(len(front)) for c in wants if k[l][c] > 1])
    def many(m: Any, l: int, c: int) -> Any:
        return sum(m.z[b, c] for b in front[l] if (b, c) in m.z) >= k[l][c]


def _alike(m: Any, instance: Assignment, p: Pieces) -> None:
    L = instance.leaves.tolist()
    before = {L[after]: first for first, after in twins(instance, p)}

    @m.Constraint([(s, b) for s, b in m.x if b in before and p.may[s, before[b]]])
    def first(m: Any, s: int, b: int) -> Any:
        earlier = [t for t in range(s) if p.may[t, before[b]]]
        return sum(m.x[t, L[before[b]]] for t in earlier) >= m.x[s, b]


def _passes(m: Any, instance: Assignment, p: Pieces, s: int, b: int) -> Any:
    """Whether subscriber s goes to a leaf at or below broker b."""
    return sum(m.x[s, int(instance.leaves[l])] for l in np.flatnonzero(p.may[s] & p.below[b]))


def _pairs(table: Any) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in np.argwhere(table)]
