"""Dual ascent again and again, guided by an average of the trees that it leads to.

One dual ascent is final: an arc that the wrong terminal has used up stays used up. So a part r of all potentials p is given
back, and raised anew where the average x of the trees so far enters a component no more than once:

    p  <-  (1 - r) p  +  an ascent in what is left of the costs, guided by x
    x  <-  (1 - s) x  +  s * (a tree along the arcs that p saturates)

In an optimum of the relaxation over cuts a cut with p > 0 has x(cut) = 1 and an arc with x > 0 is saturated: the guide sees
to the first, the trees to the second. The potentials stay feasible throughout, because what they take of an arc is a convex
function of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models.checks import Indices
from yardline.models.customization.layers import Layers
from yardline.solvers.customization.ascent import Ascent, Grid, ascend, nothing

EIGHTH = 3
"""Bits: an eighth of all potentials is given back each time."""
STEP = 0.1
"""The least weight of a new tree in the average."""
PRUNINGS = 2
PATIENCE, GAIN = 8, 1e-4
"""Without this gain in so many rounds the end is reached."""


@dataclass(frozen=True, eq=False)
class Averaged:
    """The best potentials and the cheapest tree that came up on the way."""

    ascent: Ascent
    tree: Indices


def averaged(
    grid: Grid,
    alive: NDArray[np.bool_],
    start: Averaged,
    rng: Generator,
    going: Callable[[int], bool],
    on_bound: Callable[[int], None] = lambda units: None,
) -> Averaged:
    """Rounds while `going` (which is told how many there were) says so, and there is something to gain.

    The potentials have to be `settled` before they are written down.
    """
    best, tree, last = start.ascent, start.tree, (0, start.ascent.value)
    for k, (found, arcs) in enumerate(_rounds(grid, alive, start, rng)):
        if grid.cost[arcs].sum() < grid.cost[tree].sum():
            tree = arcs
        if found.value > best.value:
            best = found
            on_bound(best.value)
        if best.value > last[1] * (1 + GAIN):
            last = k, best.value
        met = best.value >= grid.cutoff(int(grid.cost[tree].sum()))
        if met or k - last[0] >= PATIENCE or not going(k + 1):
            break
    return Averaged(best, _pruned(grid, alive, best, tree, rng))


def _rounds(grid: Grid, alive: NDArray[np.bool_], start: Averaged, rng: Generator) -> Iterator[tuple[Ascent, Indices]]:
    """Potentials and a tree along the arcs that they saturate, again and again; the first ones start from nothing."""
    below, x, k = (
        replace(start.ascent, value=0, slack=grid.cost, height=0 * start.ascent.height),
        _point(grid, start.tree),
        0,
    )
    while (found := ascend(grid, alive, below, x, rng)) is not None:
        arcs = saturated_tree(grid.graph, alive & (found.slack == 0))
        yield found, arcs
        k += 1
        x += max(STEP, 1 / (k + 1)) * (_point(grid, arcs) - x)
        below = _lowered(grid, found)


def _point(grid: Grid, arcs: Indices) -> NDArray[np.float64]:
    x = np.zeros(len(grid.cost))
    x[arcs] = 1.0
    return x


def _lowered(grid: Grid, found: Ascent) -> Ascent:
    """The potentials less an eighth, rounded down."""
    value = found.value - (-(-found.value >> EIGHTH))
    slack = found.slack + ((grid.cost - found.slack) >> EIGHTH)
    return replace(found, value=value, slack=slack, height=found.height - (-(-found.height >> EIGHTH)))


def settled(grid: Grid, alive: NDArray[np.bool_], found: Ascent) -> Ascent:
    """The same potentials with value and slack as the checker counts them: rounding on the way took some units."""
    from yardline.solvers.customization import _ascent

    graph = grid.graph
    slack = grid.cost - _ascent.spent(graph.tail, graph.into, found.begin, found.vertex, found.height)
    place = np.repeat(found.terminals, np.diff(found.begin)) == found.vertex
    return replace(found, value=int(found.height[place].sum()) + int(np.minimum(slack[alive], 0).sum()), slack=slack)


def saturated_tree(layered: Layers, usable: NDArray[np.bool_]) -> Indices:
    """The arcs of a tree by shortest paths along these arcs."""
    from yardline.solvers.customization import _ascent

    start, order = layered.outward
    wanted = np.zeros(layered.n, dtype=bool)
    wanted[layered.terminals] = True
    entered = _ascent.shortest_path_tree(layered.head, start, order, layered.cost, usable, layered.root, wanted)
    return entered[entered >= 0]


def first_tree(grid: Grid, alive: NDArray[np.bool_], found: Ascent, rng: Generator) -> Indices:
    """The arcs of a tree along those that an ascent saturated."""
    return _pruned(grid, alive, found, saturated_tree(grid.graph, alive & (found.slack == 0)), rng)


def _pruned(grid: Grid, alive: NDArray[np.bool_], found: Ascent, best: Indices, rng: Generator) -> Indices:
    """The best of a tree and those of dual ascent along the saturated arcs alone, which leaves fewer of them each time."""
    usable = alive & (found.slack == 0)
    for _ in range(PRUNINGS):
        again = ascend(grid, usable, nothing(grid, found.terminals), rng=rng)
        if again is None:
            break
        usable = usable & (again.slack == 0)
        trial = saturated_tree(grid.graph, usable)
        best = trial if grid.cost[trial].sum() < grid.cost[best].sum() else best
    return best
