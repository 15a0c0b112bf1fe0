"""The method `portfolio` of customization: dual ascent with its bound, improvement while the time lasts, the first plans."""

from __future__ import annotations

from dataclasses import replace

from numpy.random import Generator

from yardline.models import registry
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.feasibility import why_infeasible
from yardline.models.customization.judge import evaluate
from yardline.models.method import Answer, Run, Unsuitable
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.customization.ascent import certificate
from yardline.solvers.customization.exact import BY_POTENTIALS, by_cuts, first_ascent, grid_of, raised
from yardline.solvers.customization.improving import MOST_FORMATS, first_tree, improve, improved
from yardline.solvers.customization.plans import entries_of_plan, plan_of_entries
from yardline.solvers.heuristics.customization.baselines import all_in_leaves, all_in_root
from yardline.solvers.heuristics.customization.single_format import single_format

SHARE = 0.85
"""Of the time, for the improvement."""
GUIDED, FOR_BOUND = 3, 0.1
"""Dual ascents that a tree guides, and the part of the time for them."""
FOR_FIRST_PLANS = 0.3
"""Of the time, has to be left for the plans without search to be tried as well."""


@registry.method("customization", "portfolio")
def portfolio(instance: Customization, rng: Generator, *, run: Run) -> Answer:
    """Dual ascent (a bound) and its tree, improved over a few formats at a time; the paper's three first plans beside it."""
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    if instance.n == 1:
        return by_cuts(instance, rng, run)
    _quick(instance, rng, run)
    try:
        grid = grid_of(instance)
    except Unsuitable:
        plan = _improved(instance, _first(instance, rng, run), rng, run)
        return Answer(solution=plan, note="too large for dual ascent: no bound")
    found = first_ascent(instance, grid, run)
    tree = first_tree(grid, found, rng)
    found = raised(grid, found, tree, rng, run, tries=GUIDED, share=FOR_BOUND)
    document = certificate(instance, grid, [{"duals": found.duals()}], found.value) if run.certify else None
    bound = as_float(grid.bound(found.value))
    answer = Answer(bound=bound, valid_because=BY_POTENTIALS, certificate=document)
    best = improved(instance, grid.graph, tree, rng, run, share=SHARE).plan
    if best is None or run.left() > FOR_FIRST_PLANS * run.time_limit:
        first = _first(instance, rng, run)
        if best is None or evaluate(instance, first).cost < evaluate(instance, best).cost:
            best = _improved(instance, first, rng, run)
    return replace(answer, solution=best)


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
    improve(instance, entry, rng, run, until=run.left() * (1 - SHARE))
    return plan_of_entries(instance, entry)
