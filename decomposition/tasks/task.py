"""A task is plain data: a function's name, its payload, its time limit. A failure is a result that says why.

Both engines do the same with a task (`execute`), so they give the same answers; only who does it differs.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from yardline.models.method import Finding
from yardline.solvers.worker.pool import Ended, Shared, Worker, worker


class EngineStopped(RuntimeError):
    """What runs the tasks is gone: those without a result have not been done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One call of `target(payload, send)` in a worker; `finish(task, ended, findings, shared)` makes plain data of its end.

    `shared` names what many tasks have in common (an instance, pickled): it travels once per worker and is in the payload
    under "shared" when the task runs.
    """

    key: str
    target: str  # "module:function"
    payload: Mapping[str, Any]
    time_limit: float
    finish: str = ""  # "module:function"; none: the answer itself
    shared: str = ""
    group: str = ""  # tasks of one group take about equally long


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a task."""

    key: str
    value: Any = None
    error: str = ""
    seconds: float = 0.0
    lost: bool = False  # the engine failed, not the task: worth another try later

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return not self.error


class Engine(Protocol):
    """Runs tasks, yields results as they finish, in no particular order."""

    def run(self, tasks: Iterable[Task], shared: Mapping[str, bytes]) -> Iterator[Result]:
        """Results as they finish; closing the iterator stops what is still running."""

    @property
    def slots(self) -> int:
        """How many tasks run at once."""

    @property
    def running(self) -> int:
        """How many tasks run now."""


def execute(
    task: Task, shared: bytes = b"", *, sharing: int = 1, taken: Callable[[Worker], None] | None = None
) -> Result:
    """One task in a worker of this process; never raises for what the task does.

    sharing: how many tasks run beside each other on this machine; taken: is told the worker, so that it can be killed.
    """
    begun = time.monotonic()
    findings: list[Finding] = []
    carried = Shared(task.shared, lambda: shared) if task.shared else None
    try:
        with worker(sharing=sharing) as mine:
            if taken is not None:
                taken(mine)
            ended = mine.call(
                task.target, task.payload, time_limit=task.time_limit, shared=carried, listener=findings.append
            )
        if ended.how == "interrupted":
            raise KeyboardInterrupt
        value = function(task.finish)(task, ended, findings, shared) if task.finish else _answer(ended)
    except Exception as error:  # a failure is a result
        return failure(task, error, begun)
    return Result(key=task.key, value=value, seconds=time.monotonic() - begun)


def failure(task: Task, error: BaseException, begun: float, *, lost: bool = False) -> Result:
    """An error as the result of its task."""
    words = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return Result(key=task.key, error=words[:500], seconds=time.monotonic() - begun, lost=lost)


def _answer(ended: Ended) -> Any:
    if ended.how != "done":
        raise RuntimeError(f"{ended.kind or ended.how}: {ended.error}")
    return ended.answer


def function(name: str) -> Callable[..., Any]:
    """A function by "module:function"."""
    module, _, attribute = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return found


@dataclass(slots=True)
class Pace:
    """How long tasks of a group take, so that short ones travel together."""

    target: float = 2.0  # seconds of work that one batch should hold: what is lost when everything is killed
    least: float = 0.25  # seconds of work below which a batch costs more to send than it is worth
    most: int = 500
    seen: dict[str, float] = field(default_factory=dict)  # seconds of a task, lately

    def learn(self, group: str, seconds: float) -> None:
        """One more task of a group has taken this long; the first, which wait for a worker to start, are soon forgotten."""
        before = self.seen.get(group, seconds)
        self.seen[group] = before + 0.2 * (seconds - before)

    def batch(self, group: str, share: int) -> int:
        """How many tasks of a group to send at once, about `share` at most; one while nothing is known."""
        if group not in self.seen:
            return 1
        each = max(1e-4, self.seen[group])
        wanted = min(int(self.target / each), max(share, int(self.least / each)))
        return max(1, min(self.most, wanted))
