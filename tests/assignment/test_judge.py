"""The judge: every rule, every term, worked by hand."""

import math

import numpy as np
import pytest
from assignment.brute_force import Space
from assignment.helpers import best_plan, read, rules, two_brokers
from assignment.strategies import documents
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from yardline.models.assignment import boxes
from yardline.models.assignment.data import AssignmentPlan
from yardline.models.assignment.judge import evaluate

A, B, WHOLE = ([0], [1]), ([3], [5]), ([0], [5])
COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


def test_a_valid_plan():
    instance = read(two_brokers())
    plan = AssignmentPlan.of(instance, leaf=[0, 1], filters=[[A], [B]])
    judgement = evaluate(instance, plan)
    assert judgement.violations == ()
    assert judgement.cost == pytest.approx(1 + 2)
    assert judgement.terms["load_factor"] == pytest.approx(1)  # one of two each, kappa 1/2
    assert judgement.terms["within_desired"] is True
    assert judgement.terms["load_deviation"] == 0
    assert judgement.terms["cost_per_level"] == pytest.approx([3])
    assert judgement.terms["max_delay"] == pytest.approx(0)


def test_loads_and_delays():
    # Leaf 0 at (1,0), leaf 1 at (0,3); both subscribers at (2,0) go to leaf 0 and leaf 1.
    # Latency by 0: 1 + 1 = 2; by 1: 3 + sqrt(13). Delay of the second: (3 + sqrt(13)) / 2 - 1; rms over two: / sqrt(2).
    instance = read(two_brokers(brokers__at=[[1, 0], [0, 3]], latency={"max_delay": 9}))
    terms = evaluate(instance, AssignmentPlan.of(instance, leaf=[0, 1], filters=[[A], [B]])).terms
    delay = (3 + math.sqrt(13)) / 2 - 1
    assert terms["max_delay"] == pytest.approx(delay)
    assert terms["rms_delay"] == pytest.approx(delay / math.sqrt(2))
    both = evaluate(instance, AssignmentPlan.of(instance, leaf=[0, 0], filters=[[WHOLE], []])).terms
    assert both["load_factor"] == pytest.approx(2)  # two where kappa m = 1
    assert both["within_desired"] is False
    assert both["load_deviation"] == pytest.approx(1)  # loads 2 and 0


def test_delay_from_nothing_is_null():
    # By last hop both are at distance 0 of leaf 0; leaf 1 at distance 2 has no finite delay and is no candidate.
    instance = read(two_brokers(brokers__at=[[2, 0], [2, 2]], latency={"max_delay": 5, "measure": "last_hop"}))
    judgement = evaluate(instance, AssignmentPlan.of(instance, leaf=[0, 1], filters=[[A], [B]]))
    assert judgement.terms["max_delay"] is None
    assert judgement.terms["rms_delay"] is None
    assert [(v.rule, v.where, v.amount) for v in judgement.violations] == [
        ("latency", {"subscriber": 1, "broker": 1}, pytest.approx(2))
    ]


def test_levels_are_summed_apart():
    instance = read(two_brokers(brokers__at=[[1, 0]] * 3, brokers__parent=[-1, 0, 0]))
    plan = AssignmentPlan.of(instance, leaf=[1, 2], filters=[[WHOLE], [A], [B]])
    assert evaluate(instance, plan).terms["cost_per_level"] == pytest.approx([5, 3])


@pytest.mark.parametrize(
    ("changes", "leaf", "filters", "expected"),
    [
        ({}, [0, 0], [[A, B], []], ["filter-complexity"]),
        ({}, [0, 1], [[A], []], ["cover"]),
        ({}, [0, 1], [[A], [([3], [4.999])]], ["cover"]),
        ({"load__max": 1}, [0, 0], [[WHOLE], []], ["load"]),
        ({"brokers__at": [[1, 0], [0, 3]]}, [0, 1], [[A], [B]], ["latency"]),
        ({"brokers__parent": [-1, 0]}, [1, 1], [[A], [WHOLE]], ["nesting"]),
        ({"brokers__parent": [-1, 0]}, [0, 1], [[WHOLE], [B]], ["leaf"]),
        ({"brokers__parent": [-1, 0]}, [1, 1], [[], [WHOLE]], ["nesting"]),
    ],
)
def test_every_rule(changes, leaf, filters, expected):
    assert rules(read(two_brokers(**changes)), leaf, filters) == expected


def test_violations_say_where_and_how_much():
    instance = read(two_brokers(load__max=1))
    plan = AssignmentPlan.of(instance, leaf=[0, 0], filters=[[A, B, WHOLE], []])
    found = {v.rule: (v.where, v.amount) for v in evaluate(instance, plan).violations}
    assert found == {"load": ({"broker": 0}, 1), "filter-complexity": ({"broker": 0}, 2)}


def test_containment_in_a_union():
    # [0, 5] lies in the union of [0, 2] and [2, 5], in neither of them.
    halves = [([0], [2]), ([2], [5])]
    change = {"subscribers": {"at": [[2, 0]], "low": [[0]], "high": [[5]]}, "brokers__filter_complexity": 2}
    assert rules(read(two_brokers(**change)), [0], [halves, []]) == ["cover"]
    assert rules(read(two_brokers(**change, containment="union")), [0], [halves, []]) == []
    gap = [([0], [2]), ([2.0000001], [5])]
    assert rules(read(two_brokers(**change, containment="union")), [0], [gap, []]) == ["cover"]


def test_forgiveness_is_that_of_the_statement():
    # 1.5 * kappa * m with kappa = 1/3, m = 2 is 1 minus one ulp in floating point: the cap is 1.
    thirds = two_brokers(brokers__at=[[1, 0]] * 3, brokers__parent=[-1] * 3, load={"desired": 1, "max": 1.5})
    assert rules(read(thirds), [0, 1], [[A], [B], []]) == []
    # the limit 2 is met by 2 * (1 + 5e-10), missed by 2 * (1 + 5e-9)
    for extra, expected in ((5e-10, []), (5e-9, ["latency", "latency"])):
        document = two_brokers(subscribers__at=[[2 + 2 * extra, 0]] * 2, latency={"max_latency": [2, 2]})
        assert rules(read(document), [0, 1], [[A], [B]]) == expected


@settings(max_examples=150, **COMMON)
@given(documents(trees=[[-1]]), st.data())
def test_measure_and_containment_agree_with_points(document, data):
    """Random boxes: the measure of their union, and which interests it contains, against sample points."""
    instance = read(document)
    count = data.draw(st.integers(0, 4))
    numbers = st.integers(-1, 6)
    ends = [[sorted((data.draw(numbers), data.draw(numbers))) for _ in range(instance.d)] for _ in range(count)]
    low, high = (np.array([[e[i] for e in box] for box in ends], float).reshape(count, instance.d) for i in (0, 1))
    interests = list(zip(document["subscribers"]["low"], document["subscribers"]["high"], strict=True))
    space = Space(document, interests + list(zip(low.tolist(), high.tolist(), strict=True)))
    union = 0
    for a, b in zip(low.tolist(), high.tolist(), strict=True):
        union |= space.points((a, b))
    contained = [space.points(box) & ~union == 0 for box in interests]
    for cells in (boxes.CELLS, 4):  # the second goes position by position
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(boxes, "CELLS", cells)
            assert boxes.union_measure(instance, low, high) == pytest.approx(space.measure(union))
            found = boxes.covered(instance.low, instance.high, low, high, containment="union")
            assert found.tolist() == contained


@pytest.mark.parametrize("d", range(1, 7))
def test_union_of_two_cubes(d):
    # [0, 2]^d and [1, 3]^d: 2 * 2^d minus the unit cube that they share.
    subscribers = {"at": [[2, 0]] * 2, "low": [[0] * d, [1] * d], "high": [[2] * d, [3] * d]}
    instance = read(
        two_brokers(brokers__at=[[1, 0]], brokers__parent=[-1], brokers__filter_complexity=2, subscribers=subscribers)
    )
    judgement = evaluate(instance, best_plan(instance))
    assert judgement.cost == pytest.approx(2 * 2**d - 1)
    assert judgement.valid
