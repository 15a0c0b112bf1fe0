"""The instance and the plan: bad input by name, defaults, hash, round trips, arrays instead of lists."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from overlay.tiny import any_overlay

from yardline.models.overlay.data import Overlay, OverlayPlan

BROKEN = sorted((Path(__file__).parent / "broken").glob("*.json"))
SMALL: dict[str, Any] = {
    "generate": [[1, 0], [0, 2]],
    "subscribes": [[1], [0]],
    "access_cost": [[1, 2, 3], [2, None, 1]],
    "core_cost": [[0, 5, 4], [5, 0, 3], [4, 3, 0]],
    "capacity": [None, 9, 9],
    "topology": "mesh",
}


def small(**changes: Any) -> Overlay:
    return Overlay.from_document({**SMALL, **changes})


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_broken_input_is_named(path: Path) -> None:
    document = json.loads(path.read_text())
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the whole message is compared)
        Overlay.from_document(document)
    assert str(error.value).split("\n")[0] == document["meta"]["message"]


def test_there_are_broken_files() -> None:
    assert len(BROKEN) >= 26


def test_hash_ignores_what_the_judge_does_not_read() -> None:
    same = [
        small(metric=True),
        small(metric=False),
        small(name="other", meta={"seed": 1}),
        small(generate=[[1.0, 0.0], [0, 2]]),
        small(capacity=[None, 9.0, 9]),
        Overlay.from_document(dict(reversed(SMALL.items()))),
    ]
    assert {instance.hash for instance in same} == {small().hash}


@pytest.mark.parametrize(
    "change",
    [
        {"generate": [[1, 0], [0, 3]]},
        {"subscribes": [[0, 1], [0]]},
        {"access_cost": [[1, 2, 3], [2, 0, 1]]},
        {"core_cost": [[0, 5, 4], [5, 0, 2], [4, 2, 0]]},
        {"capacity": [9, 9, 9]},
        {"topology": "tree"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_hash_covers_what_the_judge_reads(change: dict[str, Any]) -> None:
    assert small(**change).hash != small().hash


@settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))
@given(any_overlay())
def test_documents_round_trip(document: dict[str, Any]) -> None:
    instance = Overlay.from_document(document)
    again = Overlay.from_document(json.loads(json.dumps(instance.document())))
    assert again.hash == instance.hash
    assert again.document() == instance.document()


def test_arrays_stand_in_for_lists() -> None:
    gaps = np.array([[1, 2, 3], [2, np.nan, 1]])
    tables = {
        "generate": np.array(SMALL["generate"], dtype=float),
        "subscribes": np.array([np.array([1]), np.array([0])]),
        "access_cost": gaps,
        "core_cost": [np.array(row, dtype=float) for row in SMALL["core_cost"]],
        "capacity": np.array([np.nan, 9, 9]),
    }
    assert small(**tables).hash == small().hash
    rows = np.empty(2, dtype=object)
    rows[:] = list(gaps)
    assert small(access_cost=rows).hash == small().hash
    assert dataclasses.replace(small(), name="again").hash == small().hash


def test_arrays_are_checked_as_well() -> None:
    with pytest.raises(ValueError, match=r"access_cost\[0\]\[1\] is -2\.0: expected a number >= 0"):
        small(access_cost=np.array([[1, -2.0, 3], [2, 1, 1]]))
    with pytest.raises(ValueError, match=r"access_cost has rows of 2 numbers: expected 3"):
        small(access_cost=np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"generate is bool: expected an array of numbers|generate.*expected"):
        small(generate=np.array([[True, False], [False, True]]))


def test_given_arrays_are_not_touched_and_ours_are_read_only() -> None:
    given_cost = np.array([[1, 2, 3], [2, np.nan, 1]])
    instance = small(access_cost=given_cost)
    assert np.isnan(given_cost[1, 1])
    for array in (instance.generate, instance.access_cost, instance.core_cost, instance.capacity, instance.traffic):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_nobody_and_nothing_are_legal() -> None:
    empty = small(generate=[], subscribes=[], access_cost=[])
    assert (empty.U, empty.B, empty.T) == (0, 3, 0)
    silent = small(generate=[[], []], subscribes=[[], []])
    assert silent.traffic.tolist() == [0, 0]


def test_metric_within_rounding_is_accepted() -> None:
    near = 7 * (1 + 0.5e-9)
    assert small(core_cost=[[0, near, 4], [near, 0, 3], [4, 3, 0]], metric=True).metric
    with pytest.raises(ValueError, match="triple 0, 2, 1"):
        small(core_cost=[[0, 7 * (1 + 2e-9), 4], [7 * (1 + 2e-9), 0, 3], [4, 3, 0]], metric=True)


@pytest.mark.parametrize(
    ("topology", "plan", "message"),
    [
        ("mesh", {}, "broker is missing: it is required"),
        ("mesh", {"broker": [0]}, "broker has 1 users: expected 2"),
        ("mesh", {"broker": [0, 3]}, "broker[1] is 3: expected an index from 0 to 2"),
        ("mesh", {"broker": [0, 0], "links": []}, "links is []: expected nothing: topology is mesh, which takes trees"),
        ("tree", {"broker": [0, 0], "trees": []}, "trees is []: expected nothing: topology is tree, which takes links"),
        ("tree", {"broker": [0, 0]}, "links is missing: topology is tree, which takes the links of its spanning tree"),
        (
            "tree",
            {"broker": [0, 0], "links": [[1, 1]]},
            "links[0] is [1, 1]: expected a link between two different brokers",
        ),
        (
            "tree",
            {"broker": [0, 0], "links": [[0, 1], [1, 0]]},
            "links names link [0, 1] twice: expected each link once",
        ),
        ("tree", {"broker": [0, 0], "links": [[0, 1, 2]]}, "links[0] has 3 brokers: expected 2"),
        ("tree", {"broker": [0, 0], "links": [[0, 9]]}, "links[0] is 9: expected an index from 0 to 2"),
        (
            "mesh",
            {"broker": [0, 0], "trees": [{"source": 0, "links": []}]},
            "trees[0].channel is missing: it is required",
        ),
        (
            "mesh",
            {"broker": [0, 0], "trees": [{"source": 5, "channel": 0, "links": []}]},
            "trees[0].source is 5: expected a whole number from 0 to 2",
        ),
        (
            "mesh",
            {"broker": [0, 0], "trees": [{"source": 0, "channel": 1, "links": []}] * 2},
            "trees names source 0 and channel 1 twice: expected one tree for each pair",
        ),
        ("mesh", {"broker": [0, 0], "typo": 1}, "typo is not a known field: there is broker, links, trees"),
    ],
)
def test_broken_plans_are_named(topology: str, plan: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the whole message is compared)
        OverlayPlan.from_document(plan, small(topology=topology))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("topology", "plan"),
    [
        ("mesh", {"broker": [0, 2]}),
        ("mesh", {"broker": [0, 2], "trees": [{"source": 0, "channel": 0, "links": [[0, 1], [1, 2]]}]}),
        ("tree", {"broker": [1, 2], "links": [[0, 1], [1, 2]]}),
    ],
)
def test_plans_round_trip(topology: str, plan: dict[str, Any]) -> None:
    assert OverlayPlan.from_document(plan, small(topology=topology)).document() == plan
