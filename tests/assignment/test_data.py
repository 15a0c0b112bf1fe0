"""Instances and plans: what is refused and how, what counts as the same, what comes back."""

import json
from pathlib import Path

import numpy as np
import pytest
from assignment.helpers import read, two_brokers
from assignment.strategies import documents
from hypothesis import HealthCheck, given, settings

from yardline.instances import files, tables
from yardline.models.assignment.data import Assignment, AssignmentPlan

BROKEN = sorted((Path(__file__).parent / "broken").glob("*.json"))


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_broken_files_are_refused_by_name(path):
    case = json.loads(path.read_text())
    with pytest.raises(ValueError) as error:  # noqa: PT011
        read(case["instance"])
    assert str(error.value) == case["expected"]


def test_there_are_broken_files():
    assert len(BROKEN) >= 30


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(documents())
def test_documents_come_back(document):
    instance = read(document)
    again = read(json.loads(json.dumps(instance.document())))
    assert again.hash == instance.hash


def test_defaults_are_the_same_as_written_out():
    plain = two_brokers()
    del plain["brokers"]["filter_complexity"]
    full = two_brokers(
        brokers__filter_complexity=[3, 3.0],
        brokers__capacity=[0.5, 0.5],
        latency={"max_delay": 1.0, "measure": "path"},
        containment="rectangle",
        name="another name",
        meta={"seed": 1},
    )
    assert read(plain).hash == read(full).hash


def test_capacity_of_inner_brokers_is_ignored():
    chain = {"brokers__parent": [-1, 0]}
    assert read(two_brokers(**chain, brokers__capacity=[0.3, 1])).hash == read(two_brokers(**chain)).hash


@pytest.mark.parametrize(
    "changes",
    [
        {"publisher": [0, 1]},
        {"brokers__at": [[1, 0], [1, 1]]},
        {"brokers__parent": [-1, 0]},
        {"brokers__filter_complexity": [1, 2]},
        {"brokers__capacity": [0.25, 0.75]},
        {"subscribers__at": [[2, 0], [2, 1]]},
        {"subscribers__low": [[0], [4]]},
        {"subscribers__high": [[1], [6]]},
        {"latency": {"max_delay": 2}},
        {"latency": {"max_latency": [1, 1]}},
        {"latency": {"max_delay": 1, "measure": "last_hop"}},
        {"load": {"desired": 1.5, "max": 2}},
        {"load": {"desired": 1, "max": 3}},
        {"containment": "union"},
        {"density": {"edges": [[0, 9]], "mass": [1]}},
    ],
)
def test_what_the_judge_reads_is_in_the_hash(changes):
    assert read(two_brokers(**changes)).hash != read(two_brokers()).hash


def test_density_is_in_the_hash():
    one, two, three = (
        read(two_brokers(density=density)).hash
        for density in (
            {"edges": [[0, 9]], "mass": [1]},
            {"edges": [[0, 8]], "mass": [1]},
            {"edges": [[0, 9]], "mass": [2]},
        )
    )
    assert len({one, two, three}) == 3


def test_arrays_are_taken_as_lists_are():
    document = two_brokers()
    arrays = {name: np.array(rows) for name, rows in document["subscribers"].items()}
    assert read({**document, "subscribers": arrays}).hash == read(document).hash
    columns = {name: _column_of_lists(rows) for name, rows in document["subscribers"].items()}
    assert read({**document, "subscribers": columns}).hash == read(document).hash


def test_tables_beside_the_json(tmp_path):
    instance = read(two_brokers())
    tables.write(tmp_path / "subscribers.parquet", instance.tables()["subscribers"])
    document = {**instance.skeleton(), "subscribers": {"parquet": "subscribers.parquet"}}
    files.write_document({"yardline": 1, "problem": "assignment", **document}, tmp_path / "instance.json")
    assert files.read_instance(tmp_path / "instance.json").hash == instance.hash


def _column_of_lists(rows):
    column = np.empty(len(rows), dtype=object)
    column[:] = [np.array(row, dtype=float) for row in rows]
    return column


def test_nothing_can_be_changed():
    instance = read(two_brokers())
    for array in (instance.low, instance.kappa, instance.parent, instance.alpha):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


def test_given_arrays_are_left_alone():
    low = np.zeros((2, 1))
    document = two_brokers(subscribers__low=low)
    read(document)
    low[0] = -1  # still writable: the instance has its own


def test_no_subscribers():
    instance = read(two_brokers(subscribers={"at": [], "low": [], "high": []}))
    plan = AssignmentPlan.of(instance, leaf=[], filters=[[], []])
    assert (instance.m, plan.document()) == (0, {"leaf": [], "filters": [[], []]})


@pytest.mark.parametrize(
    ("leaf", "filters", "message"),
    [
        ([0], [[], []], "leaf has 1 subscribers: expected 2"),
        ([0, 5], [[], []], r"leaf\[1\] is 5: expected an index from 0 to 1"),
        ([0, 1], [[]], "filters has 1 brokers: expected 2"),
        ([0, 1], [[([1], [0])], []], r"filters\[0\]\[0\].low\[0\] is 1.0: expected at most .* 0.0"),
        ([0, 1], [[([1, 1], [2, 2])], []], r"filters\[0\]\[0\].low has 2 coordinates: expected 1"),
        ([0, 1], [[], [{"low": [0]}]], r"filters\[1\]\[0\].high is missing"),
    ],
)
def test_malformed_plans_are_refused(leaf, filters, message):
    with pytest.raises(ValueError, match=message):
        AssignmentPlan.of(read(two_brokers()), leaf=leaf, filters=filters)


def test_plans_come_back():
    instance = read(two_brokers())
    document = {"leaf": [1, 0], "filters": [[{"low": [3], "high": [5]}], [{"low": [0], "high": [1]}]]}
    assert AssignmentPlan.from_document(document, instance).document() == document


def test_levels_and_leaves():
    instance = read(two_brokers(brokers__at=[[1, 0]] * 5, brokers__parent=[2, -1, -1, 0, 2]))
    assert instance.level.tolist() == [1, 0, 0, 2, 1]
    assert instance.leaves.tolist() == [1, 3, 4]
    assert isinstance(instance, Assignment)
