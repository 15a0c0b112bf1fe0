"""From dual ascent to a good plan: the tree along its saturated arcs, then improved over a few formats at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models.checks import Indices
from yardline.models.customization import graph
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.layers import Layers
from yardline.models.method import Run
from yardline.solvers.customization.ascent import Ascent, Grid, ascend
from yardline.solvers.customization.plans import (
    LINK,
    SOURCE,
    Costs,
    entries_of_arcs,
    fitting,
    neighbourhood,
    plan_of_entries,
)

AT_A_TIME = 8
PRUNINGS = 3
PATIENCE = 60
"""Rounds without gain after which the plan is left as it is."""
MOST_FORMATS = 400


@dataclass(frozen=True, eq=False)
class Improved:
    """A plan and its arcs."""

    plan: CustomizationPlan | None
    arcs: Indices | None
    value: float


def improved(instance: Customization, grid: Grid, found: Ascent, rng: Generator, run: Run, *, share: float) -> Improved:
    """The best plan in a share of the time that is left."""
    layered = grid.graph
    arcs = _saturated_tree(layered, found.slack == 0)
    if instance.n > 1 and instance.m <= MOST_FORMATS:
        first = plan_of_entries(instance, entries_of_arcs(instance, layered, arcs))
        run.report("saturated arcs", solution=first, value=float(layered.cost[arcs].sum()))
        arcs = _pruned(grid, found, arcs, rng)
    if instance.m > MOST_FORMATS or instance.n == 1:
        return Improved(None, arcs, float(layered.cost[arcs].sum()))
    entry = entries_of_arcs(instance, layered, arcs)
    value = improve(instance, entry, rng, run, until=run.left() * (1 - share))
    plan = plan_of_entries(instance, entry)
    run.report("plan", solution=plan, value=value)
    return Improved(plan, arcs_of_entries(instance, layered, entry), value)


def _saturated_tree(layered: Layers, usable: NDArray[np.bool_]) -> Indices:
    """The arcs of a tree by shortest paths along these arcs."""
    from yardline.solvers.customization import _ascent

    start, order = layered.outward
    wanted = np.zeros(layered.n, dtype=bool)
    wanted[layered.terminals] = True
    entered = _ascent.shortest_path_tree(layered.head, start, order, layered.cost, usable, layered.root, wanted)
    return entered[entered >= 0]


def _pruned(grid: Grid, found: Ascent, arcs: Indices, rng: Generator) -> Indices:
    """Dual ascent again along the saturated arcs alone, which leaves fewer of them and a better tree."""
    best, usable = arcs, found.slack == 0
    for _ in range(PRUNINGS):
        again = ascend(grid, usable, rng.permutation(grid.graph.terminals))
        if again is None:
            break
        usable = usable & (again.slack == 0)
        trial = _saturated_tree(grid.graph, usable)
        best = trial if grid.cost[trial].sum() < grid.cost[best].sum() else best
    return best


def improve(
    instance: Customization, entry: Indices, rng: Generator, run: Run, *, until: float, patience: int = PATIENCE
) -> float:
    """Improve a plan over a few formats at a time, in place, until nothing is gained any more; its cost."""
    costs, size = Costs.of(instance), fitting(instance, AT_A_TIME)
    value, idle = costs.total(entry), 0
    while idle < patience and run.left() > until:
        costs.improve(entry, neighbourhood(costs, rng, size))
        now = costs.total(entry)
        idle = 0 if now < value * (1 - 1e-9) else idle + 1
        value = now
        if size >= instance.m:
            break
    return value


def arcs_of_entries(instance: Customization, layered: Layers, entry: Indices) -> Indices:
    """The arcs of a table of entries."""
    v, f = layered.node[layered.head], layered.format[layered.head]
    by = entry[v, f]
    origin = np.full(len(by), LINK)
    done = layered.item != graph.BY_LINK
    origin[done] = instance.conversions[layered.item[done], 0]
    return np.flatnonzero((by == origin) & (by != SOURCE))
