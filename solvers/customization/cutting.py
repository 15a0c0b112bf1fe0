"""The relaxation over directed cuts, solved, separated and solved again over HiGHS; its duals as potentials.

    min sum(c[a] * x[a])
    (cut)      sum(x[a] for arcs a into W) >= 1        for terminals t, vertex sets W with t in W and the root outside
    (passing)  x(into v) <= x(out of v)                for vertices v that are neither terminals nor the root
    0 <= x <= 1

A dual y of the cuts of t is the potential p[t](v) = sum of y[W] over its W that hold v, one of `passing` is q[v].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from yardline.models.checks import Indices, Vector
from yardline.solvers import highs as solver
from yardline.solvers.customization.ascent import Ascent, Grid

Flags = NDArray[np.bool_]
MOST_START_CUTS = 2_000
ROUND_CUTS = 400


class Relaxation:
    """Columns are the arcs alive, rows the cuts found so far."""

    def __init__(self, grid: Grid, alive: Flags, terminals: Indices, *, seconds: float, seed: int = 0) -> None:
        self.grid, self.terminals = grid, terminals
        self.arcs = np.flatnonzero(alive)
        self.tail, self.head = grid.graph.tail[self.arcs], grid.graph.head[self.arcs]
        largest = float(grid.graph.cost[self.arcs].max(initial=0.0))
        self.scale = 2.0 ** (10 - math.frexp(largest)[1]) if largest > 0 else 1.0
        self.cuts: list[tuple[int, Indices]] = []  # terminal, vertices
        self.passing = self._inner()
        self.x = np.zeros(len(self.arcs))
        self.duals = np.zeros(0)
        self.value = 0.0
        self.highs = solver.fresh(seed=seed, solver="simplex", time_limit=max(0.1, seconds))
        self._columns()

    def _inner(self) -> Indices:
        """The vertices that a plan enters only to leave them again."""
        inner = np.zeros(self.grid.graph.n, dtype=bool)
        inner[self.head] = True
        inner[self.terminals] = False
        inner[self.grid.graph.root] = False
        return np.flatnonzero(inner)

    def _columns(self) -> None:
        import highspy

        count, none = len(self.arcs), np.zeros(0, dtype=np.int32)
        cost = self.grid.graph.cost[self.arcs] * self.scale
        starts = np.zeros(count, dtype=np.int32)
        self.highs.addCols(count, cost, np.zeros(count), np.ones(count), 0, starts, none, np.zeros(0))
        number = np.full(self.grid.graph.n, -1)
        number[self.passing] = np.arange(len(self.passing))
        row = np.concatenate([number[self.head], number[self.tail]])
        column = np.tile(np.arange(count), 2)
        value = np.repeat([1.0, -1.0], count)
        there = row >= 0
        order = np.argsort(row[there], kind="stable")
        begin = np.searchsorted(row[there][order], np.arange(len(self.passing)))
        self._rows(begin, column[there][order], value[there][order], -highspy.kHighsInf, 0.0)

    def _rows(self, begin: Indices, column: Indices, value: Vector, low: float, high: float) -> None:
        count = len(begin)
        self.highs.addRows(
            count,
            np.full(count, low),
            np.full(count, high),
            len(column),
            begin.astype(np.int32),
            column.astype(np.int32),
            value,
        )

    def add(self, cuts: list[tuple[int, Indices]]) -> None:
        """Rows for cuts: terminal and vertices each."""
        import highspy

        inside = np.zeros(self.grid.graph.n, dtype=bool)
        columns = []
        for _, vertices in cuts:
            inside[vertices] = True
            columns.append(np.flatnonzero(inside[self.head] & ~inside[self.tail]))
            inside[vertices] = False
        begin = np.cumsum([0, *map(len, columns)])[:-1]
        column = np.concatenate(columns) if columns else np.zeros(0, dtype=np.int64)
        self._rows(begin, column, np.ones(len(column)), 1.0, highspy.kHighsInf)
        self.cuts += cuts

    def start(self, ascent: Ascent) -> None:
        """The cuts that dual ascent raised most, so that the first relaxation is not much worse than it."""
        self.add(ascent.cuts(MOST_START_CUTS))

    def solve(self, seconds: float) -> bool:
        """Solve with the rows so far; whether it came to an end."""
        import highspy

        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + max(0.05, seconds))
        self.highs.run()
        if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return False
        solution = self.highs.getSolution()
        self.x = np.clip(np.array(solution.col_value), 0.0, 1.0)
        self.duals = np.array(solution.row_dual)
        self.value = self.highs.getInfo().objective_function_value / self.scale
        return True

    def separate(self, rng: np.random.Generator) -> int:
        """Add cuts that the point violates; how many."""
        from yardline.solvers.customization import _cuts

        terminals = rng.permutation(self.terminals)
        whose, begins, vertices = _cuts.separate(
            self.grid.graph.n,
            self.tail,
            self.head,
            self.x,
            self.grid.graph.root,
            terminals,
            ROUND_CUTS,
            4,
        )
        self.add([(int(terminals[i]), vertices[begins[k] : begins[k + 1]]) for k, i in enumerate(whose.tolist())])
        return len(whose)

    def document(self) -> dict[str, Any]:
        """The duals as potentials in whole units, rounded down."""
        unit = 2.0**self.grid.bits / self.scale
        y = np.maximum(0.0, self.duals[len(self.passing) :])
        q = np.maximum(0.0, -self.duals[: len(self.passing)])
        raised: dict[int, list[int]] = {}
        for k in np.flatnonzero(y > 1e-11).tolist():
            raised.setdefault(self.cuts[k][0], []).append(k)
        potentials = []
        for t, cuts in raised.items():
            p = np.zeros(self.grid.graph.n)
            for k in cuts:
                p[self.cuts[k][1]] += y[k]
            heights = np.floor(p * unit).astype(np.int64)
            vertices = np.flatnonzero(heights)
            potentials.append([t, vertices.tolist(), heights[vertices].tolist()])
        units = np.floor(q * unit).astype(np.int64)
        passing = [[int(self.passing[k]), int(units[k])] for k in np.flatnonzero(units).tolist()]
        return {"potentials": potentials, "passing": passing}
