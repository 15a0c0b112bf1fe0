"""How far a comparison is, told with every result and now and then between them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from yardline.decomposition.tasks.task import Engine

EVERY = 1.0
"""Seconds between two words when nothing happens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a comparison is."""

    done: int
    total: int
    running: int
    failed: int
    seconds: float
    left: float | None  # seconds still to go, if it goes on like this
    event: str


class Watch:
    """Counts results and tells a listener; also while nothing comes, so that a long run is seen to run."""

    def __init__(
        self, listener: Callable[[Progress], None] | None, total: int, left: int, engine: Engine | None = None
    ) -> None:
        self.listener, self.total, self.before, self.engine = listener, total, total - left, engine
        self.begun, self.count, self.failed, self.event = time.monotonic(), 0, 0, ""
        self.working = self.begun
        self.lock, self.over = threading.Lock(), threading.Event()

    def starting(self, what: str) -> None:
        """Something that takes a while begins before the first task."""
        self.event = f"starting {what}"
        self._tell()

    def __enter__(self) -> Watch:
        self.working, self.event = time.monotonic(), "waiting for the first"
        if self.listener is not None:
            threading.Thread(target=self._tick, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()

    def hear(self, event: str, *, failed: bool) -> None:
        """One more result."""
        self.count, self.failed, self.event = self.count + 1, self.failed + failed, event
        self._tell()

    def _tick(self) -> None:
        while not self.over.wait(EVERY):
            self._tell()

    def _tell(self) -> None:
        if self.listener is None:
            return
        seconds, done = time.monotonic() - self.begun, self.before + self.count
        working = time.monotonic() - self.working  # the start of Spark says nothing about what is to come
        left = working / self.count * (self.total - done) if self.count else None
        with self.lock:
            running = 0 if self.engine is None else min(self.engine.running, self.total - done)
            counts = {"done": done, "total": self.total, "running": running, "failed": self.failed}
            self.listener(Progress(**counts, seconds=seconds, left=left, event=self.event))
