"""Experiments: one description; runs, points and verdicts in a folder; stopped and gone on with."""

from __future__ import annotations

import csv
import json

import pytest
from command_line import here, is_one_line

import yardline as yl
from yardline.experiments.claims import cheaper, costs, mean_below, where, within
from yardline.experiments.running import by_bound, described, points, with_parameters
from yardline.models import registry
from yardline.models.problem import problem_names

pytestmark = pytest.mark.usefixtures("clean_registry")


def row(method, instance, cost, status="feasible", **more):
    return {"method": method, "instance": instance, "seed": 0, "cost": cost, "status": status, "bound": 2.0, **more}


# a costs 4 and 6, b costs 5 and 5; the third plan of a breaks a rule and counts for nobody
ROWS = [row("a", "i", 4.0), row("a", "j", 6.0), row("b", "i", 5.0), row("b", "j", 5.0)]
ROWS += [row("a", "k", 0.5, status="invalid"), row("b", "k", 5.0)]


@pytest.mark.parametrize(
    ("check", "held", "numbers"),
    [
        (within("a", "b", 1.2), True, "2 of 2 cases; a / b: mean 1, worst 1.2"),  # 4/5 and 6/5
        (within("a", "b", 1.1), False, "1 of 2 cases"),
        (within("a", "b", 1.1, share=0.5), True, "1 of 2 cases"),
        (cheaper("a", "b"), False, "1 of 2 cases"),
        (mean_below("a", "b"), False, "mean cost 5 against 5 over 2 cases"),
        (mean_below("a", "b", 1.01), True, "mean cost 5"),
        (where(cheaper("a", "b"), instance="i"), True, "1 of 1 cases"),
        (cheaper("nobody", "b"), False, "0 of 0 cases"),  # no case is no evidence
        (mean_below("nobody", "b", 9.0), False, "over 0 cases"),
    ],
)
def test_claims(check, held, numbers):
    verdict = check(ROWS)
    assert verdict.held is held
    assert numbers in verdict.numbers


def test_only_valid_plans_are_compared():
    assert costs(ROWS, "a", "b") == [(4.0, 5.0), (6.0, 5.0)]


def test_each_plan_over_each_bound():
    runs = with_parameters(ROWS)
    bounds = [
        {"instance": "i", "method": name, "bound": value}
        for name, value in (("low", 2.0), ("high", 4.0), ("none", None))
    ]
    found = by_bound(runs, bounds)
    # a costs 4 and b costs 5 on i; nobody bounds j, and the invalid plan on k counts for nobody
    assert [(r["by_bound"], r["over_bound"]) for r in found] == [
        ("a over low", 1.0), ("a over high", 0.0), ("b over low", 1.5), ("b over high", 0.25),
    ]  # fmt: skip


def test_points_and_parameters():
    drawn = json.dumps({"workload": "w", "seed": 1, "parameters": {"groups": 3}})
    rows = with_parameters([{**r, "parameters": drawn, "terms": '{"send": 7}'} for r in ROWS])
    assert (rows[0]["groups"], rows[0]["send"], rows[0]["workload"]) == (3, 7, "w")
    assert [r["over_best"] for r in rows[:3]] == pytest.approx([0, 0.2, 0.25])
    assert rows[1]["over_bound"] == pytest.approx(2.0)  # 6 against 2
    figure = yl.Experiment(title="t", workloads=[], methods=["a", "b"], x="groups", y="cost")
    assert points(figure, rows) == [
        {"x": 3, "series": "a", "count": 2, "mean": 5.0, "least": 4.0, "largest": 6.0},
        {"x": 3, "series": "b", "count": 3, "mean": 5.0, "least": 5.0, "largest": 5.0},
    ]


def test_every_experiment_can_be_described_at_both_scales():
    found = registry.entries("experiment")
    assert {entry.problem for entry in found} == set(problem_names())
    for entry in found:
        for scale in ("small", "paper"):
            experiment = described(entry.name, scale)
            assert bool(experiment.specs()) is (experiment.rows is None)
            for name in experiment.methods:
                registry.find("method", entry.problem, name.partition(":")[0])
            for workload in experiment.workloads:
                registered = registry.find_workload(workload.name)
                parameters = {**workload.fixed, **{name: values[0] for name, values in workload.vary.items()}}
                registered.settings(parameters)
                assert experiment.x in (*registered.options, "method", "workload")


def test_reproduce(tmp_path, monkeypatch, capsys):
    @yl.experiment("channelization", "tiny", paper="none")
    def tiny(scale):
        """A tiny one."""
        workload = yl.Workload(
            name="channelization-random", fixed={"flows": 6, "users": 4}, vary={"groups": [1, 2]}, instances=2
        )
        claims = [
            yl.Claim(words="exact is never beaten", check=cheaper("exact", "random")),
            yl.Claim(words="random is never beaten", check=where(cheaper("random", "exact", share=2.0), groups=1)),
        ]
        return yl.Experiment(
            title="Tiny", workloads=[workload], methods=["random", "exact"], x="groups", y="gap", claims=claims
        )

    words = ("reproduce", "tiny", "--engine", "local", "-q", "-o", tmp_path / "out")
    said = here(monkeypatch, capsys, *words, "--json")
    assert said.code == 0, said.err
    assert [(claim["held"], bool(claim["numbers"])) for claim in said.document["claims"]] == [
        (True, True),
        (False, True),
    ]
    assert said.document["runs"] == 8
    with (tmp_path / "out" / "points.csv").open() as stream:
        table = list(csv.DictReader(stream))
    assert [(line["groups"], line["method"], line["count"]) for line in table] == [
        ("1", "exact", "2"),
        ("2", "exact", "2"),
        ("1", "random", "2"),
        ("2", "random", "2"),
    ]
    assert all(float(line["mean"]) == 0 for line in table if line["method"] == "exact")
    assert json.loads((tmp_path / "out" / "claims.json").read_text())["claims"] == said.document["claims"]
    monkeypatch.setattr("yardline.decomposition.tasks.local.execute", None)  # the second time nothing is run
    again = here(monkeypatch, capsys, *words)
    assert again.code == 0
    assert "did not hold: random is never beaten" in again.out


def test_wrong_names(monkeypatch, capsys):
    said = here(monkeypatch, capsys, "reproduce", "small-overlai")
    assert (said.code, is_one_line(said), "did you mean 'small-overlay'" in said.err) == (2, True, True)
    assert here(monkeypatch, capsys, "reproduce", "small-overlay", "--scale", "large").code == 2
    listed = here(monkeypatch, capsys, "methods", "--json").document["experiments"]
    assert {"small-overlay", "small-channelization"} <= {entry["name"] for entry in listed}
