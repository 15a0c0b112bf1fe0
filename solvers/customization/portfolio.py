"""The method `portfolio` of customization: bounds and plans by turns; the first plans where an instance is too large for that."""

from __future__ import annotations

from numpy.random import Generator

from yardline.models import registry
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.feasibility import why_infeasible
from yardline.models.customization.judge import evaluate
from yardline.models.method import Answer, Run, Unsuitable
from yardline.solvers.customization.exact import MOST_ARCS, by_cuts, size
from yardline.solvers.customization.improving import MOST_FORMATS, improve
from yardline.solvers.customization.plans import entries_of_plan, plan_of_entries
from yardline.solvers.heuristics.customization.baselines import all_in_leaves, all_in_root
from yardline.solvers.heuristics.customization.single_format import single_format

FOR_BOUND, FOR_PLANS = 0.4, 0.8
"""Of the time for dual ascents, and of what is then left for plans; cuts have the rest."""
FALLBACK = 0.85
"""Of the time for plans where the multilayer graph is too large."""


@registry.method("customization", "portfolio")
def portfolio(instance: Customization, rng: Generator, *, run: Run) -> Answer:
    """Dual ascents (a bound) and their tree, improved over a few formats at a time, then cuts in what time is left."""
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    if instance.n == 1:
        return by_cuts(instance, rng, run)
    _quick(instance, rng, run)
    if size(instance) > MOST_ARCS:
        plan = _improved(instance, _first(instance, rng, run), rng, run)
        return Answer(solution=plan, note="too large for dual ascent: no bound")
    return by_cuts(instance, rng, run, ascents=FOR_BOUND, plans=FOR_PLANS)


def _quick(instance: Customization, rng: Generator, run: Run) -> None:
    """A plan at once, in case that the time is short."""
    try:
        plan = all_in_root(instance, rng)
    except Unsuitable:
        return
    if isinstance(plan, CustomizationPlan):
        run.report("all-in-root", solution=plan, value=evaluate(instance, plan).cost)


def _first(instance: Customization, rng: Generator, run: Run) -> CustomizationPlan:
    """The best of the plans without search."""
    best, least = None, float("inf")
    for maker in (all_in_root, all_in_leaves, single_format):
        try:
            plan = maker(instance, rng)
        except Unsuitable:
            continue
        if isinstance(plan, CustomizationPlan) and (cost := evaluate(instance, plan).cost) < least:
            best, least = plan, cost
            run.report(maker.__name__.replace("_", "-"), solution=plan, value=cost)
    if best is None:
        raise Unsuitable("no method serves an instance with this many formats")
    return best


def _improved(instance: Customization, plan: CustomizationPlan, rng: Generator, run: Run) -> CustomizationPlan:
    """A plan improved in most of the time that is left."""
    if instance.m > MOST_FORMATS:
        return plan
    entry = entries_of_plan(instance, plan)
    improve(instance, entry, rng, run, until=run.left() * (1 - FALLBACK))
    return plan_of_entries(instance, entry)
