"""The method `exact` of customization: the recursion over sets where it serves, cuts and branching beyond.

The generic one (the integer program of the formulation) stays within reach as `--set by=program`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models import registry
from yardline.models.checks import Indices
from yardline.models.customization.data import Customization
from yardline.models.customization.feasibility import why_infeasible
from yardline.models.customization.judge import evaluate
from yardline.models.customization.layers import Layers, layers, plan_of_arcs
from yardline.models.method import Answer, Run, Unsuitable
from yardline.models.numbers import meets
from yardline.solvers import exact as generic
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certificates.sets import KIND as SETS
from yardline.solvers.certificates.sets import MOST_FORMATS
from yardline.solvers.certificates.verdict import header
from yardline.solvers.customization.ascent import Ascent, Grid, ascend, certificate, nothing
from yardline.solvers.customization.averaging import Averaged, averaged, first_tree, settled
from yardline.solvers.customization.branching import Search
from yardline.solvers.customization.improving import improved
from yardline.solvers.customization.recursion import Least, least_plan, seconds_needed

BY_SETS = "the recursion over sets of formats goes through all plans, in whole numbers (costs rounded down to a grid)"
BY_POTENTIALS = "potentials per request in the multilayer graph bound every plan (weak duality, in whole numbers)"
MOST_ARCS = 20_000_000
MOST_ASCENTS = 100
SMALL_ARCS = 400_000
"""Graphs up to this size get dual ascent beside the recursion, for a certificate that need not be recomputed."""


@registry.method("customization", "exact")
def exact(
    instance: Customization,
    rng: Generator,
    *,
    run: Run,
    by: Literal["auto", "sets", "cuts", "program"] = "auto",
) -> Answer:
    """A least plan: recursion over sets of formats up to 20 of them, dual ascent, cuts and branching beyond.

    by: sets, cuts, program (the integer program of the formulation), or auto.
    """
    if by == "program":
        return generic.exact(instance, rng, run=run)
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    needed = seconds_needed(instance)
    if by == "sets" and needed == float("inf"):
        raise Unsuitable(f"more than {MOST_FORMATS} formats matter here: use by=cuts")
    if by == "sets" or (by == "auto" and needed < max(0.5, 0.6 * run.left())):
        found = least_plan(instance, going=lambda: run.left() > 0.05 * run.time_limit)
        if found is not None:
            return _by_sets(instance, found, run)
    return by_cuts(instance, rng, run)


def _by_sets(instance: Customization, found: Least, run: Run) -> Answer:
    """The answer of the recursion, with a certificate if that is wanted."""
    answer = Answer(solution=found.plan, bound=found.bound, valid_because=BY_SETS)
    if not run.certify:
        return answer
    plan, cost = found.plan.document(), evaluate(instance, found.plan).cost
    document = _by_ascent(instance, cost)
    if document is None:
        document = {**header(SETS, instance), "bound": str(found.exact)}
        return replace(answer, certificate={**document, "plan": plan})
    return replace(answer, certificate={**document, "plan": plan}, valid_because=BY_POTENTIALS)


def _by_ascent(instance: Customization, cost: float) -> dict[str, Any] | None:
    """A certificate of potentials, where dual ascent happens to meet the cost."""
    if size(instance) > SMALL_ARCS:
        return None
    grid = Grid.of(layers(instance))
    found = ascend(grid, _whole(grid), nothing(grid, grid.graph.terminals))
    if found is None or not meets(as_float(grid.bound(found.value)), cost):
        return None
    return certificate(instance, grid, [{"duals": found.duals()}], found.value)


def by_cuts(instance: Customization, rng: Generator, run: Run, *, ascents: float = 0.2, plans: float = 0.15) -> Answer:
    """Dual ascents, a good plan, then cuts and branching until the time is over.

    ascents, plans: the share of the time for the former, and of what is then left for the latter.
    """
    grid = grid_of(instance)

    def tell(arcs: Indices) -> None:
        _tell(instance, grid.graph, arcs, run)

    start = raised(grid, first_ascent(instance, grid, run), rng, run, share=ascents, on_tree=tell)
    plan = improved(instance, grid.graph, start.tree, rng, run, share=plans)
    search = Search(
        grid,
        rng,
        seconds_left=lambda: run.left() - 0.05 * run.time_limit,
        on_tree=lambda arcs, units: tell(arcs),
        on_bound=lambda units: run.report("bound", bound=as_float(grid.bound(units)), valid_because=BY_POTENTIALS),
        seed=run.seed,
        first=start.ascent,
    )
    if plan.arcs is not None:
        search.offer(plan.arcs)
    units = search.run()
    assert search.arcs is not None  # the root can make and send everything
    best = plan_of_arcs(instance, grid.graph, search.arcs)
    bound = as_float(grid.bound(units))
    document = certificate(instance, grid, search.nodes, units, search.cutoff) if run.certify else None
    if document is not None and meets(bound, evaluate(instance, best).cost):
        document["plan"] = best.document()
    note = "" if search.finished else "not proved optimal: the search was not finished"
    return Answer(solution=best, bound=bound, valid_because=BY_POTENTIALS, certificate=document, note=note)


def _tell(instance: Customization, graph: Layers, arcs: Indices, run: Run) -> None:
    plan = plan_of_arcs(instance, graph, arcs)
    run.report("plan", solution=plan, value=evaluate(instance, plan).cost)


def size(instance: Customization) -> int:
    """About how many arcs the multilayer graph has."""
    return int(instance.awaiting.sum()) * (len(instance.conversions) + instance.m)


def grid_of(instance: Customization) -> Grid:
    """The multilayer graph on its grid, if it is not too large to be written down."""
    if size(instance) > MOST_ARCS:
        raise Unsuitable(
            f"the multilayer graph has about {size(instance):,} arcs, more than {MOST_ARCS:,}: use a heuristic"
        )
    return Grid.of(layers(instance))


def first_ascent(instance: Customization, grid: Grid, run: Run) -> Ascent:
    """Dual ascent on the whole graph; its bound is told at once."""
    found = ascend(grid, _whole(grid), nothing(grid, grid.graph.terminals))
    if found is None:
        raise RuntimeError("a request is cut off from the source, but a valid plan exists: please report this bug")
    run.report("dual ascent", bound=as_float(grid.bound(found.value)), valid_because=BY_POTENTIALS)
    return found


def raised(
    grid: Grid,
    found: Ascent,
    rng: Generator,
    run: Run,
    *,
    share: float,
    most: int = MOST_ASCENTS,
    on_tree: Callable[[Indices], None] = lambda arcs: None,
) -> Averaged:
    """The best of many ascents and their cheapest tree, in a share of the time that is left.

    Better bounds are told, and so is the first tree.
    """
    until = run.left() * (1 - share)
    start = Averaged(found, first_tree(grid, _whole(grid), found, rng))
    on_tree(start.tree)
    best = averaged(
        grid,
        _whole(grid),
        start,
        rng,
        going=lambda k: k < most and run.left() > until,
        on_bound=lambda units: run.report("ascent", bound=as_float(grid.bound(units)), valid_because=BY_POTENTIALS),
    )
    return Averaged(settled(grid, _whole(grid), best.ascent), best.tree)


def _whole(grid: Grid) -> NDArray[np.bool_]:
    return np.ones(len(grid.cost), dtype=bool)
