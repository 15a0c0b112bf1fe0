"""Branch and bound over HiGHS relaxations that keeps the tree: what the certificate `tree` is made of.

Best node first, one Highs object, presolve off, multipliers rounded to integers over 2**bits at every node. A node is closed
when its own multipliers, as they will be checked, prove that nothing in it beats the cutoff.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from yardline.models.checks import Indices, Vector
from yardline.models.numbers import OPTIMAL
from yardline.models.program import Program
from yardline.solvers import highs
from yardline.solvers.certificates.rational import bits_of, common_step
from yardline.solvers.outcome import Outcome, Stop, accepted

TIGHT = 0.05 * OPTIMAL
"""A node counts as closed this close to the cutoff, relatively: rounded duals fall short by some 1e-8."""


@dataclass(slots=True)
class Node:
    """A node of the tree: its narrowed columns, and the multipliers that bound it."""

    low: dict[int, float]
    high: dict[int, float]
    duals: dict[int, int]  # row -> integer over 2**bits; inherited from the parent until it is solved
    ray: bool = False
    branch: tuple[int, int, int, int] | None = None  # column, at, below, above


@dataclass(slots=True)
class Tree:
    """All nodes; children come after their parents."""

    program: Program
    nodes: list[Node] = field(default_factory=list)
    bound: float = -math.inf  # least bound of the leaves, in floating point
    finished: bool = False
    best: Vector | None = None  # the best point met on the way
    value: float = math.inf

    def document(self) -> list[dict[str, Any]]:
        """The nodes as the certificate writes them."""
        return [_node_document(node) for node in self.nodes]


def _node_document(node: Node) -> dict[str, Any]:
    if node.branch is not None:
        return dict(zip(("branch", "at", "below", "above"), node.branch, strict=True))
    return {"ray" if node.ray else "duals": [[row, y] for row, y in sorted(node.duals.items())]}


def prove(
    program: Program,
    *,
    cutoff: float = math.inf,
    seconds_left: Callable[[], float],
    on_bound: Callable[[Tree], None] | None = None,
    on_point: Callable[[Vector, float], None] | None = None,
    most_nodes: int = 200_000,
) -> Tree:
    """Branch until nothing beats the cutoff (the cost of a known plan), or the time is over."""
    search = _Search(program, cutoff, seconds_left)
    search.solve(0)
    while search.open and len(search.tree.nodes) < most_nodes:
        if search.tree.bound < search.open[0][0]:
            search.tree.bound = search.open[0][0]
            if on_bound is not None:
                on_bound(search.tree)
        if seconds_left() <= 0:
            break
        _, _, position = heapq.heappop(search.open)
        if search.closed(search.bound_of[position]):
            search.shut.append(search.bound_of[position])
            continue
        before = search.tree.value
        search.branch(position)
        if on_point is not None and search.tree.best is not None and search.tree.value < before:
            on_point(search.tree.best, search.tree.value)
    return search.result()


class _Search:
    """The state of one search."""

    def __init__(self, program: Program, cutoff: float, seconds_left: Callable[[], float]) -> None:
        self.seconds_left = seconds_left
        self.program = program
        self.tree = Tree(program, nodes=[Node({}, {}, {})])
        self.cutoff = cutoff
        self.step = common_step(program)
        self.open: list[tuple[float, int, int]] = []  # bound, serial number, node
        self.shut: list[float] = []
        self.bound_of: dict[int, float] = {}
        self.point_of: dict[int, Vector] = {}
        self.serial = itertools.count()
        self.highs = highs.fresh(presolve="off", solver="simplex")
        self.moved: set[int] = set()
        self.gains = np.zeros((2, program.shape[1]))  # pseudo-costs: gain per unit, summed, down and up
        self.tries = np.zeros((2, program.shape[1]))
        highs.load(self.highs, program, relax=True)

    def closed(self, bound: float) -> bool:
        """Whether a bound shows that its node cannot beat the cutoff."""
        value = min(self.cutoff, self.tree.value)
        if value == math.inf:
            return bound == math.inf
        if self.step is not None and self.step > 1e-6 * max(1.0, abs(value)):
            return bound > value - float(self.step) * (1 - 1e-6)
        return bound >= value - TIGHT * abs(value)

    def solve(self, position: int) -> float:
        """Solve a node's relaxation; file it as open or shut. Returns its bound."""
        node = self.tree.nodes[position]
        self._narrow(node)
        # an LP's time limit counts from the birth of its Highs object
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + self.seconds_left())
        self.highs.run()
        outcome = highs.relaxation(self.highs, self.program)
        bound = self._take(node, outcome)
        self.bound_of[position] = bound
        if outcome.stop is Stop.OPTIMAL and outcome.point is not None:
            self._consider(outcome.point)
            self.point_of[position] = outcome.point
        if bound == math.inf or self.closed(bound) or position not in self.point_of or self._whole(position):
            self.shut.append(bound)
        else:
            heapq.heappush(self.open, (bound, next(self.serial), position))
        return bound

    def _narrow(self, node: Node) -> None:
        """Column bounds of a node; those of the node before it go back."""
        touched = np.array(sorted(self.moved | node.low.keys() | node.high.keys()), dtype=np.int32)
        if len(touched):
            low = np.array([node.low.get(j, self.program.col_low[j]) for j in touched.tolist()])
            high = np.array([node.high.get(j, self.program.col_high[j]) for j in touched.tolist()])
            self.highs.changeColsBounds(len(touched), touched, low, high)
        self.moved = set(node.low) | set(node.high)

    def _take(self, node: Node, outcome: Outcome) -> float:
        """The best multipliers at hand for a node: its own, its parent's, or none at all."""
        if outcome.stop is Stop.INFEASIBLE and outcome.ray is not None:
            for ray in (outcome.ray, -outcome.ray):
                duals = whole_duals(self.program, ray / max(1e-300, float(np.abs(ray).max())))
                if self._value(duals, node, ray=True) > 1e-7:
                    node.duals, node.ray = duals, True
                    return math.inf
        options: list[dict[int, int]] = [node.duals, {}]
        if outcome.duals is not None:
            options.append(whole_duals(self.program, outcome.duals))
        values = [self._value(duals, node) for duals in options]
        node.duals = options[int(np.argmax(values))]
        return max(values)

    def _value(self, duals: dict[int, int], node: Node, *, ray: bool = False) -> float:
        """The bound that multipliers prove for a node, in floating point."""
        program = self.program
        rows = np.fromiter(duals.keys(), dtype=np.int64, count=len(duals))
        y = np.array([float(value) for value in duals.values()]) / 2.0 ** bits_of(program)
        sides = np.where(y > 0, program.row_low[rows], program.row_high[rows])
        cost = np.zeros(program.shape[1]) if ray else program.cost
        reduced = cost - (program.matrix[rows].T @ y if len(rows) else 0.0)
        low, high = program.col_low.copy(), program.col_high.copy()
        for j, value in node.low.items():
            low[j] = value
        for j, value in node.high.items():
            high[j] = value
        total = float(y @ sides + np.where(reduced > 0, low, high) @ reduced)
        return total if ray else total + program.offset

    def _consider(self, point: Vector) -> None:
        """A relaxed point that happens to be whole is a solution."""
        whole = self.program.rounded(point)
        if np.abs(whole - point).max(initial=0.0) < 1e-6:
            found = accepted(self.program, whole, relax=False)
            if found is not None and self.program.value(found) < self.tree.value:
                self.tree.best, self.tree.value = found, self.program.value(found)

    def _whole(self, position: int) -> bool:
        return len(self._fractional(position)) == 0

    def _fractional(self, position: int) -> Indices:
        """Columns to branch on: those whose wholeness is implied only where nothing else is left."""
        point = self.point_of[position]
        off = self.program.integer & (np.abs(point - np.round(point)) > 1e-6)
        free = off & ~self.program.implied
        return np.flatnonzero(free if free.any() else off)

    def branch(self, position: int) -> None:
        """Split a node on the most promising column and solve both sides."""
        node, point, bound = self.tree.nodes[position], self.point_of[position], self.bound_of[position]
        column = self._choose(position)
        at = math.floor(point[column])
        below = Node(dict(node.low), {**node.high, column: float(at)}, node.duals)
        above = Node({**node.low, column: float(at + 1)}, dict(node.high), node.duals)
        first = len(self.tree.nodes)
        self.tree.nodes += [below, above]
        node.branch = (column, at, first, first + 1)
        node.duals = {}
        for side, child, distance in ((0, first, point[column] - at), (1, first + 1, at + 1 - point[column])):
            gain = self.solve(child) - bound
            known = min(gain, max(1.0, abs(bound)))  # infeasible counts as a large gain
            self.gains[side, column] += max(0.0, known) / max(distance, 1e-6)
            self.tries[side, column] += 1
        del self.point_of[position]

    def _choose(self, position: int) -> int:
        """The column whose two sides promise to raise the bound most (pseudo-costs, mean where unknown)."""
        columns, point = self._fractional(position), self.point_of[position]
        part = point[columns] - np.floor(point[columns])
        known = self.tries[:, columns] > 0
        mean = self.gains.sum(axis=1) / np.maximum(1, self.tries.sum(axis=1)) + 1e-6
        rate = np.where(known, self.gains[:, columns] / np.maximum(1, self.tries[:, columns]), mean[:, None])
        score = np.maximum(1e-9, rate[0] * part) * np.maximum(1e-9, rate[1] * (1 - part))
        return int(columns[np.argmax(score)])

    def result(self) -> Tree:
        """The tree with its bound: the least over open and shut leaves."""
        leaves = [*self.shut, *(bound for bound, _, _ in self.open)]
        self.tree.bound = min(leaves, default=math.inf)
        self.tree.finished = not self.open
        return self.tree


def whole_duals(program: Program, duals: Vector) -> dict[int, int]:
    """Multipliers as integers over 2**bits; zero where the row has no limit on that side."""
    sides = np.where(duals > 0, program.row_low, program.row_high)
    bits = bits_of(program)
    usable = np.flatnonzero(np.isfinite(sides) & (np.abs(duals) > 2.0 ** -(bits + 1)) & np.isfinite(duals))
    scaled = {int(row): round(float(duals[row]) * 2**bits) for row in usable}
    return {row: y for row, y in scaled.items() if y}
