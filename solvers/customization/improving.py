"""From dual ascent to a good plan: the tree along its saturated arcs, then improved over a few formats at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from yardline.models.checks import Indices
from yardline.models.customization import graph
from yardline.models.customization.chains import chains, kept_sends
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.layers import Layers
from yardline.models.method import Run
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


def improve(
    instance: Customization, entry: Indices, rng: Generator, run: Run, *, until: float, patience: int = PATIENCE
) -> float:
    """Improve a plan over a few formats at a time, in place, until nothing is gained any more; its cost.

    Chains of conversions count as single steps on the way, so that what is between need not be among the few. A plan along
    arcs of the multilayer graph stays there.
    """
    from yardline.solvers.customization import _neighbourhood

    distance, before = chains(instance)
    costs, usual = Costs.of(instance).closed(distance), kept_sends(instance)
    if usual[entry == LINK].all():
        costs = costs.sending(usual)
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
