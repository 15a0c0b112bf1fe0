"""The instance and the plan: validated at birth, never mutated, hashed by what the judge reads."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from channelization.strategies import documents, instance, plan, plans
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from yardline.models.channelization.data import Channelization

BASE = {
    **{"rates": [1, 2, 3], "wants": [[0, 2], [1]], "groups": 2, "mode": "constrained", "hybrid": True},
    **{"weights": {"receive": 1, "send": 1, "unicast": 1}, "unicast_budget": 4},
    **{"receive_weight": [[1, 2, 3], [4, 5, 6]], "send_weight": [1, 2, 3]},
}


def with_(**changes):
    return {**copy.deepcopy(BASE), **changes}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rates": [1, -2, 3]}, "rates[1] is -2.0: expected a finite number >= 0"),
        ({"rates": [1, float("nan"), 3]}, "rates[1] is nan: expected a finite number >= 0"),
        ({"rates": [1, 2, float("inf")]}, "rates[2] is inf: expected a finite number >= 0"),
        ({"rates": [1, 2, 10**400]}, "expected a finite number"),
        ({"rates": [1, "2", 3]}, "rates[1] is '2': expected a number"),
        ({"rates": [1, True, 3]}, "rates[1] is True: expected a number"),
        ({"rates": [1, None, 3]}, "rates[1] is None: expected a number"),
        ({"rates": [1, [2], 3]}, "rates[1] is [2]: expected a number"),
        ({"rates": "123"}, "rates is '123': expected a list"),
        ({"rates": {"0": 1}}, "expected a list"),
        ({"rates": np.ones((3, 3))}, "rates is 'an array of shape (3, 3)': expected a list of numbers"),
        ({"wants": [[0, 3], [1]]}, "wants[0][1] is 3: expected an index from 0 to 2"),
        ({"wants": [[0, -1], [1]]}, "wants[0][1] is -1: expected an index from 0 to 2"),
        ({"wants": [[0, 10**400], [1]]}, "expected an index from 0 to 2"),
        ({"wants": [[0, 0.5], [1]]}, "wants[0][1] is 0.5: expected an index"),
        ({"wants": [[0, True], [1]]}, "wants[0][1] is True: expected an index"),
        ({"wants": [[0, 2, 0], [1]]}, "wants[0] names 0 twice"),
        ({"wants": [0, 1]}, "wants[0] is 0: expected a list"),
        ({"groups": -1}, "groups is -1: expected a whole number >= 0"),
        ({"groups": 1.5}, "groups is 1.5: expected a whole number >= 0"),
        ({"groups": True}, "groups is True: expected a whole number"),
        ({"groups": 10**400}, "expected a whole number"),
        ({"mode": "free"}, "mode is 'free': expected one of constrained, unconstrained"),
        ({"hybrid": 1}, "hybrid is 1: expected true or false"),
        ({"weights": {"receive": -1}}, "weights.receive is -1: expected a finite number >= 0"),
        ({"weights": {"recieve": 1}}, "weights.recieve is not a known field: did you mean 'receive'?"),
        ({"weights": [1, 1, 1]}, "weights is [1, 1, 1]: expected an object"),
        ({"unicast_budget": -0.5}, "unicast_budget is -0.5: expected a finite number >= 0"),
        ({"unicast_budget": "4"}, "unicast_budget is '4': expected a number"),
        ({"receive_weight": [1]}, "receive_weight has 1 users: expected 2"),
        ({"receive_weight": [[1, 2, 3], [4, 5]]}, "receive_weight[1] has 2 numbers: expected 3"),
        ({"receive_weight": [[1, 2, 3], [4, 5, -6]]}, "receive_weight[1][2] is -6.0: expected a finite number >= 0"),
        ({"receive_weight": [[1, 2, 3], 4]}, "receive_weight[1] is 4: expected a list"),
        ({"send_weight": [1, 2]}, "send_weight has 2 flows: expected 3"),
        ({"rate": [1]}, "rate is not a known field: did you mean 'rates'"),
    ],
)
def test_refused_by_field_value_and_expectation(change, message):
    with pytest.raises(ValueError, match=r".") as caught:
        instance(with_(**change))
    assert message in str(caught.value)


@pytest.mark.parametrize("field", ["rates", "wants", "groups", "mode", "hybrid"])
def test_required_fields(field):
    document = with_()
    del document[field]
    with pytest.raises(ValueError, match=f"{field} is missing"):
        instance(document)


def test_whole_floats_and_numpy_numbers_are_numbers():
    given_ = with_(rates=[np.float64(1), np.int64(2), 3], wants=[[np.int64(0), 2.0], [1]], groups=2.0)
    assert instance(given_).hash == instance(BASE).hash


@pytest.mark.parametrize(
    "same",
    [
        {"rates": [1.0, 2.0, 3.0]},
        {"rates": np.array([1, 2, 3])},
        {"wants": [[2, 0], [1]]},
        {"wants": csr_array(np.array([[1, 0, 1], [0, 1, 0]]))},
        {"groups": 2.0},
        {"weights": {}},
        {"weights": {"send": 1.0}},
        {"name": "another"},
        {"meta": {"seed": 3}},
    ],
)
def test_hash_is_the_same(same):
    assert instance(with_(**same)).hash == instance(BASE).hash


def test_negative_zero_is_zero():
    assert instance(with_(rates=[-0.0, 2, 3])).hash == instance(with_(rates=[0, 2, 3])).hash


def test_defaults_left_out_and_written_out_are_the_same():
    bare = {k: v for k, v in BASE.items() if k not in ("receive_weight", "send_weight", "weights", "unicast_budget")}
    ones = {"send_weight": [1, 1, 1], "weights": {"receive": 1, "send": 1, "unicast": 1}}
    for receive in ([1, 1], [[1, 1, 1], [1, 1, 1]]):
        assert instance({**bare, **ones, "receive_weight": receive}).hash == instance(bare).hash


@pytest.mark.parametrize(
    "change",
    [
        {"rates": [1, 2, 4]},
        {"rates": [2, 1, 3]},
        {"wants": [[0], [1]]},
        {"wants": [[0, 2], [1], []]},
        {"wants": [[1], [0, 2]]},
        {"groups": 3},
        {"mode": "unconstrained"},
        {"hybrid": False},
        {"weights": {"receive": 2}},
        {"weights": {"send": 2}},
        {"weights": {"unicast": 2}},
        {"unicast_budget": 5},
        {"unicast_budget": 0},
        {"receive_weight": [[1, 2, 3], [4, 5, 7]]},
        {"receive_weight": [1, 1]},
        {"send_weight": [1, 2, 4]},
    ],
)
def test_every_judged_field_changes_the_hash(change):
    document = with_(**change)
    if "receive_weight" in change and len(document["wants"]) != 2:
        document["receive_weight"] = [1] * len(document["wants"])
    if len(document["wants"]) == 3:
        document["receive_weight"] = [*document["receive_weight"], [1, 1, 1]]
    assert instance(document).hash != instance(BASE).hash


def test_no_budget_is_not_a_budget_of_zero():
    document = with_()
    del document["unicast_budget"]
    assert instance(document).hash != instance(with_(unicast_budget=0)).hash


@given(documents())
def test_round_trip(document):
    made = instance(document)
    assert Channelization.from_document(made.document()).hash == made.hash


@given(documents(), st.data())
def test_plan_round_trip(document, data):
    made = instance(document)
    drawn = data.draw(plans(document))
    assert plan(plan(drawn, made).document(), made).document() == plan(drawn, made).document()


def test_what_the_caller_passed_is_not_touched():
    document = with_()
    rates = np.array([1.0, 2.0, 3.0])
    made = instance({**document, "rates": rates})
    assert document == BASE
    rates[0] = 99  # and the caller's array stays the caller's
    assert rates.flags.writeable
    assert made.rates[0] == 1


def test_arrays_are_read_only():
    made = instance(BASE)
    arrays = [made.rates, made.wants.data, made.wants.indices, made.receive_weight, made.send_weight, made.receive_cost]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(AttributeError):
        made.rates = np.ones(3)


def test_pickle_keeps_the_hash():
    made = instance(BASE)
    assert pickle.loads(pickle.dumps(made)).hash == made.hash


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": [[3]]}, "groups[0][0] is 3: expected an index from 0 to 2"),
        ({"groups": [[0, 0], []]}, "groups[0] names 0 twice"),
        ({"subscriptions": [[0]]}, "subscriptions has 1 users: expected 2"),
        ({"subscriptions": [[0], [2]]}, "subscriptions[1][0] is 2: expected an index from 0 to 1"),
        ({"unicast": [[0, 0], [0, 0]]}, "unicast names a pair twice"),
        ({"unicast": [[3, 0]]}, "expected an index from 0 to 2"),
        ({"unicast": [[0, 2]]}, "expected an index from 0 to 1"),
        ({"unicast": [[0]]}, "unicast[0] has 1 entries: expected 2"),
        ({"unicasts": []}, "unicasts is not a known field: did you mean 'unicast'?"),
    ],
)
def test_malformed_plans(change, message):
    good = {"groups": [[0], [1, 2]], "subscriptions": [[0, 1], [1]], "unicast": []}
    with pytest.raises(ValueError, match=r".") as caught:
        plan({**good, **change}, instance(BASE))
    assert message in str(caught.value)
