"""Tasks on Spark. Each batch is a job of one Spark task, submitted by one of a few driver threads: results come back as they
finish, a lost worker costs a retry of its batch, and a result is taken once, however often Spark ran it.
"""

from __future__ import annotations

import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from yardline.decomposition.tasks.task import Pace, Result, Task, execute

SMALL = 50_000
"""Bytes of a shared thing that travel with the batch; larger ones are broadcast, once per worker."""


class SparkEngine:
    """Tasks as Spark jobs of the session that the caller has."""

    def __init__(self, spark: Any) -> None:
        self.context = spark.sparkContext

    @property
    def slots(self) -> int:
        """How many tasks run at once: the cores of the master."""
        return max(1, int(self.context.defaultParallelism))

    def run(self, tasks: Iterable[Task], shared: Mapping[str, bytes]) -> Iterator[Result]:
        """Results as they finish; tasks are started in the order given, short ones of a group together."""
        plan = _Plan(self.context, list(tasks), shared)
        threads = [threading.Thread(target=plan.drive, daemon=True) for _ in range(self.slots)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(plan.count):
                yield plan.next()
        finally:
            plan.stop()


class _Plan:
    """What is left to do, shared by the driver threads."""

    def __init__(self, context: Any, tasks: list[Task], shared: Mapping[str, bytes]) -> None:
        self.context, self.shared = context, shared
        self.waiting = deque(tasks)
        self.count = len(tasks)
        self.done: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self.pace = Pace()
        self.lock = threading.Lock()
        self.group = f"yardline-{uuid.uuid4().hex}"
        self.broadcasts: dict[str, Any] = {}
        self.stopped = False

    def next(self) -> Result:
        """The next result."""
        return self.done.get()

    def stop(self) -> None:
        """No more batches; those that run are cancelled."""
        self.stopped = True
        with self.lock:
            self.waiting.clear()
        self.context.cancelJobGroup(self.group)

    def drive(self) -> None:
        """One driver thread: batch after batch."""
        self.context.setJobGroup(self.group, "yardline tasks", interruptOnCancel=True)
        while batch := self._batch():
            begun = time.monotonic()
            for result in self._submit(batch):
                self.pace.learn(batch[0].group, (time.monotonic() - begun) / len(batch))
                self.done.put(result)

    def _batch(self) -> list[Task]:
        """The next task, with others of its group that are as short."""
        with self.lock:
            if not self.waiting:
                return []
            batch = [self.waiting.popleft()]
            size = self.pace.batch(batch[0].group)
            while len(batch) < size and self.waiting and self.waiting[0].group == batch[0].group:
                batch.append(self.waiting.popleft())
            return batch

    def _submit(self, batch: list[Task]) -> list[Result]:
        """One Spark job; if Spark itself gives up, every task of the batch has failed for that reason."""
        carried = {task.shared: self._carry(task.shared) for task in batch if task.shared}
        try:
            results: list[Result] = self.context.parallelize([(batch, carried)], 1).flatMap(run_batch).collect()
        except Exception as error:  # a failure is a result
            words = " ".join(str(error).split())[:300]
            return [Result(key=task.key, error=f"Spark: {words}") for task in batch]
        return results

    def _carry(self, name: str) -> Any:
        """A shared thing as it travels: itself if small, else its broadcast."""
        thing = self.shared[name]
        if len(thing) <= SMALL:
            return thing
        with self.lock:
            if name not in self.broadcasts:
                self.broadcasts[name] = self.context.broadcast(thing)
            return self.broadcasts[name]


def run_batch(item: tuple[list[Task], dict[str, Any]]) -> list[Result]:
    """On a Spark worker: the tasks of a batch, one after the other."""
    batch, carried = item
    return [execute(task, _received(carried[task.shared]) if task.shared else b"") for task in batch]


def _received(thing: Any) -> bytes:
    data: bytes = thing if isinstance(thing, bytes) else thing.value
    return data
