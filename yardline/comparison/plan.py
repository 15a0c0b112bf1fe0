"""Which runs and bounds a comparison consists of, and in which order they go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from yardline.comparison.fingerprint import fingerprint
from yardline.comparison.sources import Known
from yardline.models import checks, registry
from yardline.solvers.automatic import AUTO

LONG = ("exact", "portfolio", AUTO)
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
    """One run of a method, or one bound. Its name may carry options: `greedy:wiring=mst:heaviest_first=true`."""

    kind: registry.Kind  # "method" or "bound"
    instance: Known
    name: str
    seed: int
    code: str = ""  # a mark of the function if it is the user's own: a row of an older version is not the same row

    @property
    def key(self) -> str:
        """What makes a row the same row."""
        return f"{self.kind}|{self.instance.hash}|{self.name}|{self.seed}"

    @property
    def entry(self) -> registry.Entry | None:
        """The registered function; none for `auto`, which is chosen where the run is."""
        name, _ = named(self.name)
        return None if name == AUTO else registry.find(self.kind, self.instance.problem, name)

    @property
    def options(self) -> dict[str, Any]:
        """The options in its name, each of its parameter's type."""
        return {} if self.entry is None else self.entry.settings(named(self.name)[1])


def named(spec: str) -> tuple[str, dict[str, str]]:
    """A name with options.

    >>> named("greedy:wiring=mst:heaviest_first=true")
    ('greedy', {'wiring': 'mst', 'heaviest_first': 'true'})
    """
    name, *parts = spec.split(":")
    pairs = [part.partition("=") for part in parts]
    for key, equals, _ in pairs:
        if not key or not equals:
            raise ValueError(f"{spec}: {key!r} is not understood: expected name:option=value")
    return name, {key: value for key, _, value in pairs}


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
    found = [*_each("method", unique, chosen["method"], seeds), *_each("bound", unique, chosen["bound"], 1)]
    return sorted(found, key=_order)


def _each(
    kind: registry.Kind, instances: Iterable[Known], names: Mapping[str, Sequence[str]], seeds: int
) -> Iterator[Job]:
    """Every name on every instance with every seed."""
    codes = {(problem, name): _code(kind, problem, name) for problem, own in names.items() for name in own}
    for known in instances:
        for name in names[known.problem]:
            for seed in range(seeds):
                yield Job(kind=kind, instance=known, name=name, seed=seed, code=codes[known.problem, name])


def _code(kind: registry.Kind, problem: str, spec: str) -> str:
    """The mark of a user's own function."""
    name, _ = named(spec)
    entry = None if name == AUTO else registry.find(kind, problem, name)
    return "" if entry is None or entry.shipped else fingerprint(entry)


def _order(job: Job) -> tuple[Any, ...]:
    short = job.kind == "method" and named(job.name)[0] not in LONG
    return (short, job.kind, job.name, -job.instance.size, job.instance.hash, job.seed)


def overview(planned: Sequence[Job], done: Iterable[str] = ()) -> list[dict[str, Any]]:
    """What a comparison is going to do: per problem and method the instances, the runs, and those that are left."""
    finished = set(done)
    runs = Counter((job.instance.problem, job.kind, job.name) for job in planned)
    left = Counter((job.instance.problem, job.kind, job.name) for job in planned if job.key not in finished)
    hashes: dict[tuple[str, str, str], set[str]] = {}
    for job in planned:
        hashes.setdefault((job.instance.problem, job.kind, job.name), set()).add(job.instance.hash)
    return [
        {"problem": p, "kind": k, "name": n, "instances": len(hashes[p, k, n]), "runs": count, "left": left[p, k, n]}
        for (p, k, n), count in sorted(runs.items())
    ]


def _names(kind: registry.Kind, problems: Sequence[str], wanted: Iterable[str] | None) -> Mapping[str, list[str]]:
    """Per problem the names it has; a name that no problem has is an error."""
    known = {problem: [entry.name for entry in registry.entries(kind, problem)] for problem in problems}
    if wanted is None:
        return known
    chosen: dict[str, list[str]] = {problem: [] for problem in problems}
    for spec in dict.fromkeys(wanted):
        name, options = named(spec)
        having = [problem for problem, has in known.items() if name in has or name == AUTO]
        if problems and not having:
            everything = {other for has in known.values() for other in has}
            raise ValueError(f"no problem here has a {kind} called {name!r}: {checks.nearest(name, everything)}")
        if options and name == AUTO:
            raise ValueError(f"{spec}: auto has no options: name the {kind} that you mean")
        for problem in having:
            if options:
                registry.find(kind, problem, name).settings(options)  # a wrong one is an error before anything runs
            chosen[problem].append(spec)
    return chosen
