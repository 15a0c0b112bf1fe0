"""Tasks on this machine: a few threads, each with a worker process of its own."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping

from yardline.decomposition.tasks.task import Result, Task, execute


class LocalEngine:
    """A pool of worker processes, driven by threads."""

    def __init__(self, slots: int | None = None) -> None:
        self._slots = slots or os.cpu_count() or 1

    @property
    def slots(self) -> int:
        """How many tasks run at once."""
        return self._slots

    def run(self, tasks: Iterable[Task], shared: Mapping[str, bytes]) -> Iterator[Result]:
        """Results as they finish; tasks are started in the order given."""
        waiting: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[Result | None] = queue.SimpleQueue()
        stopped = threading.Event()
        count = 0
        for task in tasks:
            waiting.put(task)
            count += 1
        threads = [
            threading.Thread(target=_work, args=(waiting, done, shared, stopped), daemon=True)
            for _ in range(min(self._slots, count))
        ]
        for thread in threads:
            waiting.put(None)
            thread.start()
        try:
            for _ in range(count):
                result = done.get()
                if result is not None:
                    yield result
        finally:
            stopped.set()


def _work(
    waiting: queue.SimpleQueue[Task | None],
    done: queue.SimpleQueue[Result | None],
    shared: Mapping[str, bytes],
    stopped: threading.Event,
) -> None:
    """One thread: task after task until there is none, or nobody listens any more."""
    while not stopped.is_set():
        task = waiting.get()
        if task is None:
            return
        done.put(execute(task, shared[task.shared] if task.shared else b""))
