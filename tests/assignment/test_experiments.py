"""What is constructed for the experiments of paper 002, and tables that are no comparisons."""

import json

import in_process
import numpy as np
import pytest
from assignment.brute_force import least_cost

import yardline as yl
from yardline.experiments.claims import always_valid, at_most, between, falls
from yardline.experiments.description import Experiment
from yardline.experiments.running import points, reproduce
from yardline.models.assignment.judge import evaluate
from yardline.solvers.heuristics.assignment.greedy_offline import greedy_offline


@pytest.mark.parametrize("far", [100.0, 1e6])
def test_the_trap_catches_greedy_and_nobody_else(far):
    # K = 12 boxes, the last near interest ends at 17.5: greedy pays 12 + far + 1 - 17.5; sharing one box costs 12 + 1.5.
    instance = yl.generate("assignment-trap", far=far)
    assert evaluate(instance, greedy_offline(instance, np.random.default_rng(0))).cost == pytest.approx(far - 4.5)
    found = in_process.plan_of(in_process.method(instance, "local-search", rounds=3_000))
    assert evaluate(instance, found).cost == pytest.approx(13.5)


def test_the_least_cost_of_a_small_trap():
    # One broker with two boxes: [0, 1], [1.5, 2.5] share one, the far one has its own: 2.5 + 1.
    instance = yl.generate("assignment-trap", brokers=1, alpha=2, copies=1, far=50.0)
    assert least_cost(instance.document()) == pytest.approx(3.5)
    with pytest.raises(ValueError, match="far is 1"):
        yl.generate("assignment-trap", far=1.0)


def test_a_table_of_its_own(tmp_path):
    out = tmp_path / "tables" / "lemma2"  # a folder that is not there yet
    made = reproduce("slp-lemma2", out=out)
    assert made.comparison is None
    assert made.document()["runs"] == 0
    assert [verdict.held for verdict in made.verdicts] == [True]
    assert {point["x"] for point in made.points} == {1, 2, 3}
    assert (out / "points.csv").read_text().startswith("dimensions,interests,count")
    assert not (out / "runs.parquet").exists()


def test_verdicts_are_plain_numbers():
    # A limit may come out of numpy; the verdict goes into a JSON document.
    rows = [{"missed": 0.5}, {"missed": np.float64(0.25)}]
    verdicts = [at_most("missed", limit)(rows) for limit in (np.float64(0.5), np.float64(0.4))]
    assert [json.dumps(verdict.held) for verdict in verdicts] == ["true", "false"]


def test_bound_and_indicator_stand_beside_costs():
    # Two runs on one instance: its bound counts once, and only where it is certified; one method has an indicator.
    experiment = Experiment(title="cost", x="alpha", y="cost")
    row = {"instance": "i", "seed": 1, "status": "feasible", "bound": 2.0, "certified": True, "alpha": 1}
    rows = [{**row, "method": "a", "cost": 5.0}, {**row, "method": "b", "cost": 4.0, "indicator": 3.0}]
    found = {point["series"]: (point["count"], point["mean"]) for point in points(experiment, rows)}
    assert found == {"a": (1, 5.0), "b": (1, 4.0), "certified bound": (1, 2.0), "indicator (no bound)": (1, 3.0)}
    rows = [{**row, "certified": False, "method": "a", "cost": 5.0}]
    assert [point["series"] for point in points(experiment, rows)] == ["a"]


ROWS = [
    {"method": name, "instance": i, "seed": 1, "status": status, "cost": cost, "alpha": i, "load_factor": cost}
    for name, i, status, cost in [
        ("a", 1, "feasible", 5.0),
        ("a", 2, "feasible", 4.0),
        ("b", 1, "invalid", 3.0),
        ("b", 2, "feasible", 4.0),
        ("c", 1, "invalid", 6.0),
        ("c", 2, "feasible", 5.0),
    ]
]


@pytest.mark.parametrize(
    ("check", "held"),
    [
        (always_valid("a"), True),
        (always_valid("b"), False),
        (always_valid("nobody"), False),
        (falls("a", "alpha"), True),
        (falls("b", "alpha"), False),
        (falls("nobody", "alpha"), False),
        (between("a", "b", "c", "load_factor"), True),
        (between("a", "c", "b", "load_factor"), False),
        (between("nobody", "b", "c", "load_factor"), False),
    ],
)
def test_claims(check, held):
    assert check(ROWS).held is held
