"""What an experiment is.

A function `f(scale) -> Experiment`, registered with `@registry.experiment(problem, name, paper=...)`, describes it; `scale` is
"small" (a few minutes on a laptop) or "paper" (the sizes of the paper).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Scale = Literal["small", "paper"]
SCALES: tuple[Scale, ...] = ("small", "paper")

Row = Mapping[str, Any]
"""A row of a comparison, with the workload's parameters beside it (see running.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Instances of a named workload: fixed parameters, parameters that vary (every combination), seeds for each."""

    name: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    vary: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    instances: int = 5

    def specs(self) -> list[str]:
        """As `compare` takes them.

        >>> Workload(name="w", fixed={"a": 1}, vary={"b": [2, 3]}, instances=4).specs()
        ['w:a=1,b=2:seeds=1-4', 'w:a=1,b=3:seeds=1-4']
        """
        found = []
        for values in itertools.product(*self.vary.values()):
            parameters = {**self.fixed, **dict(zip(self.vary, values, strict=True))}
            words = ",".join(f"{name}={value}" for name, value in parameters.items())
            found.append(f"{self.name}:{words}:seeds=1-{self.instances}")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a claim held, and the numbers that say so."""

    held: bool
    numbers: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is claimed, in words, and how that is checked on the rows."""

    words: str
    check: Callable[[Sequence[Row]], Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One table or figure."""

    title: str
    workloads: Sequence[Workload] = ()
    methods: Sequence[str] = ()  # with options as `compare` takes them: name:option=value
    rows: Callable[[], Sequence[Row]] | None = None  # a table of its own, where methods are not what is compared
    x: str  # a parameter of the workload, "workload", or "method"; of a table of its own: a column, as y and series
    y: str  # a column of the rows (cost, gap, seconds), `over_best`, `over_bound`, or a term of the judge
    bounds: Sequence[str] | None = None  # None: the best in the same time
    series: str = "method"  # a line of the figure each; "by_bound": `over_bound` and the rows once for each bound
    overhead: Callable[[Row], float] | None = None  # what a run is charged on top of what the judge says of its plan
    seeds: int = 1
    time_limit: float = 60.0
    claims: Sequence[Claim] = ()

    def specs(self) -> list[str]:
        """All its instances."""
        return [spec for workload in self.workloads for spec in workload.specs()]
