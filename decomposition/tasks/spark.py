"""Tasks on Spark. Each batch is a job of one Spark task, submitted by one of a few driver threads: results come back as they
finish, a lost worker costs a retry of its batch, and a result is taken once, however often Spark ran it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import queue
import re
import sys
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from yardline.decomposition.tasks.task import EngineStopped, Pace, Result, Task, execute, failure
from yardline.models.method import Unavailable

SMALL = 50_000
"""Bytes of a shared thing that travel with the batch; larger ones are broadcast, once per worker."""

PATIENCE = 2.0
"""Seconds after which a batch comes back with what it has; the rest goes again. Finished work that a killed driver has not
got yet is no more than this, on each core."""

AHEAD = 8
"""Batches, at most, that wait inside Spark for a free core, so that none stands idle while results travel."""

WITHOUT_US = re.compile("No module named 'yardline|PYTHON_VERSION_MISMATCH|Python in worker has different version")
ELSEWHERE = (
    "which lacks yardline or is another version of Python than this one: set PYSPARK_PYTHON to a Python that has it "
    "(docs/cluster.md) before the session is made"
)


class SparkEngine:
    """Tasks as Spark jobs of the session that the caller has."""

    def __init__(self, spark: Any) -> None:
        try:
            self.context = spark.sparkContext
            self.context.defaultParallelism  # noqa: B018 (a session that was stopped says so here)
        except Exception as error:
            words = " ".join(str(error).split())[:200]
            raise Unavailable(
                f"the Spark session cannot run tasks: give one that runs, not Spark Connect ({words})"
            ) from None
        if self.context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
            self.context.pythonExec = sys.executable  # not the `python3` of the PATH, which may lack yardline
        self._plan: _Plan | None = None

    @property
    def slots(self) -> int:
        """How many tasks run at once: the cores that the master has given so far."""
        return max(1, int(self.context.defaultParallelism))

    @property
    def running(self) -> int:
        """How many tasks run now."""
        return 0 if self._plan is None else min(self._plan.busy, self.slots)

    def run(self, tasks: Iterable[Task], shared: Mapping[str, bytes]) -> Iterator[Result]:
        """Results as they finish; tasks are started in the order given, short ones of a group together."""
        self._plan = plan = _Plan(self.context, list(tasks), shared)
        left = plan.count
        try:
            while left:
                plan.staff(self)
                result = plan.next()
                if result is not None:
                    left -= 1
                    yield result
        finally:
            plan.stop()


class _Plan:
    """What is left to do, shared by the driver threads."""

    def __init__(self, context: Any, tasks: list[Task], shared: Mapping[str, bytes]) -> None:
        self.context, self.shared = context, shared
        self.waiting = deque(tasks)
        self.count = len(tasks)
        self.users = Counter(task.shared for task in tasks)  # how many tasks still need a shared thing
        self.done: queue.SimpleQueue[Result | EngineStopped] = queue.SimpleQueue()
        self.pace = Pace()
        self.lock = threading.Lock()
        self.group = f"yardline-{uuid.uuid4().hex}"
        self.broadcasts: dict[str, Any] = {}
        self.threads: list[threading.Thread] = []
        self.counted, self.busy, self.stopped = 0.0, 0, False
        self.sharing = _sharing(context)

    def staff(self, engine: SparkEngine) -> None:
        """A driver thread per core, and some so that work waits at Spark's door; a cluster's cores may join later."""
        if time.monotonic() - self.counted < 1.0:
            return
        self.counted = time.monotonic()
        self.threads = [thread for thread in self.threads if thread.is_alive()]
        wanted = engine.slots + min(engine.slots, AHEAD)
        for _ in range(min(wanted - len(self.threads), len(self.waiting))):
            self.threads.append(threading.Thread(target=self.drive, daemon=True))
            self.threads[-1].start()

    def next(self) -> Result | None:
        """The next result, if one comes within a second."""
        try:
            result = self.done.get(timeout=1.0)
        except queue.Empty:
            return None
        if isinstance(result, EngineStopped):
            raise result
        return result

    def stop(self) -> None:
        """No more batches; those that run are cancelled."""
        self.stopped = True
        with self.lock:
            self.waiting.clear()
        with contextlib.suppress(Exception):  # Spark itself may be gone
            self.context.cancelJobGroup(self.group)
            for broadcast in self.broadcasts.values():
                broadcast.unpersist()

    def drive(self) -> None:
        """One driver thread: batch after batch."""
        try:
            self.context.setJobGroup(self.group, "yardline tasks", interruptOnCancel=True)
            while batch := self._batch():
                self._take(batch, self._submit(batch))
        except EngineStopped as error:
            self.done.put(error)
        except Exception as error:
            if not self.stopped:
                words = " ".join(str(error).split())[:300]
                self.done.put(EngineStopped(f"Spark stopped: {words}"))

    def _batch(self) -> list[Task]:
        """The next task, with others of its group that are as short."""
        with self.lock:
            if not self.waiting:
                return []
            batch = [self.waiting.popleft()]
            share = len(self.waiting) // (4 * len(self.threads))  # near the end nobody waits for another's long batch
            size = self.pace.batch(batch[0].group, share)
            while len(batch) < size and self.waiting and self.waiting[0].group == batch[0].group:
                batch.append(self.waiting.popleft())
            self.busy += 1
            return batch

    def _take(self, batch: list[Task], results: list[Result]) -> None:
        """Pass results on, and put back what the batch did not get to."""
        with self.lock:
            self.busy -= 1
            got = {result.key for result in results}
            if not self.stopped:
                self.waiting.extendleft(task for task in reversed(batch) if task.key not in got)
            for task in batch:
                if task.key in got:
                    self._release(task.shared)
        for result in results:
            self.pace.learn(batch[0].group, result.seconds)
            self.done.put(result)

    def _submit(self, batch: list[Task], again: bool = True) -> list[Result]:
        """One Spark job. Where Spark gives up on a batch its tasks go alone, once more: the one to blame costs itself."""
        begun = time.monotonic()
        try:
            return self._job(batch)
        except Exception as error:
            if self.stopped or not self._alive():
                raise
            if WITHOUT_US.search(str(error)):
                raise EngineStopped(f"Spark's workers run {self.context.pythonExec}, {ELSEWHERE}") from None
            if again:
                return [result for task in batch for result in self._submit([task], again=False)]
            return [failure(task, error, begun, lost=True) for task in batch]

    def _job(self, batch: list[Task]) -> list[Result]:
        carried = {task.shared: self._carry(task.shared) for task in batch if task.shared}
        item = (batch, carried, self.sharing)
        results: list[Result] = self.context.parallelize([item], 1).flatMap(run_batch).collect()
        return results

    def _alive(self) -> bool:
        """Whether there is still a Spark to talk to."""
        try:
            return not self.context._jsc.sc().isStopped()
        except Exception:  # the Java process is gone
            return False

    def _carry(self, name: str) -> Any:
        """A shared thing as it travels: itself if small, else its broadcast."""
        with self.lock:
            thing = self.shared[name]
            if len(thing) <= SMALL:
                return thing
            if name not in self.broadcasts:
                self.broadcasts[name] = self.context.broadcast(thing)
            return self.broadcasts[name]

    def _release(self, name: str) -> None:
        """A shared thing that nobody needs any more leaves the workers."""
        self.users[name] -= 1
        if self.users[name] == 0 and name in self.broadcasts:
            self.broadcasts.pop(name).destroy()


def _sharing(context: Any) -> int:
    """How many tasks run on one machine at once; 0: as many as it has cores."""
    if context.master.startswith("local"):
        return max(1, int(context.defaultParallelism))
    return int(context.getConf().get("spark.executor.cores", "0"))


def run_batch(item: tuple[list[Task], dict[str, Any], int]) -> list[Result]:
    """On a Spark worker: the tasks of a batch, one after the other; those that it does not get to soon are left."""
    batch, carried, sharing = item
    begun = time.monotonic()
    results: list[Result] = []
    for task in batch:
        if results and time.monotonic() - begun > PATIENCE:
            break
        data = _received(carried[task.shared]) if task.shared else b""
        results.append(execute(task, data, sharing=sharing or os.cpu_count() or 1))
    _settle()
    return results


@cache
def _settle() -> None:
    """Spark's worker looks for garbage after every job: what the first one imported is there to stay, and passed over."""
    gc.collect()
    gc.freeze()


def _received(thing: Any) -> bytes:
    data: bytes = thing if isinstance(thing, bytes) else thing.value
    return data
