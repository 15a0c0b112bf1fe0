"""What the experiments of paper 004 charge and check."""

from __future__ import annotations

import json

import pytest

import yardline as yl
from yardline.experiments.customization import overhead, same
from yardline.experiments.running import described


def run(method: str, cost: float = 1.0, **parameters: object) -> dict[str, object]:
    drawn = {"workload": "customization-map", "seed": 2, "parameters": {"brokers": 40, **parameters}}
    common = {"instance": "i", "seed": 0, "status": "feasible", "parameters": json.dumps(drawn)}
    return {"method": method, "cost": cost, **common}


def test_planning_is_charged_where_it_is_asked_for() -> None:
    links = yl.generate("customization-map", seed=2, brokers=40, alpha=10.0).n - 1  # type: ignore[attr-defined]
    charged = overhead(planning=0.5, probe=0.01)
    assert charged is not None
    assert charged(run("iterative:select=slack", alpha=10.0)) == pytest.approx(0.5 + 10 * 0.01 * links)
    assert charged(run("all-in-root", alpha=10.0)) == 0
    assert overhead(planning=0.0, probe=0.0) is None
    assert described("ccd-fig7a", "small").overhead is None
    assert described("ccd-fig7a", "small", {"planning": "0.1"}).overhead is not None


def test_the_same_plan_means_the_same_cost() -> None:
    rows = [run("a", 2.0), run("b", 2.0)]
    assert same("a", "b")(rows).held
    assert not same("a", "b")([run("a", 2.0), run("b", 2.1)]).held
    assert not same("a", "c")(rows).held  # no case is no evidence
