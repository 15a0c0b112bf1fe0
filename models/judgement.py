"""What a judge says about a plan."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A broken rule: its name, where, and by how much."""

    rule: str
    where: Mapping[str, Any]
    amount: float

    def __str__(self) -> str:
        place = ", ".join(f"{key} {value}" for key, value in self.where.items())
        return f"{self.rule}" + (f" at {place}" if place else "") + f" by {self.amount:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The cost of a plan, its terms, and every rule that it breaks."""

    cost: float
    terms: Mapping[str, Any]
    violations: tuple[Violation, ...]

    def __post_init__(self) -> None:
        if not math.isfinite(self.cost):
            raise ValueError(f"the cost of the plan is {self.cost}: expected numbers small enough to be added up")

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return not self.violations
