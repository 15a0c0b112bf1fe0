"""What the commands return: small frozen records; value and bound together, a contradiction refused at birth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from yardline.models.instance import Solution
from yardline.models.judgement import Violation
from yardline.models.numbers import OPTIMAL, SAME, meets, relative_gap

Status = Literal["optimal", "feasible", "infeasible", "unknown", "invalid"]


class Contradiction(RuntimeError):
    """A bound exceeds the cost of a valid plan: the worst bug there can be."""


class MethodFailed(RuntimeError):
    """A method raised, crashed or was killed before it had found anything; `details` holds its traceback."""

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details


def reconciled(cost: float | None, bound: float | None, source: str) -> float | None:
    """The bound as it may stand beside a cost: within the solvers' tolerance above, it is the cost."""
    if bound is None or not math.isfinite(bound):
        return None
    if cost is None or bound <= cost:
        return bound
    if bound <= cost + OPTIMAL * max(abs(cost), SAME):
        return cost
    raise Contradiction(f"bound {bound!r} exceeds the cost {cost!r} of a valid plan ({source}): please report this bug")


def gap_of(cost: float | None, bound: float | None) -> float | None:
    """(cost - bound) / cost, or None where one of them is missing."""
    return None if cost is None or bound is None else relative_gap(cost, bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """What `solve` found and proved."""

    problem: str
    instance: str
    method: str
    seed: int
    status: Status
    cost: float | None
    bound: float | None
    gap: float | None
    seconds: float
    terms: Mapping[str, Any]
    solution: Solution | None = None
    violations: tuple[Violation, ...] = ()
    reason: str = ""  # why it is infeasible
    note: str = ""  # a limit that was hit, a proof that did not fit
    valid_because: str = ""
    certificate: Mapping[str, Any] | None = None
    interrupted: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The JSON output of `solve`."""
        names = ("problem", "instance", "method", "seed", "status", "cost", "bound", "gap", "seconds")
        document = {name: getattr(self, name) for name in names} | {"terms": dict(self.terms)}
        if self.status == "invalid":
            document["violations"] = violation_documents(self.violations)
        for name in ("reason", "note", "valid_because", "interrupted"):
            if getattr(self, name):
                document[name] = getattr(self, name)
        document["certified"] = self.certificate is not None
        return document | {"options": dict(self.options), "versions": dict(self.versions)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """What `bound` proved."""

    problem: str
    instance: str
    method: str
    seed: int
    status: Literal["bounded", "infeasible", "unknown"]
    bound: float | None
    certified: bool
    valid_because: str
    seconds: float
    reason: str = ""
    note: str = ""
    certificate: Mapping[str, Any] | None = None
    interrupted: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The JSON output of `bound`."""
        names = ("problem", "instance", "method", "seed", "bound", "certified", "valid_because", "seconds", "status")
        document = {name: getattr(self, name) for name in names}
        for name in ("reason", "note", "interrupted"):
            if getattr(self, name):
                document[name] = getattr(self, name)
        return document | {"options": dict(self.options), "versions": dict(self.versions)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What the judge says of a plan, with the gap where a bound was asked for."""

    problem: str
    instance: str
    valid: bool
    cost: float
    terms: Mapping[str, Any]
    violations: tuple[Violation, ...]
    bound: float | None = None
    gap: float | None = None
    valid_because: str = ""

    def document(self) -> dict[str, Any]:
        """The JSON output of `evaluate`."""
        names = ("problem", "instance", "valid", "cost")
        document = {name: getattr(self, name) for name in names} | {"terms": dict(self.terms)}
        document["violations"] = violation_documents(self.violations)
        if self.bound is not None:
            document |= {"bound": self.bound, "gap": self.gap, "valid_because": self.valid_because}
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What checking a certificate came to."""

    problem: str
    instance: str
    kind: str
    holds: bool
    bound: float | None
    optimal: bool
    seconds: float
    reason: str = ""

    def document(self) -> dict[str, Any]:
        """The JSON output of `verify`."""
        names = ("problem", "instance", "kind", "holds", "bound", "optimal", "seconds")
        document = {name: getattr(self, name) for name in names}
        return document | ({"reason": self.reason} if self.reason else {})


def status_of(cost: float, bound: float | None) -> Literal["optimal", "feasible"]:
    """Optimal only where the bound meets the cost."""
    return "optimal" if bound is not None and meets(bound, cost) else "feasible"


def violation_documents(violations: tuple[Violation, ...]) -> list[dict[str, Any]]:
    """Violations as JSON."""
    return [{"rule": v.rule, "where": dict(v.where), "amount": v.amount} for v in violations]
