"""Which runs and bounds a comparison consists of, and in which order they go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from yardline.comparison.sources import Known
from yardline.models import checks, registry
from yardline.solvers.automatic import AUTO

LONG = ("exact", "portfolio")
"""Methods that use all the time they get: they go first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a row depends on beside instance, method and seed."""

    time_limit: float = 60.0
    solver: str = "highs"

    def document(self) -> dict[str, Any]:
        """As stored beside the rows: a comparison goes on only with the same settings."""
        return {"time_limit": self.time_limit, "solver": self.solver}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run of a method, or one bound."""

    kind: registry.Kind  # "method" or "bound"
    instance: Known
    name: str
    seed: int

    @property
    def key(self) -> str:
        """What makes a row the same row."""
        return f"{self.kind}|{self.instance.hash}|{self.name}|{self.seed}"


def jobs(
    instances: Sequence[Known], methods: Iterable[str] | None, bounds: Iterable[str] | None, seeds: int
) -> list[Job]:
    """All runs and bounds: long ones first, those of one method together."""
    problems = sorted({known.problem for known in instances})
    chosen = {
        "method": _names("method", problems, methods),
        "bound": _names("bound", problems, bounds) if bounds is not None else {p: [AUTO] for p in problems},
    }
    checks.integer(seeds, "seeds", low=1)
    unique = {known.hash: known for known in instances}.values()
    found = [
        Job(kind="method", instance=known, name=name, seed=seed)
        for known in unique
        for name in chosen["method"][known.problem]
        for seed in range(seeds)
    ]
    found += [
        Job(kind="bound", instance=known, name=name, seed=0)
        for known in unique
        for name in chosen["bound"][known.problem]
    ]
    return sorted(found, key=_order)


def _order(job: Job) -> tuple[Any, ...]:
    short = job.kind == "method" and job.name not in LONG
    return (short, job.kind, job.name, -job.instance.size, job.instance.hash, job.seed)


def _names(kind: registry.Kind, problems: Sequence[str], wanted: Iterable[str] | None) -> Mapping[str, list[str]]:
    """Per problem the names it has; a name that no problem has is an error."""
    known = {problem: [entry.name for entry in registry.entries(kind, problem)] for problem in problems}
    if wanted is None:
        return known
    names = list(dict.fromkeys(wanted))
    for name in names:
        if name != AUTO and problems and not any(name in has for has in known.values()):
            everything = {other for has in known.values() for other in has}
            raise ValueError(f"no problem here has a {kind} called {name!r}: {checks.nearest(name, everything)}")
    return {problem: [name for name in names if name in has or name == AUTO] for problem, has in known.items()}
