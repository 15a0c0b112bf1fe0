"""Instances and plans as documents: round trips, defaults, the hash, and every defect by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from customization.strategies import instances
from customization.support import best_plan, chain, read
from hypothesis import given, settings

from yardline.models.customization.data import Customization, CustomizationPlan

BROKEN = sorted((Path(__file__).parent / "broken").glob("*.json"))


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_broken_instances_are_refused_by_name(path: Path) -> None:
    """Each file: the message that is expected, then the document, after the defect that gives the file its name."""
    case = json.loads(path.read_text())
    with pytest.raises(ValueError, match=r".") as refusal:
        read(case["document"])
    assert str(refusal.value) == case["message"]


def test_there_is_a_file_for_each_defect() -> None:
    named = {"a-cycle", "two-roots", "no-root", "unknown-format-requested", "self-conversion", "conversion-twice"}
    assert named | {"negative-conversion-cost", "negative-transmission", "unknown-source"} <= {p.stem for p in BROKEN}


@settings(deadline=None, max_examples=100)
@given(instances())
def test_round_trip(document: dict[str, Any]) -> None:
    instance = read(document)
    again = read(json.loads(json.dumps(instance.document())))
    assert again.hash == instance.hash
    assert again.document() == instance.document()


def test_document_keeps_what_was_given() -> None:
    document = chain() | {"alpha": 0.5, "beta": 2.0, "link_weight": [1, 2, 3, 4], "node_weight": [2, 1, 1, 1]}
    document["conversions"].sort(key=lambda c: (c["from"], c["to"]))
    assert read(document).document() == document


def test_hash_knows_defaults_and_orders() -> None:
    plain = read(chain()).hash
    explicit = chain() | {"alpha": 1, "beta": 1.0, "link_weight": [1] * 4, "node_weight": [1.0] * 4}
    assert read(explicit).hash == plain
    assert read(chain() | {"link_weight": [7, 1, 1, 1]}).hash == plain  # the root has no link
    assert read(chain() | {"link_weight": [None, 1, 1, 1]}).hash == plain
    assert read(chain() | {"conversions": chain()["conversions"][::-1]}).hash == plain
    assert read(chain() | {"name": "other", "meta": {"seed": 1}}).hash == plain
    names = [dict(entry, name="x") for entry in chain()["formats"]]
    assert read(chain() | {"formats": names}).hash == plain


@pytest.mark.parametrize(
    "change",
    [
        {"source": 1},
        {"alpha": 2},
        {"beta": 2},
        {"parent": [None, 0, 1, 0]},
        {"requests": [[], [], [1], [1]]},
        {"link_weight": [1, 2, 1, 1]},
        {"node_weight": [2, 1, 1, 1]},
        {"formats": [*chain()["formats"][:2], {"name": "tiny", "transmission": 1.5}]},
        {"conversions": chain()["conversions"][:2]},
        {"conversions": [*chain()["conversions"][:2], {"from": 0, "to": 2, "cost": 8}]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_hash_covers_what_the_judge_reads(change: dict[str, Any]) -> None:
    assert read(chain() | change).hash != read(chain()).hash


def test_arrays_instead_of_lists() -> None:
    tables = {
        "parent": [None, np.int64(0), 1, 1],
        "requests": [np.array([], dtype=np.int64), [], np.array([1]), [2]],
        "formats": {"name": ["raw", "small", "tiny"], "transmission": np.array([10.0, 2.0, 1.0])},
        "conversions": {"from": np.array([0, 1, 0]), "to": np.array([1, 2, 2]), "cost": np.array([5, 3, 9])},
        "link_weight": np.ones(4),
    }
    assert read(chain() | tables).hash == read(chain()).hash
    assert read(chain() | {"parent": np.array([-1, 0, 1, 1])}).hash == read(chain()).hash
    assert read(chain() | {"parent": np.array([np.nan, 0, 1, 1])}).hash == read(chain()).hash


def test_arrays_are_checked_like_lists() -> None:
    for parent in (np.array([-1, 0, -1, 1]), np.array([-1, 0, -2, 1]), np.array([-1, 0, 4, 1]), np.array([0, 0, 1, 1])):
        with pytest.raises(ValueError, match=r"^parent\[[02]\] is "):
            read(chain() | {"parent": parent})


def test_an_instance_cannot_be_changed() -> None:
    instance = read(chain())
    for array in (instance.parent, instance.tau, instance.requests.indices, instance.conversions, instance.link_weight):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_the_caller_keeps_what_was_passed() -> None:
    document = chain() | {"link_weight": [5, 1, 1, 1]}
    before = json.dumps(document)
    read(document)
    assert json.dumps(document) == before


def test_parents_may_come_after_their_children() -> None:
    instance = read(chain() | {"parent": [None, 3, 3, 0], "requests": [[], [1], [2], []]})
    assert [level.tolist() for level in instance.top_down] == [[0], [3], [1, 2]]


def test_a_chain_of_many_nodes_is_no_recursion() -> None:
    n = 20_000
    document = chain() | {"parent": [None, *range(n - 1)], "requests": [[]] * (n - 1) + [[1]]}
    assert bool(read(document).awaiting.all())


def test_plan_round_trip() -> None:
    instance = read(chain())
    plan = CustomizationPlan.from_document(best_plan(), instance)
    assert plan.document() == best_plan()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sends": [[], [1], [1]]}, "sends has 3 nodes: expected 4"),
        ({"sends": [[], [3], [1], [2]]}, "sends[1][0] is 3: expected an index from 0 to 2"),
        ({"sends": [[], [1, 1], [1], [2]]}, "sends[1] names 1 twice: expected each index once"),
        ({"converts": [[]]}, "converts has 1 nodes: expected 4"),
        (
            {"converts": [[[2, 1]], [], [], []]},
            "converts[0][0] is [2, 1]: expected a conversion [from, to] of the instance",
        ),
        ({"converts": [[[0]], [], [], []]}, "converts[0][0] has 1 formats: expected 2"),
        (
            {"converts": [[[0, 1], [0, 1]], [], [], []]},
            "converts[0] names [0, 1] twice: expected each conversion once",
        ),
        ({"send": []}, "send is not a known field: did you mean 'sends'?"),
    ],
)
def test_broken_plans_are_refused_by_name(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r".") as refusal:
        CustomizationPlan.from_document(best_plan() | change, read(chain()))
    assert str(refusal.value) == message


def test_formats_have_names_of_their_own() -> None:
    instance = Customization(
        parent=np.array([-1]),
        requests=[[0]],
        tau=np.ones(2),
        conversions=np.zeros((0, 2), dtype=np.int64),
        conversion_cost=np.zeros(0),
        source=0,
    )
    assert [entry["name"] for entry in instance.document()["formats"]] == ["f0", "f1"]
