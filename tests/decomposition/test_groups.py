"""Bounds by groups: never above the optimum, whatever the prices, and certificates that cannot be bent."""

from __future__ import annotations

import contextlib
import copy
import json
import math

import command_line
import in_process
import numpy as np
import pytest
from channelization import brute_force
from channelization.strategies import documents
from hypothesis import given, settings
from hypothesis import strategies as st

import yardline as yl
from yardline.decomposition.groups import Search, banded, groups
from yardline.models.channelization import group
from yardline.models.method import Run
from yardline.models.problem import Problem
from yardline.solvers.certificates.verdict import verify


@settings(max_examples=30)
@given(documents(), st.integers(1, 5))
def test_below_the_optimum(document, bands):
    instance, best = Problem("channelization").read_instance(document), brute_force.optimum(document)
    answer = in_process.bound(instance, "groups", bands=bands, rounds=4)
    assert (answer.infeasible is not None) == (best == math.inf)
    if best < math.inf:
        assert answer.bound <= best * (1 + 1e-9) + 1e-12
        verdict = verify(instance, json.loads(json.dumps(answer.certificate)))
        assert verdict.holds, verdict.reason
        assert float(verdict.bound) == pytest.approx(answer.bound, rel=1e-9, abs=1e-12)


@settings(max_examples=20)
@given(documents(), st.integers(0, 2**32 - 1))
def test_whatever_the_prices(document, seed):
    instance, best = Problem("channelization").read_instance(document), brute_force.optimum(document)
    rng, search = np.random.default_rng(seed), Search(instance, Run(), banded(group.total(instance), 3))
    price = rng.exponential(10.0, len(instance.wanted)) * instance.rates[instance.wanted]
    for how in ("relaxed", "branched"):
        found = search.look(np.minimum(price, search.most), how, 0.0)
        assert float(found.bound) <= best * (1 + 1e-9) + 1e-12
        assert verify(instance, search.certificate(found)).holds


def test_one_flow_two_users():
    # one group: 1 to send and 1 for each user, so 3; a group without everybody earns nothing
    instance = Problem("channelization").read_instance(
        {"rates": [1.0], "wants": [[0], [0]], "groups": 1, "mode": "constrained", "hybrid": False}
    )
    assert in_process.bound(instance, "groups").bound == pytest.approx(3.0)


def test_users_of_different_weight_count_in_grains():
    instance = Problem("channelization").read_instance(
        {
            "rates": [1.0, 2.0],
            "wants": [[0], [0, 1], [1]],
            "groups": 1,
            "mode": "constrained",
            "hybrid": False,
            "receive_weight": [1.0, 0.5, 0.0],
        }
    )
    grain, k = group.grains(instance)
    assert (grain * k <= [1.0, 0.5, 0.0]).all()
    assert grain * k == pytest.approx([1.0, 0.5, 0.0], abs=2 / group.GRAINS)
    # one group of both flows, rate 3, sent once and received by weights 1 + 0.5: 3 + 4.5
    assert 7.0 <= in_process.bound(instance, "groups", bands=40, rounds=10).bound <= 7.5


@pytest.fixture(scope="module")
def proved():
    instance = yl.generate("channelization-random", seed=1, flows=30, users=20, groups=4)
    answer = groups(instance, np.random.default_rng(0), run=Run(time_limit=20), rounds=12)
    return instance, answer, json.loads(json.dumps(answer.certificate))


def test_proves_more_than_the_relaxation_of_the_whole(proved):
    instance, answer, _ = proved
    plan = in_process.method(instance, "relax-round", trials=8)
    assert answer.bound > 1.15 * plan.bound
    assert answer.bound <= yl.evaluate(instance, plan.solution).cost


def test_bands_hold_every_weight():
    assert banded(5, 100) == [0, 1, 2, 3, 4, 5]
    assert banded(0, 3) == [0]
    assert banded(100, 3)[-1] == 100


def higher_price(document):
    document["prices"][0] += 1.0


def higher_claim(document):
    document["bound"] = "1000000"


def higher_part(document):
    document["parts"][3]["bound"] = "1000000"


def without_the_last_band(document):
    del document["bands"][-1], document["parts"][-1]


def without_the_third_band(document):
    del document["bands"][2], document["parts"][2]


def bands_out_of_order(document):
    document["bands"][:2] = document["bands"][:2][::-1]


@pytest.mark.parametrize(
    "change",
    [higher_price, higher_claim, higher_part, without_the_last_band, without_the_third_band, bands_out_of_order],
)
def test_altered_certificates_do_not_hold(proved, change):
    instance, _, document = proved
    assert verify(instance, document).holds
    other = copy.deepcopy(document)
    change(other)
    with contextlib.suppress(ValueError):  # malformed: the verdict is no
        assert not verify(instance, other).holds


def test_no_want_is_priced_above_its_unicast():
    instance = yl.generate("channelization-random", seed=2, flows=8, users=6, groups=2, hybrid=True)
    answer = in_process.bound(instance, "groups", rounds=2)
    document = json.loads(json.dumps(answer.certificate))
    document["prices"][0] = 1.01 * float(group.dearest(instance)[0])
    assert verify(instance, document).reason == "a want is priced at more than its unicast costs"


def test_no_time_at_all():
    instance = yl.generate("channelization-random", flows=120, users=60, groups=5)
    answer = groups(instance, np.random.default_rng(0), run=Run(time_limit=0.001))
    assert answer.bound is None
    assert "no band was bounded in time" in answer.note


@pytest.mark.parametrize("option", ["bands=0", "rounds=-1", "bands=many"])
def test_bad_options(monkeypatch, capsys, option):
    words = ("bound", "channelization-shared", "--method", "groups", "--set", option, "-q")
    said = command_line.here(monkeypatch, capsys, *words)
    assert said.code == 2
    assert command_line.is_one_line(said)


def test_command_line(monkeypatch, capsys, tmp_path):
    target = tmp_path / "bound.json"
    words = ("bound", "channelization-shared", "--method", "groups", "--certificate", target, "--json", "-q")
    said = command_line.here(monkeypatch, capsys, *words)
    assert said.code == 0
    assert said.document["certified"]
    assert said.document["bound"] <= 89  # its optimum (README)
    assert command_line.here(monkeypatch, capsys, "verify", "channelization-shared", target).code == 0


@pytest.mark.slow
def test_both_engines_agree():
    instance = yl.generate("channelization-random", seed=1, flows=10, users=6, groups=3)  # branched to the end
    options = {"bands": 3, "rounds": 2}
    here = yl.bound(instance, "groups", options=options)
    spark = yl.bound(instance, "groups", options=options, engine="spark", master="local[2]", time_limit=120)
    assert here.bound == pytest.approx(spark.bound, rel=1e-9)
