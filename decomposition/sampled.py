"""The method `sampled`: a weighted sample solved well and extended to everybody, on the loop of reweighting.py.

    round:   samples drawn by weight, each an instance of its own                        as tasks, each with its own seed
             inner method on the sample -> plan -> extended to everybody -> judged
    best:    the least cost among the valid ones, the first sample among equals
    bad:     the worst quarter, by how badly each element came out in the samples of the round together

A round without gain is idle; after some of them the size doubles, and a sample of everything is the instance, and the last.
A sample depends on the weights and its number alone, so one process, many, and Spark give the same plan, as long as
no inner run is cut short by its time limit.

What a problem brings (decomposition/problems/): weights(instance), sample(instance, chosen) -> a smaller instance,
extended(instance, chosen, plan, rng) -> (plan, how badly each element came out).
"""

from __future__ import annotations

import hashlib
import pickle
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.decomposition.engines import Placed, outcomes
from yardline.decomposition.problems import brought
from yardline.decomposition.relax_round import Send
from yardline.decomposition.reweighting import Look, Stage, no_gain, reweighted
from yardline.decomposition.tasks.task import Task
from yardline.models import checks, registry
from yardline.models.checks import Indices, Vector
from yardline.models.instance import Instance, Solution
from yardline.models.method import Answer, Run, Unsuitable
from yardline.models.problem import problem_of

PATIENCE = 3
"""Rounds without gain that use up a stage."""

BAD = 0.75
"""Elements above this quantile of badness are doubled."""

AHEAD = 8
"""Rounds, at most, among which the time left is divided."""


@dataclass(frozen=True, slots=True)
class Extension:
    """What one sample came to: a plan for everybody with its cost, how badly each came out, the rules that it broke."""

    number: int
    value: float = float("inf")
    plan: Solution | None = None
    badness: Vector | None = None
    broken: tuple[str, ...] = ()
    seconds: float = 0.0  # that extending and judging took


def sampled(
    instance: Instance,
    rng: Generator,
    *,
    run: Run,
    size: int = 200,
    rounds: int = 20,
    samples: int = 2,
    inner: str = "exact",
) -> Answer:
    """Weighted samples solved well and extended to everybody; what came out badly is drawn more often next time.

    size: elements in a sample of the first stage.  rounds: at most so many.  samples: drawn in each round, side by side.
    inner: the method that solves them.
    """
    size, rounds = checks.integer(size, "option size", low=1), checks.integer(rounds, "option rounds", low=1)
    samples = checks.integer(samples, "option samples", low=1)
    _check_inner(instance, inner)
    reason = problem_of(instance).why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    search = Search(instance, run, rounds, samples, inner, int(rng.integers(2**62)))
    weight = brought(instance.problem).weights(instance)
    reweighted(weight, size, search.draw, search.look, no_gain(PATIENCE))
    return Answer(solution=search.best.plan, note=search.note())


@dataclass(slots=True)
class Search:
    """The rounds of one run: what each draws, what came of it, the best plan so far."""

    instance: Instance
    run: Run
    rounds: int
    samples: int
    inner: str
    entropy: int
    done: int = 0  # rounds
    best: Extension = field(default_factory=lambda: Extension(-1))
    missing: Counter[str] = field(default_factory=Counter)
    placed: Placed = field(init=False)
    shared: tuple[str, bytes] = field(init=False)

    def __post_init__(self) -> None:
        pickled = pickle.dumps(self.instance, protocol=5)
        self.placed, self.shared = Placed(self.run), (hashlib.sha256(pickled).hexdigest(), pickled)

    def draw(self, stage: Stage) -> list[Indices]:
        """The samples of a round, each by its number; one of everything is enough."""
        first = self.done * self.samples
        chosen = [
            stage.drawn(stage.size, np.random.default_rng((self.entropy, number)))
            for number in range(first, first + self.samples)
        ]
        return chosen[:1] if stage.size >= len(stage.weight) else chosen

    def look(self, chosen: list[Indices], stage: Stage) -> Look:
        """Samples solved and extended as tasks; the best plan is kept, and what is bad in all together is named."""
        everything, before = stage.size >= len(stage.weight), self.best.value
        found = [self._heard(result.value) for result in self._results(chosen, everything)]
        self.done += 1
        bad = worst([each.badness for each in sorted(found, key=lambda each: each.number) if each.badness is not None])
        needed = max(0.05 * self.run.time_limit, 1.5 * max((each.seconds for each in found), default=0.0))
        last = everything or self.done >= self.rounds or self.run.left() <= needed
        return Look(bad if len(bad) else np.zeros(len(stage.weight), dtype=bool), last, self.best.value < before)

    def _results(self, chosen: list[Indices], everything: bool) -> Any:
        """The samples of a round as tasks that share the time which is left for the round."""
        ahead = 1 if everything else max(1, min(self.rounds - self.done, AHEAD))
        turns = -(-len(chosen) // self.placed.slots)
        seconds = 0.9 * self.run.left() / ahead / turns
        name, pickled = self.shared
        run = {"seed": self.run.seed, "solver": self.run.solver, "threads": self.run.threads}
        settings = {"inner": self.inner, "entropy": self.entropy, "run": run, "seconds": seconds}
        tasks = [
            Task(
                key=str(number),
                target=f"{__name__}:serve",
                payload={"number": number, "chosen": None if everything else own, **settings},
                time_limit=seconds + 0.05 * self.run.left(),
                shared=name,
                group="samples",
            )
            for number, own in enumerate(chosen, self.done * self.samples)
        ]
        return outcomes(self.placed, tasks, {name: pickled}, enough=lambda: self.run.left() <= 0)

    def _heard(self, seen: Extension) -> Extension:
        """Keep what is better; among equals the first sample, in whichever order they come."""
        self.missing.update(set(seen.broken))
        if seen.plan is not None and (seen.value, seen.number) < (self.best.value, self.best.number):
            cheaper, self.best = seen.value < self.best.value, seen
            if cheaper:
                event = f"round {self.done}, sample {seen.number}"
                self.run.report(event, solution=seen.plan, value=seen.value)
        return seen

    def note(self) -> str:
        """What the user should know about samples that came to nothing."""
        if self.best.plan is not None:
            return ""
        if not self.missing:
            return "the inner method had no plan for any sample in the time given: --set size=fewer, or another inner"
        rule, count = self.missing.most_common(1)[0]
        return f"no extended plan was valid: most often `{rule}` was broken ({count} times)"


def worst(badness: list[Vector]) -> NDArray[np.bool_]:
    """The elements that came out badly, by the sum over samples: those in the upper quarter, if above 0."""
    total = np.sum(badness, axis=0) if badness else np.zeros(0)
    return np.asarray((total > 0) & (total >= np.quantile(total, BAD)) if len(total) else total > 0)


def serve(payload: Mapping[str, Any], send: Send) -> Extension:
    """In a worker: one sample solved, extended and judged."""
    send("started", None)
    begun, instance, chosen = time.monotonic(), payload["shared"], payload["chosen"]
    rng = np.random.default_rng((payload["entropy"], payload["number"], 1))
    brings = brought(instance.problem)
    small = instance if chosen is None else brings.sample(instance, chosen)
    seconds = payload["seconds"] - (time.monotonic() - begun)
    plan = _solved(small, payload["inner"], rng, Run(time_limit=max(0.01, seconds), **payload["run"]))
    if plan is None:
        return Extension(payload["number"])
    begun = time.monotonic()
    whole, badness = (plan, None) if chosen is None else brings.extended(instance, chosen, plan, rng)
    judged = problem_of(instance).evaluate(instance, whole)
    took = time.monotonic() - begun
    if judged.valid:
        return Extension(payload["number"], judged.cost, whole, badness, seconds=took)
    broken = tuple(v.rule for v in judged.violations)
    return Extension(payload["number"], badness=badness, broken=broken, seconds=took)


def _check_inner(instance: Instance, name: str) -> None:
    if name in ("sampled", "auto"):
        checks.fail("option inner", name, "a method that solves the sample itself, such as exact")
    registry.find("method", instance.problem, name)


def _solved(small: Instance, inner: str, rng: Generator, run: Run) -> Solution | None:
    """The inner method's plan for the sample; None where it has none in time or does not serve it."""
    entry = registry.find("method", small.problem, inner)
    try:
        found = entry.function(small, rng, **({"run": run} if entry.wants_run else {}))
    except Unsuitable:
        return None
    plan: Solution | None = found.solution if isinstance(found, Answer) else found
    return plan


PAPERS = {
    "channelization": "001; 002 reweighting",
    "overlay": "003; 002 reweighting",
    "customization": "004; 002 reweighting",
}

for _name, _paper in PAPERS.items():
    registry.method(_name, "sampled", paper=_paper, tasks=True)(sampled)
