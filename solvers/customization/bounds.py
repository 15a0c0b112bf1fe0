"""The bounds of customization: the paper's, dual ascent, cuts, and the best of them."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from yardline.models import registry
from yardline.models.customization.data import Customization
from yardline.models.customization.feasibility import why_infeasible
from yardline.models.method import Answer, Run
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.customization.ascent import certificate
from yardline.solvers.customization.exact import BY_POTENTIALS, by_cuts, exact, first_ascent, grid_of, raised
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
def dual_ascent(instance: Customization, rng: Generator, *, run: Run, tries: int = 30) -> Answer:
    """Wong's dual ascent in the multilayer graph, again and again, guided by the trees it leads to; rechecked in whole numbers.

    tries: how many dual ascents in all.
    """
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    grid = grid_of(instance)
    found = first_ascent(instance, grid, run)
    if tries > 1 and run.left() > 0.5 * run.time_limit:
        found = raised(grid, found, rng, run, share=0.9, most=tries - 1).ascent
    document = certificate(instance, grid, [{"duals": found.duals()}], found.value)
    return Answer(bound=as_float(grid.bound(found.value)), valid_because=BY_POTENTIALS, certificate=document)


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
