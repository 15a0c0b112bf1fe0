"""The methods `slp` and `slp-leaves`.

`slp` goes down the tree (sharing.py); `slp-leaves` shares everybody out among all leaves at once. Filters are then
adjusted at the leaves and built bottom-up, those whom no flow took come in where filters grow least, and the local
search may finish.
"""

from __future__ import annotations

import functools
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from yardline.decomposition.assignment.completing import begun, completed
from yardline.decomposition.assignment.settings import Settings
from yardline.decomposition.assignment.sharing import Down, Shared, shared_out
from yardline.models import registry
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.feasibility import why_infeasible
from yardline.models.assignment.judge import evaluate
from yardline.models.assignment.load import caps_of, factor_of
from yardline.models.method import Answer, Run
from yardline.solvers.heuristics.assignment.search import searched

COMPLETION = 2.0
"""Completing a plan from the programs takes up to so many times as long as the plan that was begun with."""


@registry.method("assignment", "slp", paper="002 SLP", tasks=True)
def slp(
    instance: Assignment,
    rng: Generator,
    *,
    run: Run,
    load: Literal["desired", "max"] = "desired",
    sample: Literal["strata", "paper"] = "strata",
    sample_factor: float = 10.0,
    inner_factor: float = 20.0,
    supers: float = 5.0,
    overlap: float = 0.5,
    eps: float = 0.1,
    c: float = 1.0,
    first: int = 32,
    tries: int = 20,
    redraws: int = 3,
    iterations: int = 8,
    lp: Literal["first-order", "highs"] = "first-order",
    lp_accuracy: float = 0.25,
    lp_steps: int = 1_500,
    step: float = 0.02,
    share: float = 0.5,
    sure: float = 0.5,
    finish: int = 200_000,
) -> Answer:
    """Linear programming on reweighted samples, rounding, max-flow, filter adjustment; top-down over several levels.

    load: caps start at max(beta, least feasible factor), or at beta_max; sample: how S_b is drawn; sample_factor,
    inner_factor: |S_b| per leaf or per inner broker; supers: super-interests per broker; overlap: of candidate
    intervals; eps: expansion of filters; c, first: |Q| = c g ln g from g = first on; tries: roundings; redraws: of S_b;
    iterations: at most so many programs per broker (0: no limit); lp: `first-order` stops at a gap of lp_accuracy or
    after lp_steps, `highs` solves exactly; step: by which beta rises; share: of the time that is for the programs;
    sure: boxes with at least so large a share begin the other completion (completing.py); finish: rounds of local
    search at the end (0: the paper's result).
    """
    return _solved(instance, rng, run, Settings.of(locals()), by_level=True)


@functools.wraps(slp)
def slp_leaves(instance: Assignment, rng: Generator, *, run: Run, **options: Any) -> Answer:
    """SLP of one level over all leaves, then filters bottom-up; the options are those of `slp`."""
    known: dict[str, Any] = slp.__kwdefaults__ or {}
    return _solved(instance, rng, run, Settings.of({**known, **options}), by_level=False)


registry.method(
    "assignment",
    "slp-leaves",
    paper="002, section 5, the alternative argued against",
    summary="SLP of one level over all leaves, then filters bottom-up; the options are those of `slp`.",
)(slp_leaves)


def _solved(instance: Assignment, rng: Generator, run: Run, settings: Settings, *, by_level: bool) -> Answer:
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    beta, entropy = factor_of(instance, settings.load), int(rng.integers(2**62))
    started = run.seconds()
    first = begun(instance, settings)
    run.report("begun", solution=first, value=evaluate(instance, first).cost)
    reserve = COMPLETION * (run.seconds() - started) if settings.finish else 0.0
    down = shared_out(Shared(instance, settings, beta, by_level, entropy), run, reserve)
    if not settings.finish or (down.programs and run.left() > reserve / 2):
        plan, how = completed(instance, rng, down, settings, first)
    else:
        plan, how = first, ["the time did not suffice for a plan from programs"]
    run.report("completed", solution=plan, value=evaluate(instance, plan).cost)
    if settings.finish and run.left() > 0:
        loads = np.bincount(plan.leaf, minlength=instance.n)[instance.leaves]
        caps = np.maximum(caps_of(instance, settings.load), loads)  # a plan that had to go beyond stays where it is
        plan = searched(instance, plan, caps, rng, run, rounds=settings.finish)
    return Answer(solution=plan, note="; ".join([*_notes(down), *how]), numbers=_numbers(down))


def _numbers(down: Down) -> dict[str, float]:
    """How many the flow did not place, and the fractional value if each broker has one (no bound: boxes are restricted)."""
    numbers = {"repaired": float((down.leaf < 0).sum())} if down.programs else {}
    return numbers | ({"indicator": down.indicator} if down.programs and not down.late else {})


def _notes(down: Down) -> list[str]:
    words = [f"{down.programs} programs"]
    if down.programs:
        words.insert(0, f"indicator {down.indicator:.6g} (the fractional value, no bound)")
    if down.late:
        names = ", ".join("the publisher" if b < 0 else f"broker {b}" for b in down.late)
        words.append(f"no program was solved in time below {names}: one box for all there")
    return words
