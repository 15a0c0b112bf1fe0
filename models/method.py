"""The contract of methods and bounds: what they are called with and what they return.

A method is `f(instance, rng) -> solution`. Keyword parameters with defaults are its options. One that wants the clock, the
solver, or to tell what it has found so far takes a keyword `run: Run` as well, and may return an `Answer` instead of a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from yardline.models import clock
from yardline.models.instance import Solution


class Unsuitable(ValueError):
    """A method does not serve an instance (its mode, its size), and says so in one sentence."""


class Unavailable(RuntimeError):
    """Something that the call needs is not installed (a solver, Java); the sentence says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a method found and what it proved."""

    solution: Solution | None = None
    bound: float | None = None
    valid_because: str = ""
    certificate: Mapping[str, Any] | None = None
    infeasible: str | None = None  # the reason, in the problem's words
    note: str = ""  # what the user should know: a limit that was hit, a proof that did not fit
    numbers: Mapping[str, float] = field(default_factory=dict)  # the method's own, reported beside the judge's terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something found on the way: a plan with the value its method gives it, or a bound."""

    seconds: float
    event: str
    solution: Solution | None = None
    value: float | None = None
    bound: float | None = None
    certificate: Mapping[str, Any] | None = None
    valid_because: str = ""


def _ignore(finding: Finding) -> None:
    """Nobody listens."""


@dataclass(slots=True, kw_only=True)
class Run:
    """One run of a method: its clock, its solver, and where its findings go."""

    time_limit: float = 60.0
    seed: int = 0
    solver: str = "highs"
    threads: int = 1
    certify: bool = False  # whether a certificate is wanted, where it costs extra
    engine: str = "here"  # who runs the tasks of a loop: this process, `local` processes, or `spark`
    master: str = "local[*]"  # of Spark
    listener: Callable[[Finding], None] = _ignore
    started: float = field(default_factory=clock.now)

    def seconds(self) -> float:
        """Since the method started, less those in which its loops were compiled."""
        return clock.now() - self.started

    def left(self) -> float:
        """Seconds until the limit, never negative."""
        return max(0.0, self.time_limit - self.seconds())

    def report(
        self,
        event: str,
        *,
        solution: Solution | None = None,
        value: float | None = None,
        bound: float | None = None,
        certificate: Mapping[str, Any] | None = None,
        valid_because: str = "",
    ) -> None:
        """Tell what was found: it is kept even if the run is stopped right after."""
        self.listener(
            Finding(
                seconds=self.seconds(),
                event=event,
                solution=solution,
                value=value,
                bound=bound,
                certificate=certificate,
                valid_because=valid_because,
            )
        )
