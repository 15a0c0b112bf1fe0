"""Tasks on this machine: a few threads, each with a worker process of its own."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterable, Iterator, Mapping

from yardline.decomposition.tasks.task import Result, Task, execute, failure
from yardline.solvers.worker.pool import Worker


class LocalEngine:
    """A pool of worker processes, driven by threads."""

    def __init__(self, slots: int | None = None) -> None:
        self._slots = slots or os.cpu_count() or 1
        self._crew: _Crew | None = None

    @property
    def slots(self) -> int:
        """How many tasks run at once."""
        return self._slots

    @property
    def running(self) -> int:
        """How many tasks run now."""
        return 0 if self._crew is None else len(self._crew.busy)

    def run(self, tasks: Iterable[Task], shared: Mapping[str, bytes]) -> Iterator[Result]:
        """Results as they finish; tasks are started in the order given."""
        self._crew = crew = _Crew(list(tasks), shared, self._slots)
        threads = [threading.Thread(target=crew.work, daemon=True) for _ in range(min(self._slots, crew.count))]
        for thread in threads:
            thread.start()
        try:
            for _ in range(crew.count):
                yield crew.done.get()
        finally:
            crew.stop()


class _Crew:
    """What is left to do, shared by the threads; and the workers that are busy, so that they can be stopped."""

    def __init__(self, tasks: list[Task], shared: Mapping[str, bytes], slots: int) -> None:
        self.shared, self.slots, self.count = shared, slots, len(tasks)
        self.waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
        for task in tasks:
            self.waiting.put(task)
        self.done: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self.busy: dict[int, Worker | None] = {}
        self.stopped = False

    def work(self) -> None:
        """One thread: task after task until there is none, or nobody listens any more."""
        me = threading.get_ident()
        while not self.stopped:
            try:
                task = self.waiting.get_nowait()
            except queue.Empty:
                return
            self.busy[me] = None
            self.done.put(self._one(task, me))
            self.busy.pop(me, None)

    def _one(self, task: Task, me: int) -> Result:
        begun = time.monotonic()
        try:
            shared = self.shared[task.shared] if task.shared else b""
        except Exception as error:  # a failure is a result
            return failure(task, error, begun)

        def taken(worker: Worker) -> None:
            self.busy[me] = worker

        return execute(task, shared, sharing=self.slots, taken=taken)

    def stop(self) -> None:
        """No more tasks; the workers of those that run are killed."""
        self.stopped = True
        for worker in list(self.busy.values()):
            if worker is not None:
                worker.kill()
