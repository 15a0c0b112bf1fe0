"""Customization as arrays: the program of formulation.py (same rows, same columns, same names), assembled with numpy.

tests/customization/test_formulation.py shows that both are the same matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from yardline.models.checks import Indices, Vector
from yardline.models.customization import graph
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.program import Builder, Program


def size(instance: Customization) -> int:
    """About how many columns the program has: what decides whether it is within reach."""
    depth = np.zeros(instance.n, dtype=np.int64)
    for d, level in enumerate(instance.top_down):
        depth[level] = d
    steps, links = len(instance.conversions), instance.m
    arcs = int(instance.awaiting.sum()) * (steps + links)
    ways = depth[graph.terminals(instance)[:, 0]]
    return arcs + int(((ways + 1) * steps + ways * links).sum())


def assemble(instance: Customization) -> Program:
    """The program of an instance."""
    b, arcs = Builder(), _Arcs(instance)
    arcs.columns(b)
    flows = _Flows(instance, arcs)
    flows.columns(b)
    never = b.columns("n", flows.unreachable, high=0.0, integer=False)
    flows.rows(b)
    arcs.rows(b)
    b.entries(b.rows("never", flows.unreachable, low=1.0, high=1.0), never)
    return b.program()


class _Arcs:
    """The arcs of the multilayer graph that lie on some way from the source to a request: columns x and y."""

    def __init__(self, instance: Customization) -> None:
        self.instance = instance
        self.made = graph.made(instance)
        self.vertex = graph.useful(instance)  # nodes x formats
        self.f, self.g = instance.conversions.T
        self.x = np.full(self.vertex.shape, -1)
        self.y = np.full((instance.n, len(self.f)), -1)

    def columns(self, b: Builder) -> None:
        """Columns x[v,f] and y[v,f,g]."""
        sends = self.vertex.copy()
        sends[0] = False
        v, f = np.nonzero(sends)
        self.x[v, f] = b.columns("x", np.stack([v, f], 1), cost=self.instance.send_cost[v, f])
        done = self.vertex[:, self.g] & self.made[self.f]
        done[0] &= self.g != self.instance.source
        v, c = np.nonzero(done)
        index = np.stack([v, self.f[c], self.g[c]], 1)
        self.y[v, c] = b.columns("y", index, cost=self.instance.convert_cost[v, c])

    def rows(self, b: Builder) -> None:
        """Rows once and passing."""
        inner = self.vertex.copy()
        inner[0, self.instance.source] = False
        once = self._row_family(b, "once", inner, high=1.0)
        self._enter(b, once, 1.0)
        nodes, formats = graph.terminals(self.instance).T
        inner[nodes, formats] = False
        passing = self._row_family(b, "passing", inner, high=0.0)
        self._enter(b, passing, 1.0)
        self._leave(b, passing, -1.0)

    def _row_family(self, b: Builder, name: str, which: NDArray[np.bool_], high: float) -> Indices:
        table = np.full(which.shape, -1)
        v, f = np.nonzero(which)
        table[v, f] = b.rows(name, np.stack([v, f], 1), high=high)
        return table

    def _enter(self, b: Builder, rows: Indices, value: float) -> None:
        v, f = np.nonzero(self.x >= 0)
        _put(b, rows[v, f], self.x[v, f], value)
        v, c = np.nonzero(self.y >= 0)
        _put(b, rows[v, self.g[c]], self.y[v, c], value)

    def _leave(self, b: Builder, rows: Indices, value: float) -> None:
        v, f = np.nonzero(self.x >= 0)
        _put(b, rows[self.instance.parent[v], f], self.x[v, f], value)
        v, c = np.nonzero(self.y >= 0)
        _put(b, rows[v, self.f[c]], self.y[v, c], value)


class _Flows:
    """One unit of flow per request (w, h), along the nodes from the root to w: columns u and z."""

    def __init__(self, instance: Customization, arcs: _Arcs) -> None:
        self.arcs, self.source = arcs, instance.source
        wanted = graph.terminals(instance)
        reachable = arcs.made[wanted[:, 1]]
        self.unreachable, self.wanted = wanted[~reachable], wanted[reachable]
        self.request, self.node = _ways(instance, self.wanted[:, 0])
        makers = graph.makers(instance)
        self.able = np.array(list(makers.values()), dtype=bool).reshape(-1, instance.m) & arcs.made
        self.w, self.h = self.wanted[self.request].T  # of each place, i.e. request and node on its way
        self.goal = np.searchsorted(list(makers), self.h)  # the row of `able`: what is made and can become h

    def columns(self, b: Builder) -> None:
        """Columns u[w,h,v,f] and z[w,h,v,f,g]."""
        place, f = np.nonzero(self.able[self.goal] & (self.node > 0)[:, None])
        index = np.stack([self.w[place], self.h[place], self.node[place], f], 1)
        self.u = _Part(place, f, f, index, b.columns("u", index, integer=False))
        cf, cg = self.arcs.f, self.arcs.g
        place, c = np.nonzero((self.able[:, cg] & self.arcs.made[cf])[self.goal])
        v, f, g = self.node[place], cf[c], cg[c]
        fits = ((v != 0) | (g != self.source)) & ((v != self.w[place]) | (f != self.h[place]))
        place, c, v, f, g = place[fits], c[fits], v[fits], f[fits], g[fits]
        index = np.stack([self.w[place], self.h[place], v, f, g], 1)
        self.z = _Part(place, f, g, index, b.columns("z", index, integer=False))
        self.z_arc = self.arcs.y[v, c]

    def rows(self, b: Builder) -> None:
        """Rows arrive, balance, sent and done."""
        table = np.full((len(self.node), self.able.shape[1]), -1)
        last = self.node == self.w
        table[last, self.h[last]] = b.rows("arrive", self.wanted, low=1.0, high=1.0)
        inner = self._touched()
        inner[self.node == 0, self.source] = False
        inner[last, self.h[last]] = False
        place, f = np.nonzero(inner)
        index = np.stack([self.w[place], self.h[place], self.node[place], f], 1)
        table[place, f] = b.rows("balance", index, low=0.0, high=0.0)
        _put(b, table[self.u.place, self.u.to], self.u.column, 1.0)
        _put(b, table[self.u.place - 1, self.u.fro], self.u.column, -1.0)  # the place before is the parent's
        _put(b, table[self.z.place, self.z.to], self.z.column, 1.0)
        _put(b, table[self.z.place, self.z.fro], self.z.column, -1.0)
        _below(b, "sent", self.u, self.arcs.x[self.node[self.u.place], self.u.to])
        _below(b, "done", self.z, self.z_arc)

    def _touched(self) -> NDArray[np.bool_]:
        """Where some flow enters or leaves: places x formats."""
        result = np.zeros((len(self.node), self.able.shape[1]), dtype=bool)
        result[self.u.place, self.u.to] = True
        result[self.u.place - 1, self.u.fro] = True
        result[self.z.place, self.z.to] = True
        result[self.z.place, self.z.fro] = True
        return result


@dataclass(frozen=True, eq=False)
class _Part:
    """Flow columns: their place (request and node), formats before and after, indices and positions."""

    place: Indices
    fro: Indices
    to: Indices
    index: Indices
    column: Indices


def _ways(instance: Customization, ends: Indices) -> tuple[Indices, Indices]:
    """All pairs (request, node on the way from the root to it), sorted by request, from the root down."""
    request, node, steps = np.arange(len(ends)), ends, []
    while len(node):
        steps.append((request, node))
        above = instance.parent[node]
        request, node = request[above >= 0], above[above >= 0]
    if not steps:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    requests, nodes = (np.concatenate([step[part] for step in steps[::-1]]) for part in (0, 1))
    order = np.argsort(requests, kind="stable")
    return requests[order], nodes[order]


def _put(b: Builder, rows: Indices, columns: Indices, value: float) -> None:
    """Entries where there is a row."""
    there = rows >= 0
    b.entries(rows[there], columns[there], value)


def _below(b: Builder, name: str, part: _Part, arc: Indices) -> None:
    """No more flow on an arc than the arc has room: flow <= arc."""
    rows = b.rows(name, part.index, high=0.0)
    b.entries(rows, part.column)
    b.entries(rows, arc, -1.0)


def decode(instance: Customization, chosen: Mapping[str, Indices]) -> CustomizationPlan:
    """The plan of a 0/1 point: what the arcs x and y at 1 reach and the requests need."""
    position = {(f, g): c for c, (f, g) in enumerate(instance.conversions.tolist())}
    sends = [(v, f) for v, f in chosen["x"].tolist()]
    converts = [(v, position[f, g]) for v, f, g in chosen["y"].tolist()]
    return plan_of(instance, graph.needed(instance, graph.entrances(instance, sends, converts)))


def plan_of(instance: Customization, tree: Mapping[graph.Vertex, int]) -> CustomizationPlan:
    """The plan that enters these vertices in these ways."""
    sends: list[list[int]] = [[] for _ in range(instance.n)]
    converts: list[list[int]] = [[] for _ in range(instance.n)]
    for (v, f), entrance in tree.items():
        if entrance == graph.BY_LINK:
            sends[v].append(f)
        else:
            converts[v].append(entrance)
    return CustomizationPlan.of(instance, sends=sends, converts=converts)


def encode(instance: Customization, program: Program, plan: CustomizationPlan) -> Vector:
    """The point of a valid plan. What no request needs is left out, so the point costs no more than the plan."""
    sends, converts = (
        list(zip(*map(np.ndarray.tolist, part.nonzero()), strict=True)) for part in (plan.sends, plan.converts)
    )
    entered = graph.entrances(instance, sends, converts)
    names: dict[str, set[tuple[int, ...]]] = {"x": set(), "y": set(), "u": set(), "z": set()}
    for w, h in graph.terminals(instance).tolist():
        for (v, f), entrance in graph.way(instance, entered, (w, h)):
            if entrance == graph.BY_LINK:
                names["x"].add((v, f))
                names["u"].add((w, h, v, f))
            else:
                e = int(instance.conversions[entrance, 0])
                names["y"].add((v, e, f))
                names["z"].add((w, h, v, e, f))
    point = np.zeros(program.shape[1])
    for name, members in names.items():
        family = program.family(name)
        point[family.span] = _among(family.index, members)
    return point


def _among(index: Indices, members: set[tuple[int, ...]]) -> NDArray[np.bool_]:
    """Which rows of an index are members."""
    if not members:
        return np.zeros(len(index), dtype=bool)
    shape = tuple((index.max(axis=0) + 1).tolist())
    wanted = np.ravel_multi_index(tuple(np.array(list(members), dtype=np.int64).T), shape)
    return np.isin(np.ravel_multi_index(tuple(index.T), shape), wanted)
