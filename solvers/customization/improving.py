"""From dual ascent to a good plan: the tree along its saturated arcs, then improved over a few formats at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models.checks import Indices
from yardline.models.customization import graph
from yardline.models.customization.chains import chains
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

AT_A_TIME = (6, 8)
"""Formats at first, and where nothing is gained any more: few at a time are quicker, more see further."""
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


def improved(
    instance: Customization, layered: Layers, tree: Indices, rng: Generator, run: Run, *, share: float
) -> Improved:
    """The best plan in a share of the time that is left, from the arcs of a tree."""
    if instance.m > MOST_FORMATS or instance.n == 1:
        return Improved(None, tree, float(layered.cost[tree].sum()))
    entry = entries_of_arcs(instance, layered, tree)
    run.report("tree", solution=plan_of_entries(instance, entry), value=float(layered.cost[tree].sum()))
    value = improve(instance, entry, rng, run, until=run.left() * (1 - share))
    plan = plan_of_entries(instance, entry)
    run.report("plan", solution=plan, value=value)
    return Improved(plan, arcs_of_entries(instance, layered, entry), value)


def first_tree(grid: Grid, found: Ascent, rng: Generator) -> Indices:
    """The arcs of a tree along those that dual ascent saturated."""
    return _pruned(grid, found, _saturated_tree(grid.graph, found.slack == 0), rng)


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
    """Improve a plan over a few formats at a time, in place, until nothing is gained any more; its cost.

    Chains of conversions count as single steps on the way, so that what is between need not be among the few.
    """
    from yardline.solvers.customization import _neighbourhood

    distance, before = chains(instance)
    costs = Costs.of(instance).closed(distance)
    for most in AT_A_TIME:
        _descend(costs, entry, rng, fitting(instance, most), patience, going=lambda: run.left() > until)
    _neighbourhood.spell_out(entry, before)
    return Costs.of(instance).total(entry)


def _descend(costs: Costs, entry: Indices, rng: Generator, size: int, patience: int, going: Callable[[], bool]) -> None:
    """Over so many formats at a time, until nothing is gained any more."""
    value, idle = costs.total(entry), 0
    while idle < patience and going():
        costs.improve(entry, neighbourhood(costs, rng, size))
        now = costs.total(entry)
        idle = 0 if now < value * (1 - 1e-9) else idle + 1
        value = now
        if size >= len(costs.price):
            break


def arcs_of_entries(instance: Customization, layered: Layers, entry: Indices) -> Indices:
    """The arcs of a table of entries."""
    v, f = layered.node[layered.head], layered.format[layered.head]
    by = entry[v, f]
    origin = np.full(len(by), LINK)
    done = layered.item != graph.BY_LINK
    origin[done] = instance.conversions[layered.item[done], 0]
    return np.flatnonzero((by == origin) & (by != SOURCE))
