"""Why there is no valid plan, in words that are true."""

import itertools
import re

import pytest
from assignment.brute_force import candidates, caps
from assignment.helpers import read, two_brokers
from assignment.strategies import documents
from hypothesis import HealthCheck, given, settings

from yardline.models.assignment.feasibility import remark, why_infeasible


def test_feasible_has_no_reason():
    assert why_infeasible(read(two_brokers())) is None


def test_too_far():
    # The way to broker 0 is 1, from there 1 more; subscriber 1 accepts 1.5.
    reason = why_infeasible(read(two_brokers(latency={"max_latency": [9, 1.5]})))
    assert reason == "subscriber 1 accepts a latency of 1.5, but the nearest leaf, broker 0, has 2"


def test_too_many_for_one_broker():
    # Subscribers 0 and 1 sit at broker 0, 2 and 3 at broker 1; without delay each has its own broker. Capacity 0.25 *
    # 1 * 4 = 1 for broker 0, and 3 for broker 1.
    document = two_brokers(
        brokers__at=[[1, 0], [0, 1]],
        brokers__capacity=[0.25, 0.75],
        subscribers={"at": [[2, 0], [2, 0], [0, 2], [0, 2]], "low": [[0]] * 4, "high": [[1]] * 4},
        latency={"max_delay": 0},
        load={"desired": 1, "max": 1},
    )
    # Both there: 2 / (0.25 * 4) = 2.
    expected = "subscribers 0 and 1 can only use broker 0, which may take 1 (the least feasible load factor is 2)"
    assert why_infeasible(read(document)) == expected


def test_too_many_for_two_brokers():
    # Three subscribers, all brokers alike, floor(1 * 1/2 * 3) = 1 place each.
    document = two_brokers(
        subscribers={"at": [[2, 0]] * 3, "low": [[0]] * 3, "high": [[1]] * 3}, load={"desired": 1, "max": 1}
    )
    # One leaf takes two: 2 / (1/2 * 3) = 4/3.
    expected = (
        "subscribers 0, 1 and 2 can only use brokers 0 and 1, which may take 2 together "
        "(the least feasible load factor is 1.33333)"
    )
    assert why_infeasible(read(document)) == expected


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(documents(dimensions=(1,)))
def test_reasons_are_true(document):
    """Whoever is named has no other leaves than those named, which have too few places; None: all fit in."""
    reason = why_infeasible(read(document))
    leaves = [b for b in range(len(document["brokers"]["parent"])) if b not in document["brokers"]["parent"]]
    may, room = candidates(document), caps(document, leaves)
    if reason is None:
        fits = (all(c.count(b) <= room[b] for b in leaves) for c in itertools.product(*may))
        assert any(fits)
    elif reason.startswith("subscriber ") and "accepts" in reason:
        assert may[int(reason.split()[1])] == []
    else:
        who, where, places = re.fullmatch(
            r"subscribers? (.*) can only use brokers? (.*), which may take (\d+).*", reason
        ).groups()
        named, usable = ({int(i) for i in re.findall(r"\d+", part)} for part in (who, where))
        assert all(set(may[s]) <= usable for s in named)
        assert len(named) > sum(room[b] for b in usable) == int(places)


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ({"desired": 1, "max": 1.5}, "there is no valid plan: subscribers 0 and 1 can only use broker 0"),
        ({"desired": 1, "max": 2}, "the least feasible load factor is 2"),
        ({"desired": 2, "max": 2}, None),
    ],
)
def test_who_makes_an_instance_is_told_the_least_factor(load, words):
    # Both subscribers can only use leaf 0, whose fair share is one of the two: a factor of 2.
    document = two_brokers(brokers__at=[[1, 0], [50, 0]], latency={"max_delay": 0.1}, load=load)
    said = remark(read(document))
    assert (said is None) if words is None else (words in said)
