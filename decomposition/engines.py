"""Who runs the tasks of a loop: this process, a few processes of this machine, or Spark; the results are the same.

A loop runs inside the worker that can be killed, and so do the tasks that it starts: a worker of the local engine watches
its parent and ends with it; Spark's Java belongs to the process group that is killed. Spark is started before the clock.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from yardline.decomposition.tasks.local import LocalEngine
from yardline.decomposition.tasks.task import Engine, Result, Task, function
from yardline.models.method import Run
from yardline.solvers.worker.pool import worker

SLOTS = 4
"""Processes that a loop uses on this machine, at most."""

ATTEMPTS = 3
"""How often a task is tried whose worker was lost."""

SHORT = 1.0
"""Seconds of tasks that are not worth another process."""


class HereEngine:
    """Tasks one after the other in this process: for short ones, and inside comparisons, which are parallel already."""

    slots = 1
    running = 1

    def run(self, tasks: Iterable[Task], shared: Mapping[str, bytes]) -> Iterator[Result]:
        """Results in the order of the tasks; what is shared is unpacked once."""
        things = {name: pickle.loads(thing) for name, thing in shared.items()}
        for task in tasks:
            begun = time.monotonic()
            payload = {**task.payload, "shared": things.get(task.shared)}
            value = function(task.target)(payload, lambda kind, content: None)
            yield Result(key=task.key, value=value, seconds=time.monotonic() - begun)


class Placed:
    """The engine of a run for long tasks, one near by for short ones; the first task of all shows which they are."""

    def __init__(self, run: Run, engine: Engine | None = None, near: Engine | None = None) -> None:
        self.engine, self.near = engine or engine_of(run), near or HereEngine()
        self.always = run.engine == "spark"  # who asks for Spark gets it, for short tasks too
        self.expected: float | None = None  # seconds that a task takes

    @property
    def slots(self) -> int:
        """How many tasks run at once."""
        return self.engine.slots

    @property
    def running(self) -> int:
        """How many tasks run now."""
        return self.engine.running

    def warm(self) -> None:
        """Start the processes of this machine now: they import while the caller is busy with something else."""
        if isinstance(self.engine, LocalEngine):
            with contextlib.ExitStack() as stack:
                for mine in [stack.enter_context(worker(sharing=self.slots)) for _ in range(self.slots)]:
                    mine.start()

    def run(self, tasks: Iterable[Task], shared: Mapping[str, bytes]) -> Iterator[Result]:
        """Results as they finish."""
        waiting = list(tasks)
        if self.expected is None and waiting:
            for result in self.near.run([waiting.pop(0)], shared):
                self.expected = result.seconds
                yield result
        short = not self.always and (self.expected or 0.0) * len(waiting) < SHORT
        yield from (self.near if short else self.engine).run(waiting, shared)


def engine_of(run: Run) -> Engine:
    """The engine that a run asks for."""
    if run.engine == "local":
        return LocalEngine(min(SLOTS, os.cpu_count() or 1))
    if run.engine == "spark":
        from yardline.decomposition.tasks.spark import SparkEngine

        return SparkEngine(_session(run.master))
    return HereEngine()


def prepare(run: Mapping[str, Any]) -> None:
    """Start what takes long to start, before the clock of a run does."""
    if run["engine"] == "spark":
        _session(run["master"])


def _session(master: str) -> Any:
    """The Spark session of this process; its Java is not held to the memory limit of a method."""
    from yardline.decomposition.tasks.session import session

    with _unlimited():
        return session(master)


@contextlib.contextmanager
def _unlimited() -> Iterator[None]:
    limit, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def outcomes(
    engine: Engine, tasks: Sequence[Task], shared: Mapping[str, bytes], *, enough: Callable[[], bool] = lambda: False
) -> Iterator[Result]:
    """Results as they finish, until it is `enough`; a task whose worker was lost is tried again."""
    waiting = {task.key: task for task in tasks}
    for attempt in range(1, ATTEMPTS + 1):
        failed: list[Result] = []
        for result in engine.run(list(waiting.values()), shared):
            if result.ok:
                del waiting[result.key]
                yield result
            else:
                failed.append(result)
            if enough():
                return
        if not failed:
            return
        if attempt == ATTEMPTS:
            raise RuntimeError(f"task {failed[0].key} failed {ATTEMPTS} times: {failed[0].error}")
