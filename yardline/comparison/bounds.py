"""One best bound per instance, shared by all its methods; a bound that a judged plan refutes counts for nobody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from yardline.results import Contradiction, gap_of, reconciled, status_of

VALID = ("optimal", "feasible")


@dataclass(frozen=True, slots=True)
class Claim:
    """A lower bound, and who claims it."""

    bound: float
    certified: bool
    method: str

    def better_than(self, other: Claim | None) -> bool:
        """Clearly higher; or as high and certified, where the other is not."""
        if other is None:
            return True
        slack = 1e-6 * abs(other.bound) + 1e-12
        return self.bound > other.bound + slack or (
            self.certified and not other.certified and self.bound >= other.bound - slack
        )


def with_bounds(runs: Mapping[str, dict[str, Any]], bounds: Mapping[str, dict[str, Any]]) -> list[str]:
    """Each run with the best bound of its instance and its gap; what was refuted, in words (the worst bug there can be)."""
    least, refuted = _least(runs.values()), []
    best: dict[str, Claim] = {}
    for instance, claim in _claims(runs.values(), bounds.values()):
        words = _refuted(claim, least.get(instance))
        if words:
            refuted.append(words)
        elif claim.better_than(best.get(instance)):
            best[instance] = claim
    for row in runs.values():
        _fill(row, best.get(row["instance"]))
    return refuted


def _least(runs: Iterable[dict[str, Any]]) -> dict[str, tuple[float, str]]:
    """The cheapest valid plan of each instance, by the judge, and whose it is."""
    least: dict[str, tuple[float, str]] = {}
    for row in runs:
        if row["status"] in VALID and (row["instance"] not in least or row["cost"] < least[row["instance"]][0]):
            least[row["instance"]] = (row["cost"], row["method"])
    return least


def _claims(runs: Iterable[dict[str, Any]], bounds: Iterable[dict[str, Any]]) -> Iterable[tuple[str, Claim]]:
    """What bounds found, and what methods proved on the way: it holds for all."""
    for row in bounds:
        if row.get("bound") is not None:
            yield row["instance"], Claim(row["bound"], bool(row["certified"]), row["method"])
    for row in runs:
        if row.get("own_bound") is not None and row["status"] in VALID:
            yield row["instance"], Claim(row["own_bound"], False, row["method"])


def _refuted(claim: Claim, least: tuple[float, str] | None) -> str:
    """Why a claim cannot hold, if so."""
    if least is None:
        return ""
    try:
        reconciled(least[0], claim.bound, f"bound of {claim.method}, plan of {least[1]}")
    except Contradiction as error:
        return str(error)
    return ""


def _fill(row: dict[str, Any], best: Claim | None) -> None:
    valid = row["status"] in VALID
    bound = None if best is None else reconciled(row["cost"] if valid else None, best.bound, best.method)
    row |= {
        "bound": bound,
        "certified": best is not None and best.certified,
        "bound_method": "" if best is None else best.method,
    }
    row["gap"] = gap_of(row["cost"], bound) if valid else None
    if valid:  # what another has proved makes a plan optimal as well
        row["status"] = status_of(row["cost"], bound)
