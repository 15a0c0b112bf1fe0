"""Relax and round for Pyomo models of the user's own: value, certified bound, gap, point."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping
from typing import Any

import cloudpickle
import numpy as np
from numpy.random import Generator

from yardline.decomposition.engines import Placed
from yardline.decomposition.relax_round import Best, attempts
from yardline.decomposition.tasks.local import LocalEngine
from yardline.decomposition.tasks.spark import SparkEngine
from yardline.modelling import Modelled, modelled
from yardline.models import checks
from yardline.models.method import Run
from yardline.results import MethodFailed
from yardline.solvers.catalog import solver as solver_module
from yardline.solvers.compiled import compiled
from yardline.solvers.worker.pool import worker

Step = Callable[[Mapping[str, float], Generator], Mapping[str, float]]
HOME = "yardline.decomposition.any_program"


def relax_round(
    model: Any,
    *,
    round: Step | None = None,
    repair: Step | None = None,
    trials: int = 64,
    seed: int = 0,
    spark: Any = None,
    time_limit: float = 60,
    solver: str = "highs",
) -> Modelled:
    """The relaxation's certified bound and the best of seeded roundings; the best point is left in the model.

    `round(point, rng)` and `repair(point, rng)` take and return values by column name, as `Modelled.point` has them.
    `spark`, a session, runs the trials there; otherwise a few processes of this machine do. The answer is the same.
    """
    begun, ready = time.monotonic(), compiled(model)
    solver_module(solver)
    trials, seed = checks.integer(trials, "trials", low=1), checks.integer(seed, "seed", high=2**31 - 1)
    limit = checks.number(time_limit, "time limit")
    run = Run(time_limit=limit, seed=seed, solver=solver, engine="local" if spark is None else "spark")
    answer = _relaxed(ready.program, run)
    if answer["point"] is None:
        note = "" if answer["infeasible"] else "the relaxation was not solved in time"
        return modelled(ready, {"infeasible": answer["infeasible"]}, time.monotonic() - begun, note)
    steps = {name: None if step is None else cloudpickle.dumps(step) for name, step in _named(round, repair)}
    shared = pickle.dumps({"program": ready.program, "point": answer["point"], **steps}, protocol=5)
    best = Best(lambda attempt: None)
    engine = Placed(run, None if spark is None else SparkEngine(spark), near=LocalEngine(1))
    entropy = int(np.random.default_rng(seed).integers(2**62))
    attempts(best, run, engine, trials, entropy, f"{HOME}:attempt", shared)
    found = {**answer, "point": best.plan, "value": best.value, "bound": answer["proved"]}
    return modelled(ready, found, time.monotonic() - begun, best.note(trials))


def _named(round: Step | None, repair: Step | None) -> tuple[tuple[str, Step | None], ...]:
    return (("round", round), ("repair", repair))


def _relaxed(program: Any, run: Run) -> Mapping[str, Any]:
    """The relaxation in a worker that can be killed."""
    names = ("time_limit", "seed", "solver", "threads")
    payload = {"program": program, "run": {name: getattr(run, name) for name in names}}
    with worker() as mine:
        ended = mine.call(f"{HOME}:relax", payload, time_limit=run.time_limit)
    if ended.how == "interrupted":
        raise KeyboardInterrupt
    if ended.how in ("failed", "died"):
        raise MethodFailed(f"relaxing the model failed: {ended.error}", ended.traceback)
    nothing = {"point": None, "proved": None, "certificate": None, "infeasible": False}
    answer: Mapping[str, Any] = ended.answer or nothing
    return answer
