"""Relax and round: the relaxation's duals give a certified bound, its point guides seeded roundings, the best plan wins.

    relaxation -> bound (certified), point -> guide
    trial t:     rounded(instance, guide, rng of t) -> repaired -> judged                       as tasks, in any order
    best:        the least cost among the valid ones, the first trial among equals

A trial depends on the instance, the guide and its own seed alone, so one process, many, and Spark give the same plan.
What a problem brings stands in decomposition/problems/.
"""

from __future__ import annotations

import hashlib
import pickle
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from yardline.decomposition.engines import Placed, outcomes
from yardline.decomposition.problems import brought
from yardline.decomposition.tasks.task import Task, function
from yardline.models import checks, registry
from yardline.models.checks import Vector
from yardline.models.instance import Instance
from yardline.models.method import Answer, Run
from yardline.models.problem import problem_names, problem_of
from yardline.models.program import Program
from yardline.solvers.catalog import solver
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certify import one_leaf, tree_certificate
from yardline.solvers.exact import program_of
from yardline.solvers.outcome import Outcome, Stop
from yardline.solvers.relaxation import LP

BATCH = 0.5
"""Seconds of trials that travel together."""

LARGE = 2_000
"""Columns from which on trials are likely to need other processes, which then start while the relaxation is solved."""

Send = Callable[[str, object], None]


def relax_round(
    instance: Instance, rng: Generator, *, run: Run, trials: int = 64, relaxation: Literal["house"] = "house"
) -> Answer:
    """The relaxation's certified bound, and the best of seeded roundings of its point, each repaired.

    trials: how many roundings.  relaxation: `house` is the relaxation of the formulation.
    """
    trials = checks.integer(trials, "option trials", low=1)
    problem = problem_of(instance)
    reason = problem.why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    program = program_of(problem, instance)
    run.report(f"program of {program.shape[0]:,} rows and {program.shape[1]:,} columns")
    engine = Placed(run)
    if program.shape[1] > LARGE:
        engine.warm()
    point, proved = relaxed(program, instance, run)
    if point is None:
        return proved
    guide = brought(instance.problem).guide(instance, program, point)
    best = Best(lambda seen: run.report(f"trial {seen.trial}", solution=seen.plan, value=seen.value))
    shared = pickle.dumps({"instance": instance, "guide": guide}, protocol=5)
    attempts(best, run, engine, trials, int(rng.integers(2**62)), f"{__name__}:attempt", shared)
    return Answer(
        solution=best.plan,
        bound=proved.bound,
        valid_because=proved.valid_because,
        certificate=proved.certificate,
        note=best.note(trials),
    )


def relaxed(program: Program, about: Instance | Program, run: Run) -> tuple[Vector | None, Answer]:
    """The optimum of the relaxation and what its duals prove; no point where the time did not suffice."""
    outcome: Outcome = solver(run.solver).solve(
        program, relax=True, time_limit=0.8 * run.left(), threads=run.threads, seed=run.seed
    )
    if outcome.stop is Stop.ERROR:
        raise RuntimeError(f"the solver failed: {outcome.solver}")
    if outcome.stop is not Stop.OPTIMAL:
        return None, Answer(note=f"the relaxation was not solved in time ({outcome.stop.value})")
    document, exact = tree_certificate(about, program, one_leaf(program, outcome.duals), round_up=False)
    proved = Answer(bound=as_float(exact), valid_because=LP, certificate=document)
    run.report("relaxation", bound=proved.bound, certificate=document, valid_because=LP)
    return outcome.point, proved


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one trial came to: a plan with its cost, or the rules that it broke."""

    trial: int
    value: float = float("inf")
    plan: Any = None
    broken: tuple[str, ...] = ()


@dataclass(slots=True)
class Best:
    """The best trial so far, and what was missing in those that failed."""

    listener: Callable[[Attempt], None]
    value: float = float("inf")
    trial: int = -1
    plan: Any = None
    done: int = 0
    missing: Counter[str] = field(default_factory=Counter)

    def hear(self, attempt: Attempt) -> None:
        """Keep what is better; among equals the first trial, in whichever order they come."""
        self.done += 1
        self.missing.update(set(attempt.broken))
        if attempt.plan is not None and (attempt.value, attempt.trial) < (self.value, self.trial):
            cheaper = attempt.value < self.value
            self.value, self.trial, self.plan = attempt.value, attempt.trial, attempt.plan
            if cheaper:
                self.listener(attempt)

    def note(self, trials: int) -> str:
        """What the user should know about the trials."""
        words = "" if self.done >= trials else f"{self.done} of {trials} trials in the time given. "
        if self.plan is None and self.missing:
            rule, count = self.missing.most_common(1)[0]
            words += f"No trial gave a valid plan: most often `{rule}` was broken ({count} of {self.done} trials)."
        return words.strip()


def attempts(best: Best, run: Run, engine: Placed, trials: int, entropy: int, target: str, shared: bytes) -> None:
    """All trials: the first shows how long they take; short ones travel together."""

    name = hashlib.sha256(shared).hexdigest()  # workers keep what they have seen, by name

    def batch(first: int, last: int) -> Task:
        left = 0.9 * run.left()
        payload = {"attempt": target, "trials": (first, last), "entropy": entropy, "seconds": left}
        return Task(
            key=str(first),
            target=f"{__name__}:serve",
            payload=payload,
            time_limit=left,
            shared=name,
            group="trials",
        )

    def hear(tasks: list[Task]) -> None:
        for result in outcomes(engine, tasks, {name: shared}, enough=lambda: run.left() <= 0):
            for attempt in result.value:
                best.hear(attempt)

    hear([batch(0, 1)])
    each = max(engine.expected or 0.0, 1e-3)
    batches = shared_out(range(1, trials), int(BATCH / each), engine.slots)
    engine.expected = each * (trials - 1) / max(1, len(batches))
    hear([batch(first, last) for first, last in batches])


def shared_out(trials: range, most: int, slots: int) -> list[tuple[int, int]]:
    """Trials in batches of at most so many, smaller ones towards the end, so that no worker waits long for another."""
    result, first = [], trials.start
    while first < trials.stop:
        last = first + max(1, min(most, (trials.stop - first) // (2 * slots)))
        result.append((first, last))
        first = last
    return result


def serve(payload: Mapping[str, Any], send: Send) -> list[Attempt]:
    """In a worker: some trials one after the other, as far as the time goes."""
    send("started", None)
    begun, shared = time.monotonic(), payload["shared"]
    result: list[Attempt] = []
    for trial in range(*payload["trials"]):
        if result and time.monotonic() - begun > payload["seconds"]:
            break
        rng = np.random.default_rng((payload["entropy"], trial))
        result.append(function(payload["attempt"])(shared, trial, rng))
    return result


def attempt(shared: Mapping[str, Any], trial: int, rng: Generator) -> Attempt:
    """One trial on an instance: round, repair, judge."""
    instance, guide = shared["instance"], shared["guide"]
    brings = brought(instance.problem)
    plan = brings.repaired(instance, guide, brings.rounded(instance, guide, rng), rng)
    judged = problem_of(instance).evaluate(instance, plan)
    if judged.valid:
        return Attempt(trial, judged.cost, plan)
    return Attempt(trial, broken=tuple(violation.rule for violation in judged.violations))


PAPERS = {
    "channelization": "001",
    "assignment": "002 LP relaxation and rounding",
    "overlay": "003",
    "customization": "004",
}

for _name in problem_names():
    registry.method(_name, "relax-round", paper=PAPERS.get(_name, ""), tasks=True)(relax_round)
