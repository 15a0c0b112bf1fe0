"""What a call to the worker does: find the registered function, run it on the instance, send back what it finds."""

from __future__ import annotations

import hashlib
import importlib
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from yardline.models import registry
from yardline.models.instance import Instance, Solution
from yardline.models.method import Answer, Run
from yardline.models.problem import problem_of
from yardline.solvers import automatic, highs
from yardline.solvers.worker.pool import Ended, Listener, Shared, Worker

TARGET = "yardline.solvers.worker.running:serve"

Send = Callable[[str, object], None]


def run_entry(
    entry: registry.Entry,
    instance: Instance,
    *,
    worker: Worker,
    options: Mapping[str, Any],
    run: Mapping[str, Any],
    listener: Listener | None = None,
    before: str = "",
) -> Ended:
    """Run a method or a bound in a worker: `run` holds time_limit, seed, solver, threads, certify, engine, master.

    `before` ("module:function") is called with `run` before the clock starts: what takes long to start (Spark).
    """
    payload = {"entry": portable(entry), "options": dict(options), "run": dict(run), "before": before}
    shared = Shared(instance.hash, lambda: pickle.dumps(instance, protocol=5))
    return worker.call(TARGET, payload, time_limit=run["time_limit"], shared=shared, listener=listener)


def portable(entry: registry.Entry) -> Any:
    """Shipped entries by name; a user's own function by value, so that scripts and notebooks need no module."""
    if entry.shipped:
        return (entry.kind, entry.problem, entry.name)
    import cloudpickle

    return cloudpickle.dumps(entry)


def serve(payload: Mapping[str, Any], send: Send) -> Answer:
    """In the child: one run of one entry."""
    instance: Instance = payload["shared"]
    entry = _entry(payload["entry"], instance, payload["run"]["time_limit"])
    if payload.get("before"):
        module, _, name = payload["before"].partition(":")
        getattr(importlib.import_module(module), name)(payload["run"])
    send("started", None)
    highs.settle_threads(payload["run"]["threads"])
    run = Run(**payload["run"], listener=lambda finding: send("found", finding))
    extra = {"run": run} if entry.wants_run else {}
    rng = generator(instance.hash, entry.name, run.seed)
    return _answer(entry, instance, entry.function(instance, rng, **payload["options"], **extra))


def generator(instance: str, method: str, seed: int) -> np.random.Generator:
    """The randomness of a run: the same wherever and beside whatever it runs."""
    digest = hashlib.sha256(f"{instance}|{method}|{seed}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def _entry(given: Any, instance: Instance, time_limit: float) -> registry.Entry:
    """The entry of a call: by value, by name, or the one that `auto` picks."""
    if isinstance(given, bytes):
        entry: registry.Entry = pickle.loads(given)
        return entry
    kind, problem, name = given
    return registry.find(
        kind, problem, automatic.choose(kind, instance, time_limit) if name == automatic.AUTO else name
    )


def _answer(entry: registry.Entry, instance: Instance, returned: object) -> Answer:
    """What a function returned, as an Answer; a plan may also be a plain document."""
    if isinstance(returned, Answer):
        return returned
    if isinstance(returned, Mapping):
        returned = problem_of(instance).read_solution(returned, instance)
    if not isinstance(returned, Solution) or returned.problem != instance.problem:
        expected = f"a plan of {instance.problem}"
        raise TypeError(f"{entry.kind} {entry.name} returned {type(returned).__name__}: expected {expected}")
    return Answer(solution=returned)
