"""Dual ascent in the multilayer graph: potentials per request, what they prove, and what they leave of the arcs' costs.

Wong's dual ascent keeps, for each terminal, the vertices that reach it along saturated arcs (its component). While the root
is not among them it raises the potential of the whole component until one more arc into it is saturated. The sum of what was
raised is a bound; the saturated arcs lead from the root to every terminal.

Raising a cut is wasteful where a least tree crosses it more than once. So a guide x (averaging.py) says how much of each arc
least trees are likely to use: components with x(cut) > 1 have to wait. An ascent may begin on top of potentials that are there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from yardline.models.checks import Indices, Vector
from yardline.models.customization.data import Customization
from yardline.models.customization.layers import Layers
from yardline.solvers.certificates.potentials import KIND, grid_of
from yardline.solvers.certificates.rational import rounded_up
from yardline.solvers.certificates.verdict import header
from yardline.solvers.certificates.whole_costs import on_grid, step_of, worth

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Grid:
    """A multilayer graph with its costs in whole units of 2**-bits; all plans cost multiples of `step` where it is given."""

    graph: Layers
    bits: int
    cost: Indices
    step: Fraction | None

    @classmethod
    def of(cls, graph: Layers) -> Grid:
        """The finest grid that sums of costs fit on."""
        bits = grid_of(graph)
        return cls(graph, bits, on_grid(graph.cost, bits), step_of(graph.cost))

    def cutoff(self, units: int) -> int:
        """What a bound has to reach to prove that no plan costs less than one of this many units."""
        if self.step is None:
            return units
        step = self.step * Fraction(2) ** self.bits
        return units - int(step) + 1 if step.denominator == 1 and units >= step else units

    def bound(self, units: int) -> Fraction:
        """What a bound in units proves, rounded up to what a plan can cost."""
        exact = worth(units, self.bits)
        return exact if self.step is None else rounded_up(exact, Fraction(0), self.step)


@dataclass(frozen=True, eq=False)
class Ascent:
    """Potentials: their bound in units, what they leave of the arcs' costs, and the vertices above 0 by terminal."""

    value: int
    slack: Indices
    terminals: Indices
    begin: Indices  # the vertices of the i-th terminal are vertex[begin[i] : begin[i + 1]]
    vertex: Indices
    height: Indices

    def duals(self) -> dict[str, Any]:
        """The potentials, as a certificate holds them."""
        vertices, heights, ends = self.vertex.tolist(), self.height.tolist(), self.begin.tolist()
        spans = zip(self.terminals.tolist(), ends[:-1], ends[1:], strict=True)
        return {"potentials": [[t, vertices[a:b], heights[a:b]] for t, a, b in spans if b > a]}

    def cuts(self, most: int) -> list[tuple[int, Indices]]:
        """The cuts that were raised most: a terminal, and the vertices above some height, each."""
        found = []
        for i, t in enumerate(self.terminals.tolist()):
            span = slice(self.begin[i], self.begin[i + 1])
            levels = np.unique(self.height[span])
            found += [(raised, t, low, span) for raised, low in zip(np.diff(levels, prepend=0), levels, strict=True)]
        found.sort(key=lambda cut: -cut[0])
        return [(t, self.vertex[span][self.height[span] >= low]) for _, t, low, span in found[:most]]


def nothing(grid: Grid, terminals: Indices) -> Ascent:
    """No potentials yet."""
    none = np.zeros(0, dtype=np.int64)
    return Ascent(0, grid.cost, terminals, np.zeros(len(terminals) + 1, dtype=np.int64), none, none)


def ascend(
    grid: Grid, alive: Flags, below: Ascent, guide: Vector | None = None, rng: np.random.Generator | None = None
) -> Ascent | None:
    """Raise potentials further on the arcs that are alive; None where some terminal is cut off.

    The terminals begin in a random order where there is a generator.
    """
    from yardline.solvers.customization import _ascent

    graph, slack, terminals = grid.graph, below.slack.copy(), below.terminals
    if len(terminals) == 0:
        return below
    order = np.arange(len(terminals)) if rng is None else rng.permutation(len(terminals))
    use = np.zeros(len(slack)) if guide is None else guide
    value, level, first, *rest = _ascent.ascend(graph.tail, graph.into, slack, alive, graph.root, terminals[order], use)
    if value < 0:
        return None
    back = np.argsort(order)
    lists = _ascent.added(graph.n, below.begin, below.vertex, below.height, level[back], first[back], *rest)
    return Ascent(below.value + int(value), slack, terminals, *lists)


def certificate(
    instance: Customization, grid: Grid, nodes: list[dict[str, Any]], units: int, cutoff: int | None = None
) -> dict[str, Any]:
    """The document of a certificate `potentials`."""
    return {
        **header(KIND, instance),
        "bits": grid.bits,
        "cutoff": cutoff,
        "bound": str(grid.bound(units)),
        "step": None if grid.step is None else str(grid.step),
        "nodes": nodes,
    }
