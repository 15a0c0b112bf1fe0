"""Loops that are compiled: `@kernel` where numba's own decorator would stand. Their compilation, which is kept beside the
source for the next time, does not count against time limits (models/clock.py).
"""

from __future__ import annotations

from numba import njit
from numba.core import event

from yardline.models import clock

kernel = njit(cache=True)


class _Compiling(event.Listener):  # type: ignore[misc]
    """The clock stands still while numba compiles."""

    def on_start(self, event: object) -> None:
        clock.pause()

    def on_end(self, event: object) -> None:
        clock.resume()


event.register("numba:compile", _Compiling())
