"""The method `portfolio` of every problem: each heuristic in turn while the time lasts, the best plan by the judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from numpy.random import Generator

from yardline.models import registry
from yardline.models.instance import Instance, Solution
from yardline.models.method import Answer, Run, Unsuitable
from yardline.models.problem import problem_names, problem_of

NOT_TRIED = ("exact", "portfolio", "relax-round", "sampled", "slp", "slp-leaves")
"""Those use all the time that they get; SLP ends in the local search, which is tried anyway and makes more of that time."""


def portfolio(instance: Instance, rng: Generator, *, run: Run) -> Answer:
    """Every heuristic of the problem in turn while the time lasts; the best plan by the judge."""
    problem = problem_of(instance)
    reason = problem.why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    best: Solution | None = None
    least = float("inf")
    fallback: Solution | None = None  # a plan that breaks a rule, if there is no other
    entries = [e for e in registry.entries("method", instance.problem) if e.name not in NOT_TRIED and e.shipped]
    entries.sort(key=lambda entry: entry.wants_run)  # the quick ones first; the others share what is left
    for place, entry in enumerate(entries):
        if run.left() <= 0:
            break
        found = _tried(entry, instance, rng, _share(run, len(entries) - place))
        if found is None:
            continue
        judgement = problem.evaluate(instance, found)
        if not judgement.valid:
            fallback = fallback or found
        elif judgement.cost < least:
            best, least = found, judgement.cost
            run.report(entry.name, solution=found, value=least)
    return Answer(solution=best or fallback)


def _share(run: Run, waiting: int) -> Run:
    """A run with its part of the time left, while so many wait for theirs; it ends before the time is over."""
    return replace(run, time_limit=run.seconds() + 0.9 * run.left() / waiting)


def _tried(entry: registry.Entry, instance: Instance, rng: Generator, run: Run) -> Solution | None:
    """The plan of one heuristic, if it serves this instance."""
    extra = {"run": run} if entry.wants_run else {}
    try:
        found = entry.function(instance, rng, **extra)
    except Unsuitable:
        return None
    if isinstance(found, Mapping):  # a plan may also be a plain document
        return problem_of(instance).read_solution(found, instance)
    return found.solution if isinstance(found, Answer) else found


for _name in problem_names():
    registry.method(_name, "portfolio", generic=True)(portfolio)
