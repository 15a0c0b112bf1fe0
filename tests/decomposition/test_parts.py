"""Bounds by parts: never above the optimum, and certificates that cannot be bent."""

from __future__ import annotations

import copy
import json
import math

import command_line
import in_process
import numpy as np
import pytest
from assignment import brute_force as assignment_force
from assignment.strategies import documents as assignments
from channelization import brute_force as channelization_force
from channelization.strategies import documents as channelizations
from hypothesis import given, settings
from hypothesis import strategies as st
from overlay import brute_force as overlay_force
from overlay.tiny import any_overlay as overlays

import yardline as yl
from yardline.decomposition import parts as loop
from yardline.decomposition.problems import overlay as overlay_loop
from yardline.models.assignment import limits
from yardline.models.assignment import splitting as regions
from yardline.models.method import Run
from yardline.models.overlay import splitting as channels
from yardline.models.problem import Problem, problem_of
from yardline.solvers import highs
from yardline.solvers.certificates.verdict import verify


def checked(problem, document, best, count):
    instance = Problem(problem).read_instance(document)
    answer = in_process.bound(instance, "parts", parts=count, rounds=4)
    assert (answer.infeasible is not None) == (best == math.inf)
    if best == math.inf:
        return
    assert answer.bound <= best * (1 + 1e-9) + 1e-12
    verdict = verify(instance, json.loads(json.dumps(answer.certificate)))
    assert verdict.holds, verdict.reason
    assert float(verdict.bound) == pytest.approx(answer.bound, rel=1e-9, abs=1e-12)


@settings(max_examples=25)
@given(channelizations(), st.integers(1, 3))
def test_channelization(document, count):
    checked("channelization", document, channelization_force.optimum(document), count)


@settings(max_examples=30)
@given(assignments(), st.integers(1, 4))
def test_assignment(document, count):
    checked("assignment", document, assignment_force.least_cost(document), count)


@settings(max_examples=25)
@given(overlays(), st.integers(1, 3))
def test_overlay(document, count):
    checked("overlay", document, overlay_force.optimum(document), count)


OVERLAY = {"users": 8, "brokers": 4, "channels": 6, "core_price": 3.0, "room": 1.5}


def test_whatever_the_shares_the_sum_is_a_bound():
    instance = yl.generate("overlay-paper", seed=1, **{**OVERLAY, "users": 5, "channels": 3, "brokers": 3})
    best = in_process.method(instance, "exact")
    value = problem_of(instance).evaluate(instance, best.solution).cost
    rng = np.random.default_rng(0)
    split, price = [{"everybody": True, "cells": cells} for cells in ([0], [1, 2])], channels.budget(instance)
    for _ in range(20):
        first = price * rng.normal(0.5, 2.0, price.shape)
        total = 0.0
        for part, share in zip(split, (first, price - first), strict=True):
            total += highs.solve(channels.program(instance, part, share)[0]).value
        assert total <= value * (1 + 1e-6)


def test_regions_keep_caps_and_candidates():
    instance = yl.generate("assignment-3", seed=4, subscribers=40, brokers=6, locations=20, levels=2, degree=3)
    for region in ({"low": [None, 0.3], "high": [0.5, None]}, {"low": [0.5, None], "high": [None, None]}):
        part, who = regions.restricted(instance, region), regions.members(instance, region)
        assert len(who) < instance.m
        expected = np.minimum(limits.caps(instance), len(who))
        assert (limits.caps(part)[instance.leaves] == expected[instance.leaves]).all()
        assert (limits.candidates(part).table() == limits.candidates(instance).table()[who]).all()


def test_rounds_raise_the_bound():
    instance = yl.generate("overlay-paper", seed=3, **OVERLAY)
    found = [
        loop.parts(instance, np.random.default_rng(0), run=Run(time_limit=limit), parts=3, rounds=rounds)
        for limit, rounds in ((10, 1), (40, 25))
    ]
    first, last = (float(answer.note.split(" to ")[1].split(",")[0]) for answer in found)
    assert last > first * 1.001


def test_one_part_is_the_tree():
    instance = yl.load("overlay-hub")
    whole = in_process.bound(instance, "tree").bound
    assert in_process.bound(instance, "parts", parts=1).bound == pytest.approx(whole, rel=1e-6)


@pytest.fixture(scope="module")
def proved():
    instance = yl.generate("overlay-paper", seed=3, **OVERLAY)
    best = in_process.method(instance, "exact")
    cost = problem_of(instance).evaluate(instance, best.solution).cost
    answer = loop.parts(instance, np.random.default_rng(0), run=Run(time_limit=15), parts=3, rounds=3)
    return instance, cost, json.loads(json.dumps(answer.certificate))


def altered(document, change):
    other = copy.deepcopy(document)
    change(other)
    return other


def held(instance, document):
    try:
        return verify(instance, document).holds
    except ValueError:  # malformed: the verdict is no
        return False


def larger_share(document):
    document["shares"][0][0][2] += 1.0


def higher_claim(document):
    document["bound"] = "1000000"


def higher_part(document):
    document["parts"][0]["bound"] = "1000000"


def channel_twice(document):
    document["split"][0]["cells"].append(document["split"][1]["cells"][0])


def share_twice(document):
    document["shares"][0].append(document["shares"][0][0])


def other_split(document):
    document["split"] = document["split"][::-1]


def without_a_part(document):
    for name in ("split", "shares", "parts"):
        document[name] = document[name][1:]


@pytest.mark.parametrize("change", [larger_share, higher_claim, higher_part, channel_twice, share_twice, other_split])
def test_altered_certificates_do_not_hold(proved, change):
    instance, _, document = proved
    assert verify(instance, document).holds
    assert not held(instance, altered(document, change))


@settings(max_examples=15)
@given(st.data())
def test_random_alterations_never_prove_more_than_the_optimum(proved, data):
    instance, cost, document = proved
    other = copy.deepcopy(document)
    part = data.draw(st.integers(0, len(other["parts"]) - 1))
    leaves = [node for node in other["parts"][part]["nodes"] if node.get("duals")]
    if data.draw(st.booleans()) and leaves:
        entry = data.draw(st.sampled_from(data.draw(st.sampled_from(leaves))["duals"]))
        entry[1] += data.draw(st.integers(-(2**42), 2**42))
    else:
        entry = data.draw(st.sampled_from(other["shares"][part]))
        entry[2] -= data.draw(st.floats(0, 10))
    verdict = verify(instance, other)
    assert not verdict.holds or float(verdict.bound) <= cost * (1 + 1e-9)


def test_fewer_parts_do_not_prove_as_much(proved):
    instance, _, document = proved
    assert not held(instance, altered(document, without_a_part))


def test_regions_that_overlap_are_refused():
    instance = yl.generate("assignment-3", seed=4, subscribers=6, brokers=3, locations=6)
    answer = in_process.bound(instance, "parts", parts=2, rounds=2)
    document = json.loads(json.dumps(answer.certificate))
    document["split"][0] = {"low": [None, None], "high": [None, None]}
    with pytest.raises(ValueError, match="overlap"):
        verify(instance, document)


def test_command_line(monkeypatch, capsys, tmp_path):
    target = tmp_path / "bound.json"
    said = command_line.here(
        *(monkeypatch, capsys, "bound", "overlay-hub", "--method", "parts", "--set", "parts=2", "--set", "rounds=3"),
        *("--certificate", target, "--json", "-q"),
    )
    assert said.code == 0
    assert said.document["certified"]
    assert "add" in said.document["valid_because"]
    assert command_line.here(monkeypatch, capsys, "verify", "overlay-hub", target).code == 0


@pytest.mark.parametrize("option", ["parts=0", "rounds=-1"])
def test_bad_options(monkeypatch, capsys, option):
    said = command_line.here(monkeypatch, capsys, "bound", "overlay-hub", "--method", "parts", "--set", option, "-q")
    assert said.code == 2
    assert command_line.is_one_line(said)


@pytest.mark.slow
def test_both_engines_agree():
    instance = yl.generate(
        "overlay-paper", seed=3, users=5, brokers=3, channels=4, core_price=3.0
    )  # branched to the end
    options = {"parts": 3, "rounds": 4}
    here = yl.bound(instance, "parts", options=options)
    spark = yl.bound(instance, "parts", options=options, engine="spark", master="local[2]")
    assert here.bound == pytest.approx(spark.bound, rel=1e-9)


def test_large_channels_fall_into_cells_and_the_sum_stays_a_bound(monkeypatch):
    monkeypatch.setattr(loop, "COLUMNS", 30)
    monkeypatch.setattr(overlay_loop, "CROWD", 2)
    for seed, topology in ((1, "mesh"), (2, "tree"), (3, "mesh")):
        instance = yl.generate("overlay-paper", seed=seed, users=6, brokers=3, channels=2, topology=topology)
        best = in_process.method(instance, "exact")
        cost = problem_of(instance).evaluate(instance, best.solution).cost
        answer = loop.parts(instance, np.random.default_rng(0), run=Run(time_limit=10), rounds=6)
        cells = [cell for part in answer.certificate["split"] for cell in part["cells"]]
        assert any(isinstance(cell, dict) for cell in cells)
        assert 0 < answer.bound <= cost * (1 + 1e-9)
        assert verify(instance, json.loads(json.dumps(answer.certificate))).holds


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([0, {"channel": 0, "publishers": [1], "subscribers": [0, 1], "rooted": True}], "twice"),
        ([{"channel": 0, "publishers": [1], "subscribers": [0, 2], "rooted": False}], "do not subscribe"),
        ([{"channel": 0, "publishers": [1], "subscribers": [0, 1], "rooted": 1}], "true or false"),
    ],
)
def test_cells_that_are_none(cells, words):
    instance = Problem("overlay").read_instance(
        {
            "generate": [[1.0], [1.0], [1.0]],
            "subscribes": [[0], [0], []],
            "access_cost": [[1.0, 2.0]] * 3,
            "core_cost": [[0.0, 1.0], [1.0, 0.0]],
            "capacity": [None, None],
            "topology": "mesh",
        }
    )
    with pytest.raises(ValueError, match=words):
        channels.parts(instance, [{"everybody": False, "cells": cells}])
