"""The parent's side of the worker that can be killed."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, Literal

CHILD = Path(__file__).with_name("child.py")
START_UP = 120.0
"""Seconds that imports may take before a method starts; they do not count against its limit."""

LONGEST_WAIT = 86_400.0
"""Seconds; the system's own wait takes no more than some weeks."""

KEPT = 4
"""Shared things that a child keeps; child.py counts the same way."""

SOON = "yardline.solvers.worker.running"
"""What a child imports while it waits for its first call."""

How = Literal["done", "failed", "killed", "died", "interrupted"]
Listener = Callable[[Any], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a call ended: done, failed (an exception), killed (by us, at its limit), died (by itself), interrupted (Ctrl-C)."""

    how: How
    answer: Any = None
    error: str = ""
    kind: str = ""  # the exception's name
    traceback: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Shared:
    """Something that many calls have in common: its name, and how to get it, pickled, when it has to be sent."""

    name: str
    pickled: Callable[[], bytes]


def grace(time_limit: float) -> float:
    """How long beyond its limit a method may take to come back by itself; the promise is 10 % plus 2 s."""
    return 0.05 * time_limit + 1.0


class Worker:
    """One child process; started when first needed, and again after it was killed."""

    def __init__(self, threads: int = 1, memory: int | None = None, sharing: int = 1) -> None:
        self.threads, self.sharing = threads, sharing
        self.memory = memory or max(2**30, available_memory() // sharing)
        self._number = 0  # of the call: what an earlier one left running may still talk
        self._kept: list[str] = []  # the shared things that this child still has, oldest first
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Any = None

    def call(
        self,
        target: str,
        payload: Mapping[str, Any],
        *,
        time_limit: float,
        shared: Shared | None = None,
        listener: Listener | None = None,
    ) -> Ended:
        """Run `target(payload, send)` in the child; what it sends as "found" goes to the listener.

        `shared` is there as payload["shared"]; the child keeps the last few, so that they are sent once, not with every call.
        """
        begun = time.monotonic()
        try:
            self.start()
            self._number += 1
            call = {"number": self._number, "target": target, "payload": payload, "shared": self._carried(shared)}
            self._connection.send_bytes(pickle.dumps(call, protocol=5))
            ended = self._watch(time_limit, listener)
        except KeyboardInterrupt:
            self.kill()
            return Ended(how="interrupted", seconds=time.monotonic() - begun)
        except (EOFError, OSError):
            return Ended(how="died", error=self._obituary(), seconds=time.monotonic() - begun)
        if ended.how == "killed":
            self.kill()
        return ended

    def _watch(self, time_limit: float, listener: Listener | None) -> Ended:
        """Listen until the call is done or the clock says stop."""
        started: float | None = None
        deadline = time.monotonic() + START_UP
        paused = left_then = 0.0
        while True:
            left = max(0.0, deadline - time.monotonic())
            if not self._connection.poll(min(left, LONGEST_WAIT)):
                if left > LONGEST_WAIT:
                    continue
                seconds = time.monotonic() - (started or deadline - START_UP)
                return Ended(how="killed", error=f"it did not stop at its limit of {time_limit:g} s", seconds=seconds)
            number, kind, content = pickle.loads(self._connection.recv_bytes())
            now = time.monotonic()
            if number != self._number:
                continue
            if kind == "started":
                started, deadline = now, now + time_limit + grace(time_limit)
            elif kind == "paused":  # what happens until `resumed` does not count (models/clock.py)
                paused, left_then, deadline = now, deadline - now, now + START_UP
            elif kind == "resumed":
                started, deadline = started and started + now - paused, now + left_then
            elif kind == "found":
                if listener is not None:
                    listener(content)
            else:
                seconds = now - (started or now)
                if kind == "done":
                    return Ended(how="done", answer=content, seconds=seconds)
                words = {"error": content["message"], "kind": content["type"], "traceback": content["traceback"]}
                return Ended(how="failed", seconds=seconds, **words)

    def _carried(self, shared: Shared | None) -> tuple[str, bytes | None] | None:
        """A shared thing as it is sent: by name alone where the child has it."""
        if shared is None:
            return None
        if shared.name in self._kept:
            return (shared.name, None)
        self._kept = [*self._kept, shared.name][-KEPT:]
        return (shared.name, shared.pickled())

    def start(self) -> None:
        """Have a child running; a new one knows nothing yet."""
        if self._process is not None and self._process.poll() is None:
            return
        self.kill()
        ours, theirs = Pipe()
        number = str(self.threads)
        environment = {**os.environ, "OMP_NUM_THREADS": number, "OPENBLAS_NUM_THREADS": number}
        with theirs:
            os.set_inheritable(theirs.fileno(), True)
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(CHILD), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,  # so that whatever it starts can be ended with it
            )
        self._connection = ours
        ours.send_bytes(pickle.dumps({"path": _import_path(), "memory": self.memory, "soon": SOON}))

    def _obituary(self) -> str:
        """What is known about a child that went away by itself."""
        code = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(timeout=5)
        self.kill()
        if code is not None and code < 0:
            return f"its process was ended by {signal.Signals(-code).name} (out of memory, or a crash)"
        return f"its process ended with exit code {code}"

    def kill(self) -> None:
        """End the child and everything it started."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._connection.close()
        self._process, self._connection = None, None
        self._kept = []


def _import_path() -> list[str]:
    """Where the child finds what this process finds; an empty entry means the current folder."""
    return [str(Path(entry).resolve()) if entry == "" else entry for entry in sys.path]


def available_memory() -> int:
    """Nine tenths of what is free now, at least 1 GiB."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return max(2**30, int(line.split()[1]) * 1024 * 9 // 10)
    except OSError:  # not Linux
        return 2**34
    return 2**34


_idle: list[Worker] = []
_owner = os.getpid()
_lock = threading.Lock()


@contextlib.contextmanager
def worker(threads: int = 1, sharing: int = 1) -> Iterator[Worker]:
    """A worker of this process, kept for the next call; `sharing`: how many share the memory of this machine."""
    global _owner
    with _lock:
        if os.getpid() != _owner:  # after a fork the children belong to somebody else
            _idle.clear()
            _owner = os.getpid()
        mine = next((w for w in _idle if (w.threads, w.sharing) == (threads, sharing)), None)
        if mine is None:
            mine = Worker(threads, sharing=sharing)
        else:
            _idle.remove(mine)
    try:
        yield mine
    except BaseException:
        mine.kill()
        raise
    with _lock:
        _idle.append(mine)


def warm(threads: int = 1) -> None:
    """Start a worker for the next call now: it imports while this process does."""
    with worker(threads) as mine:
        mine.start()


@atexit.register
def _end_all() -> None:
    if os.getpid() == _owner:
        for idle in _idle:
            idle.kill()


def echo(payload: Mapping[str, Any], send: Callable[[str, object], None]) -> Any:
    """The simplest call: the word comes back."""
    return payload["word"]
