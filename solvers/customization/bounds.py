"""The bounds of customization: the paper's, dual ascent, cuts, and the best of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from yardline.models import registry
from yardline.models.customization.data import Customization
from yardline.models.customization.feasibility import why_infeasible
from yardline.models.method import Answer, Run
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.customization.ascent import Ascent, Grid, ascend, certificate
from yardline.solvers.customization.exact import BY_POTENTIALS, by_cuts, exact, first_ascent, grid_of
from yardline.solvers.customization.paper import conversion_floor, transmission_floor
from yardline.solvers.customization.recursion import seconds_needed

PAPER = (
    "every link with requests below carries at least the cheapest format that can become each of them, and every requested "
    "format is made at least once somewhere (a least tree of conversions; beyond 20 formats dual ascent stands in for it)"
)


@registry.bound("customization", "paper", paper="004 section 5 (T_low + C_low)")
def paper(instance: Customization, rng: Generator, *, run: Run) -> Answer:
    """T_low + C_low of the paper: the cheapest format on each link, and each requested format made once."""
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    bound = transmission_floor(instance).sum() + conversion_floor(instance)
    return Answer(bound=float(bound) * (1 - 1e-12), valid_because=PAPER)


@registry.bound("customization", "dual-ascent")
def dual_ascent(instance: Customization, rng: Generator, *, run: Run, tries: int = 3) -> Answer:
    """Wong's dual ascent in the multilayer graph, the best of a few orders of the requests; rechecked in whole numbers.

    tries: how many orders.
    """
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    grid = grid_of(instance)
    best = first_ascent(instance, grid, run)
    for _ in range(tries - 1):
        if run.left() < 0.3 * run.time_limit:
            break
        best = _better(grid, best, rng)
    document = certificate(instance, grid, [{"duals": best.duals()}], best.value)
    return Answer(bound=as_float(grid.bound(best.value)), valid_because=BY_POTENTIALS, certificate=document)


def _better(grid: Grid, best: Ascent, rng: Generator) -> Ascent:
    order = rng.permutation(grid.graph.terminals)
    other = ascend(grid, np.ones(len(grid.cost), dtype=bool), order)
    return other if other is not None and other.value > best.value else best


@registry.bound("customization", "cuts")
def cuts(instance: Customization, rng: Generator, *, run: Run) -> Answer:
    """Dual ascent, reduced-cost fixing, directed cuts and branching until the time is over; rechecked in whole numbers."""
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    return _alone(by_cuts(instance, rng, run))


@registry.bound("customization", "best")
def best(instance: Customization, rng: Generator, *, run: Run) -> Answer:
    """What `exact` proves in the time: by sets of formats where that is within reach, by cuts otherwise."""
    return _alone(exact(instance, rng, run=run, by="auto" if seconds_needed(instance) < run.left() / 3 else "cuts"))


def _alone(answer: Answer) -> Answer:
    """The bound of an answer with its certificate, but without its plan."""
    if answer.infeasible is not None:
        return answer
    document: dict[str, Any] = {k: v for k, v in (answer.certificate or {}).items() if k != "plan"}
    return Answer(
        bound=answer.bound, valid_because=answer.valid_because, certificate=document or None, note=answer.note
    )
