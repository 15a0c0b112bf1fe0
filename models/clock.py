"""The clock that runs are timed by. It stands still while compiled loops are got ready, which happens once per installation:
a time limit is for the work itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_lost = 0.0  # seconds that it stood still, so far
_since: list[float] = []  # when it stopped, innermost last: compiling one loop may compile another
_listener: list[Callable[[str], None]] = []


def tell(listener: Callable[[str], None]) -> None:
    """Who watches this process from outside hears `paused` and `resumed`."""
    _listener[:] = [listener]


def now() -> float:
    """Seconds, from some point in the past, without those that do not count."""
    return (_since[0] if _since else time.monotonic()) - _lost


def pause() -> None:
    """What happens now does not count."""
    _since.append(time.monotonic())
    if len(_since) == 1:
        _tell("paused")


def resume() -> None:
    """It counts again."""
    global _lost
    stopped = _since.pop()
    if not _since:
        _lost += time.monotonic() - stopped
        _tell("resumed")


def _tell(word: str) -> None:
    for listener in _listener:
        listener(word)
