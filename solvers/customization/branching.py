"""A minimum Steiner arborescence in the multilayer graph: dual ascent, arcs dropped, cuts, branching on vertices.

Everything that is concluded is concluded in whole numbers, by the functions of the checker, and written down as the nodes of a
certificate `potentials` on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models.checks import Indices, Vector
from yardline.solvers.certificates.potentials import Case, proved
from yardline.solvers.customization.ascent import Ascent, Grid, ascend, nothing
from yardline.solvers.customization.averaging import Averaged, averaged, first_tree, settled
from yardline.solvers.customization.cutting import Relaxation

Flags = NDArray[np.bool_]
MOST_ARCS = 60_000
"""Relaxations beyond this many arcs take longer than they are worth."""
REDUCED_ARCS = 300_000
FIX_ROUNDS = 6
ROUNDS = 20
"""Dual ascents on the graph that is left, one after the other."""
RANDOM_TREES = 30
POLISHED_VERTICES = 3_000


@dataclass(eq=False)
class Search:
    """The best tree so far, and the cases that were decided."""

    grid: Grid
    rng: Generator
    seconds_left: Callable[[], float]
    on_tree: Callable[[Indices, int], None] = lambda arcs, units: None
    on_bound: Callable[[int], None] = lambda units: None
    seed: int = 0
    first: Ascent | None = None
    arcs: Indices | None = None
    units: int = 1 << 60
    nodes: list[dict[str, Any]] = field(default_factory=list)
    finished: bool = True
    needless: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))  # arcs with a way around that is no dearer

    @property
    def cutoff(self) -> int:
        """What a case has to reach to be of no more interest."""
        return self.grid.cutoff(self.units)

    def offer(self, arcs: Indices) -> None:
        """Keep a tree of arcs if it is the best so far."""
        units = int(self.grid.cost[arcs].sum())
        if units < self.units:
            self.arcs, self.units = arcs, units
            self.on_tree(arcs, units)

    def run(self) -> int:
        """Search; the bound in units that the nodes prove."""
        graph = self.grid.graph
        alive = np.ones(len(graph.tail), dtype=bool)
        self.needless = self._needless(alive.copy())
        return min(self.cutoff, self._case(alive, graph.terminals, top=True))

    def _needless(self, alive: Flags) -> Flags:
        """Arcs with a way around that is no dearer. Potentials that suit the way suit the arc: no proof is needed."""
        from yardline.solvers.customization import _cuts

        if len(alive) <= MOST_ARCS:
            start, order = self.grid.graph.outward
            _cuts.needless(self.grid.graph.head, start, order, self.grid.cost, alive, self.grid.graph.tail, 2_000)
        return ~alive

    def _case(self, alive: Flags, terminals: Indices, *, top: bool = False) -> int:
        """Decide a case; the bound of its part of the certificate, which begins at the next node."""
        alive, found = alive.copy(), self.first if top else None
        for _ in range(FIX_ROUNDS):
            found = found or self._ascent(alive, terminals, several=top)
            if found is None:
                return self._cut_off(alive, terminals)
            last, found = found, None
            if self.seconds_left() > 0:
                self._trees(alive & ~self.needless, terminals, last)
            if top:
                self.on_bound(min(last.value, self.cutoff))
            if last.value >= self.cutoff:
                return self._settle(last)
            before = int(alive.sum())
            self._fix(alive, terminals, last.duals(), last.value, last.slack)
            if int(alive.sum()) > 0.9 * before or self.seconds_left() <= 0:
                break
        if int(alive.sum()) > MOST_ARCS or self.seconds_left() <= 0:
            self.finished = False
            return self._settle(last)
        return self._cuts(alive, terminals, last, top)

    def _ascent(self, alive: Flags, terminals: Indices, *, several: bool) -> Ascent | None:
        """Potentials on what is alive, from several ascents if that is wanted; None where some terminal is cut off."""
        usable, start = alive & ~self.needless, nothing(self.grid, terminals)
        found = ascend(self.grid, usable, start, rng=self.rng) or ascend(self.grid, alive, start, rng=self.rng)
        if found is not None and several:
            tree = first_tree(self.grid, usable, found, self.rng)
            going = lambda k: k < ROUNDS and self.seconds_left() > 0  # noqa: E731
            better = averaged(self.grid, usable, Averaged(found, tree), self.rng, going)
            found = better.ascent
            self.offer(better.tree)
        return None if found is None else settled(self.grid, alive, found)

    def _cuts(self, alive: Flags, terminals: Indices, found: Ascent, top: bool) -> int:
        """Solve and separate until the bound is reached or the relaxation is solved; then branch."""
        usable = alive & ~self.needless
        relaxation = Relaxation(self.grid, usable, terminals, seconds=self.seconds_left(), seed=self.seed)
        relaxation.start(found)
        best, duals, rounds = found.value, found.duals(), 0
        unit = 2.0**self.grid.bits
        while True:
            if self.seconds_left() <= 0 or not relaxation.solve(self.seconds_left()):
                self.finished = False
                return self._leaf(alive, terminals, duals)
            if relaxation.value * unit > best and (relaxation.value * unit >= self.cutoff - 0.5 or rounds % 10 == 9):
                document = relaxation.document()
                value, _ = self._proved(alive, terminals, document)
                if value > best:
                    best, duals = value, document
                    if top:
                        self.on_bound(min(best, self.cutoff))
            if best >= self.cutoff:
                return self._leaf(alive, terminals, duals)
            if rounds % 3 == 0:
                self._round(usable, terminals, relaxation)
            if relaxation.separate(self.rng) == 0:
                break
            rounds += 1
        self._round(usable, terminals, relaxation)
        document = relaxation.document()
        value, d = self._proved(alive, terminals, document)
        if value >= self.cutoff:
            return self._leaf(alive, terminals, document)
        before = int(alive.sum())
        self._fix(alive, terminals, document, value, d)
        if int(alive.sum()) < 0.7 * before:
            return self._case(alive, terminals)
        return self._branch(alive, terminals, relaxation, document)

    def _branch(self, alive: Flags, terminals: Indices, relaxation: Relaxation, duals: dict[str, Any]) -> int:
        """Plans that reach a vertex, and plans that do not."""
        flow = np.bincount(relaxation.head, weights=relaxation.x, minlength=self.grid.graph.n)
        flow[terminals] = 1.0
        flow[self.grid.graph.root] = 1.0
        v = int(np.abs(flow - 0.5).argmin())
        if (
            abs(flow[v] - 0.5) > 0.5 - 1e-6
        ):  # a whole point that is no tree to be better than: nothing left but rounding
            return self._leaf(alive, terminals, duals)
        node: dict[str, Any] = {"branch": v}
        self.nodes.append(node)
        node["in"] = len(self.nodes)
        reached = self._case(alive, np.append(terminals, v))
        node["out"] = len(self.nodes)
        graph = self.grid.graph
        avoided = self._case(alive & (graph.head != v) & (graph.tail != v), terminals)
        return min(reached, avoided)

    def _proved(self, alive: Flags, terminals: Indices, duals: dict[str, Any]) -> tuple[int, Indices]:
        return proved(self.grid.graph, self.grid.cost, Case(alive, frozenset(terminals.tolist())), duals, "duals")

    def _settle(self, found: Ascent) -> int:
        """A leaf with potentials that are `settled`: their value is what the checker will find."""
        self.nodes.append({"duals": found.duals()})
        return found.value

    def _leaf(self, alive: Flags, terminals: Indices, duals: dict[str, Any]) -> int:
        self.nodes.append({"duals": duals})
        return self._proved(alive, terminals, duals)[0]

    def _cut_off(self, alive: Flags, terminals: Indices) -> int:
        """No plan in this case: the vertices from which some terminal can be reached at all are raised to the cutoff."""
        from yardline.solvers.customization import _ascent

        graph, every = self.grid.graph, np.arange(len(self.grid.cost))
        free = np.zeros(len(every), dtype=np.int64)
        for t in terminals.tolist():
            near = _ascent.distances(graph.tail, graph.into, every, free, alive, np.array([t]))
            if near[graph.root] > 0:
                inside = np.flatnonzero(near == 0)
                return self._leaf(alive, terminals, {"potentials": [[t, inside.tolist(), [self.cutoff] * len(inside)]]})
        raise RuntimeError("dual ascent found a terminal cut off, but all are within reach: please report this bug")

    def _fix(self, alive: Flags, terminals: Indices, duals: dict[str, Any], value: int, d: Indices) -> None:
        """Drop (in alive) the arcs that only plans from the cutoff on use."""
        from yardline.solvers.customization import _ascent

        graph, weight = self.grid.graph, np.maximum(d, 0)
        start, order = graph.outward
        fro = _ascent.distances(graph.head, start, order, weight, alive, np.array([graph.root]))
        to = _ascent.distances(graph.tail, graph.into, np.arange(len(d)), weight, alive, terminals)
        dear = alive & (fro[graph.tail] + weight + to[graph.head] >= self.cutoff - value)
        if dear.any():
            self.nodes.append({"fix": duals, "from": fro.tolist(), "to": to.tolist(), "then": len(self.nodes) + 1})
            alive &= ~dear

    def _trees(self, alive: Flags, terminals: Indices, found: Ascent) -> None:
        """Trees along the arcs that dual ascent saturated, and along cheap ones."""
        graph = self.grid.graph
        saturated = alive & (found.slack == 0)
        self._tree(saturated, terminals, graph.cost)
        if len(graph.tail) <= REDUCED_ARCS:
            self._tree(alive, terminals, graph.cost)
            for k in range(RANDOM_TREES if found.value < self.cutoff else 0):
                if self.seconds_left() <= 0:
                    return
                noise = 1.0 + self.rng.exponential(0.3, len(graph.tail))
                self._tree(alive if k % 2 else saturated, terminals, graph.cost * noise)
                if found.value >= self.cutoff:
                    return
        if graph.n <= POLISHED_VERTICES and found.value < self.cutoff:
            self._polish(alive, terminals)

    def _polish(self, alive: Flags, terminals: Indices) -> None:
        """The best tree, one vertex more or less at a time (only among plans of the whole problem)."""
        from yardline.solvers.customization import _ascent

        graph = self.grid.graph
        start, order = graph.outward
        wanted = np.zeros(graph.n, dtype=bool)
        wanted[graph.terminals] = True
        if self.arcs is not None:
            entered = np.full(graph.n, -1)
            entered[graph.head[self.arcs]] = self.arcs
            best = _ascent.polish(
                graph.head, graph.tail, start, order, graph.cost, alive, graph.root, wanted, entered, 2
            )
            self.offer(best[best >= 0])

    def _round(self, alive: Flags, terminals: Indices, relaxation: Relaxation) -> None:
        """A tree that prefers what the relaxation uses."""
        weight = self.grid.graph.cost.copy()
        weight[relaxation.arcs] *= 1.0 - 0.999 * relaxation.x
        self._tree(alive, terminals, weight)

    def _tree(self, alive: Flags, terminals: Indices, weight: Vector) -> None:
        """A tree by shortest paths, tidied up twice along its own vertices."""
        from yardline.solvers.customization import _ascent

        graph = self.grid.graph
        start, order = graph.outward
        wanted = np.zeros(graph.n, dtype=bool)
        wanted[terminals] = True
        for _ in range(2):
            entered = _ascent.shortest_path_tree(graph.head, start, order, weight, alive, graph.root, wanted)
            if (entered[terminals] < 0).any():
                return
            arcs = entered[entered >= 0]
            self.offer(arcs)
            inside = np.zeros(graph.n, dtype=bool)
            inside[graph.head[arcs]] = True
            inside[graph.root] = True
            alive = alive & inside[graph.head] & inside[graph.tail]
            weight = graph.cost
