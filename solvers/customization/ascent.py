"""Dual ascent in the multilayer graph: potentials per request, what they prove, and what they leave of the arcs' costs.

Wong's dual ascent keeps, for each terminal, the vertices that reach it along saturated arcs (its component). While the root
is not among them it raises the potential of the whole component until one more arc into it is saturated. The sum of what was
raised is a bound; the saturated arcs lead from the root to every terminal.

Raising a cut is wasteful where a least tree crosses it more than once. So dual ascent is run again with a tree as its guide:
components that more than one of its arcs enter have to wait. A tree along the arcs that an unguided ascent saturated (pruned,
improving.py) guides better than a cheaper tree: with 62 formats it raised bounds by 0.5 to 1.6 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from yardline.models.checks import Indices
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
    """What dual ascent found: a bound in units, what is left of the arcs' costs, and the components by terminal."""

    value: int
    slack: Indices
    terminals: Indices
    level: Indices  # how much was raised, per terminal
    owner: Indices  # members of components: the terminal's place, the vertex, the level at which it joined
    vertex: Indices
    since: Indices

    def duals(self) -> dict[str, Any]:
        """The potentials, as a certificate holds them."""
        height = self.level[self.owner] - self.since
        high = height > 0
        owner, vertex, height = self.owner[high], self.vertex[high], height[high]
        order = np.argsort(owner, kind="stable")
        ends = np.searchsorted(owner[order], np.arange(len(self.terminals) + 1))
        vertices, heights = vertex[order].tolist(), height[order].tolist()
        spans = zip(self.terminals.tolist(), ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        return {"potentials": [[t, vertices[a:b], heights[a:b]] for t, a, b in spans if b > a]}


def ascend(grid: Grid, alive: Flags, terminals: Indices, guide: Flags | None = None) -> Ascent | None:
    """Dual ascent on the arcs that are alive, guided by arcs of a tree; None where some terminal is cut off."""
    from yardline.solvers.customization import _ascent

    graph, slack = grid.graph, grid.cost.copy()
    if len(terminals) == 0:
        none = np.zeros(0, dtype=np.int64)
        return Ascent(0, slack, terminals, none, none, none, none)
    by = np.zeros(len(slack), dtype=bool) if guide is None else guide
    value, *rest = _ascent.ascend(graph.tail, graph.into, slack, alive, graph.root, terminals, by)
    return None if value < 0 else Ascent(int(value), slack, terminals, *rest)


def guided(grid: Grid, best: Ascent, tree: Indices, rng: np.random.Generator) -> Ascent:
    """The better of an ascent and one that is guided by the arcs of a tree, the terminals in a random order at first."""
    guide = np.zeros(len(grid.cost), dtype=bool)
    guide[tree] = True
    other = ascend(grid, np.ones(len(guide), dtype=bool), rng.permutation(best.terminals), guide)
    return other if other is not None and other.value > best.value else best


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
