"""Per method: valid runs, mean and worst gap, wins, time, proven optimal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from yardline.models.numbers import SAME

SHIFT = 1.0
"""Seconds: the shift of the geometric mean of times, so that milliseconds do not decide."""

VALID = ("optimal", "feasible")
NO_PLAN = ("failed", "invalid", "unknown", "infeasible", "unsuitable")


def summary(runs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row per problem and method, best mean gap first."""
    rows = list(runs)
    least = _least_costs(rows)
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["status"] != "broken":
            groups.setdefault((row["problem"], row["method"]), []).append(row)
    table = [_line(problem, method, own, least) for (problem, method), own in groups.items()]
    return sorted(table, key=lambda line: (line["problem"], _or_inf(line["mean_gap"]), line["method"]))


def _least_costs(rows: list[Mapping[str, Any]]) -> dict[tuple[str, int], float]:
    """The least cost of a valid plan per instance and seed."""
    least: dict[tuple[str, int], float] = {}
    for row in rows:
        if row["status"] in VALID:
            key = (row["instance"], row["seed"])
            least[key] = min(least.get(key, math.inf), row["cost"])
    return least


def _line(
    problem: str, method: str, own: list[Mapping[str, Any]], least: Mapping[tuple[str, int], float]
) -> dict[str, Any]:
    valid = [row for row in own if row["status"] in VALID]
    gaps = [row["gap"] for row in valid if row["gap"] is not None]
    counted = [row for row in own if row["status"] != "unsuitable"]
    return {
        "problem": problem,
        "method": method,
        "runs": len(own),
        "valid": len(valid),
        **{word: sum(row["status"] == word for row in own) for word in NO_PLAN},
        "mean_gap": sum(gaps) / len(gaps) if gaps else None,
        "worst_gap": max(gaps, default=None),
        "wins": sum(_wins(row, least) for row in valid),
        "seconds": _shifted_mean([row["seconds"] for row in counted]),
        "optimal": sum(row["gap"] is not None and row["gap"] <= 1e-6 for row in valid),
    }


def _wins(row: Mapping[str, Any], least: Mapping[tuple[str, int], float]) -> bool:
    best = least[row["instance"], row["seed"]]
    return bool(row["cost"] <= best + SAME * abs(best))


def _shifted_mean(seconds: list[float]) -> float | None:
    """exp(mean(log(t + shift))) - shift."""
    if not seconds:
        return None
    return math.exp(sum(math.log(t + SHIFT) for t in seconds) / len(seconds)) - SHIFT


def _or_inf(value: float | None) -> float:
    return math.inf if value is None else value
