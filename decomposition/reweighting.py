"""Reweighted sampling: solve a weighted sample well, extend it to everybody, double the weight of what came out badly.

    repeat   chosen <- elements drawn by weight            plan <- inner method on the sample, an instance of its own
             whole  <- plan extended to all elements       the judge's cost decides which whole plan is kept
             weight of elements that came out badly, doubled
    a stage is used up after some rounds without gain: the size doubles; a sample of everything is the instance, and the last

What a problem brings (decomposition/problems/): weights(instance), sample(instance, chosen) -> a smaller instance,
extended(instance, chosen, plan, rng) -> (plan, how badly each element came out).
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from yardline.decomposition.problems import brought
from yardline.models import checks, registry
from yardline.models.checks import Indices, Vector
from yardline.models.instance import Instance, Solution
from yardline.models.method import Answer, Run, Unsuitable
from yardline.models.problem import problem_of

PATIENCE = 3
"""Rounds without gain that use up a stage."""

BAD = 0.75
"""Elements above this quantile of badness are doubled."""


def sampled(
    instance: Instance, rng: Generator, *, run: Run, size: int = 200, rounds: int = 20, inner: str = "exact"
) -> Answer:
    """A weighted sample solved well and extended to everybody; what came out badly is drawn more often next time.

    size: elements in the first sample.  rounds: at most so many samples.  inner: the method that solves them.
    """
    size, rounds = checks.integer(size, "option size", low=1), checks.integer(rounds, "option rounds", low=1)
    entry, problem = _inner(instance, inner), problem_of(instance)
    reason = problem.why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    brings = brought(instance.problem)
    weight, best, least, idle = brings.weights(instance), None, float("inf"), 0
    missing: dict[str, int] = {}
    for r in range(rounds):
        everything = size >= len(weight)
        chosen = np.arange(len(weight)) if everything else drawn(weight, size, rng)
        seconds = 0.9 * run.left() / (1 if everything else max(1, min(rounds - r, 8)))
        small = instance if everything else brings.sample(instance, chosen)
        plan = _solved(entry, small, rng, run, seconds)
        if plan is not None:
            whole, badness = (plan, weight) if everything else brings.extended(instance, chosen, plan, rng)
            judged = problem.evaluate(instance, whole)
            idle = 0 if judged.valid and judged.cost < least else idle + 1
            if judged.valid and judged.cost < least:
                best, least = whole, judged.cost
                run.report(f"round {r}, sample of {len(chosen)}", solution=whole, value=least)
            for rule in {violation.rule for violation in judged.violations}:
                missing[rule] = missing.get(rule, 0) + 1
            weight = doubled(weight, badness)
        if everything or run.left() <= 0.05 * run.time_limit:
            break
        if idle >= PATIENCE:
            size, idle = 2 * size, 0
    return Answer(solution=best, note=_note(best, missing))


def drawn(weight: Vector, size: int, rng: Generator) -> Indices:
    """So many elements without repetition, each step with probabilities proportional to the weights; in their order."""
    lot = np.log(weight) + rng.gumbel(size=len(weight))
    return np.sort(np.argpartition(-lot, size - 1)[:size])


def doubled(weight: Vector, badness: Vector) -> Vector:
    """The weights, doubled where the badness is positive and among the largest."""
    if not len(badness):
        return weight
    bad = (badness > 0) & (badness >= np.quantile(badness, BAD))
    return np.where(bad, 2.0, 1.0) * weight


def _inner(instance: Instance, name: str) -> registry.Entry:
    if name in ("sampled", "auto"):
        checks.fail("option inner", name, "a method that solves the sample itself, such as exact")
    return registry.find("method", instance.problem, name)


def _solved(entry: registry.Entry, small: Instance, rng: Generator, run: Run, seconds: float) -> Solution | None:
    """The inner method's plan for the sample; None where it has none in time or does not serve it."""
    inner = Run(time_limit=seconds, seed=run.seed, solver=run.solver, threads=run.threads)
    try:
        found = entry.function(small, rng, **({"run": inner} if entry.wants_run else {}))
    except Unsuitable:
        return None
    return found.solution if isinstance(found, Answer) else found


def _note(best: Solution | None, missing: dict[str, int]) -> str:
    if best is not None:
        return ""
    if not missing:
        return "the inner method had no plan for any sample in the time given: --set size=fewer, or another inner"
    rule = max(missing, key=lambda name: missing[name])
    return f"no extended plan was valid: most often `{rule}` was broken ({missing[rule]} times)"


PAPERS = {
    "channelization": "001; 002 reweighting",
    "overlay": "003; 002 reweighting",
    "customization": "004; 002 reweighting",
}

for _name, _paper in PAPERS.items():
    registry.method(_name, "sampled", paper=_paper)(sampled)
