"""The judge: hand-worked costs, every rule by name, place and amount; agreement with a second reading."""

from __future__ import annotations

import pytest
from channelization import brute_force
from channelization.strategies import documents, instance, plan, plans
from hypothesis import given, settings
from hypothesis import strategies as st

from yardline.models.channelization.judge import evaluate

TWO = {"rates": [3, 5], "wants": [[0], [0, 1]], "groups": 2, "mode": "constrained", "hybrid": False}


def judged(document, groups, subscriptions, unicast=()):
    made = instance(document)
    return evaluate(
        made, plan({"groups": groups, "subscriptions": subscriptions, "unicast": [list(p) for p in unicast]}, made)
    )


def rules(judgement):
    return [(v.rule, dict(v.where), v.amount) for v in judgement.violations]


def test_one_group_everybody_gets_everything():
    # Both users receive 3 + 5: 16. Sent once: 8. User 0 did not want flow 1: overhead 5.
    # Perfect: user 0 gets 3, user 1 gets 8, sent 8: 19. 24 / 19 - 1 = 5 / 19.
    found = judged(TWO, [[0, 1]], [[0], [0]])
    assert found.valid
    assert found.cost == 24
    assert (found.terms["receive"], found.terms["send"], found.terms["unicast"]) == (16, 8, 0)
    assert found.terms["filtering_overhead"] == 5
    assert found.terms["over_perfect"] == pytest.approx(5 / 19)


def test_a_group_each_is_perfect():
    found = judged(TWO, [[0], [1]], [[0], [0, 1]])
    assert (found.cost, found.terms["over_perfect"], found.terms["filtering_overhead"]) == (19, 0, 0)


def test_all_weights():
    # w1=2, w2=0.5, w3=3. User 0 joins group 0 = {0,1}: 2 * (10*3 + 1*5) = 70. Sent: 0.5 * (4*3 + 2*5) = 11.
    # User 1 by unicast for both: 3 * (2 + 0.5) * 8 = 60; the weights do not touch unicast.
    document = {
        **TWO,
        **{"hybrid": True, "weights": {"receive": 2, "send": 0.5, "unicast": 3}},
        **{"receive_weight": [[10, 1], [7, 7]], "send_weight": [4, 2]},
    }
    found = judged(document, [[0, 1]], [[0], []], [(0, 1), (1, 1)])
    assert (found.terms["receive"], found.terms["send"], found.terms["unicast"]) == (70, 11, 60)
    assert found.cost == 141
    assert found.terms["unicast_rate"] == 8


def test_weights_per_user():
    # User 0 pays double: 2 * 3; user 1 pays nothing; sent 3 + 5.
    found = judged({**TWO, "receive_weight": [2, 0]}, [[0], [1]], [[0], [0, 1]])
    assert found.cost == 6 + 8


def test_a_flow_received_twice_is_paid_twice():
    # User 0 gets flow 0 through both groups: 3 + 3; user 1 gets 3 + (3 + 5); sent 3 + 3 + 5.
    document = {**TWO, "mode": "unconstrained"}
    found = judged(document, [[0], [0, 1]], [[0, 1], [0, 1]])
    assert found.terms["receive"] == (3 + 3 + 5) * 2
    assert found.terms["send"] == 11
    # Beyond one copy of what they want: user 0 a second flow 0 and flow 1 (8), user 1 a second flow 0 (3).
    assert found.terms["filtering_overhead"] == 11


def test_a_group_nobody_joins_still_pays_send():
    document = {**TWO, "mode": "unconstrained"}
    served = judged(document, [[0, 1]], [[0], [0]])
    wasted = judged(document, [[0, 1], [1]], [[0], [0]])
    assert wasted.cost - served.cost == 5


def test_unwanted_flow_in_a_group_is_paid_for():
    # Nobody wants flow 1: in the group it costs 5 to send and 5 for the one subscriber.
    document = {**TWO, "wants": [[0]], "groups": 1}
    assert judged(document, [[0, 1]], [[0]]).cost - judged(document, [[0]], [[0]]).cost == 10


def test_empty_groups_do_not_count():
    assert judged({**TWO, "groups": 1}, [[], [0, 1], []], [[1], [1]]).valid


@pytest.mark.parametrize(
    ("change", "groups", "subscriptions", "unicast", "rule"),
    [
        ({"groups": 1}, [[0], [1]], [[0], [0, 1]], (), ("groups", {}, 1)),
        ({"groups": 0}, [[0], [1]], [[0], [0, 1]], (), ("groups", {}, 2)),
        ({}, [[0], [0, 1]], [[0], [1]], (), ("one-group", {"flow": 0}, 1)),
        ({}, [[0], [1]], [[0], [1]], (), ("delivery", {"user": 1, "flow": 0}, 1)),
        ({}, [[0]], [[0], [0]], (), ("delivery", {"user": 1, "flow": 1}, 1)),
        ({"rates": [0, 5]}, [[1]], [[], [0]], [], None),
        ({}, [[0], [1]], [[0], [0, 1]], [(1, 1)], ("unicast", {"flow": 1, "user": 1}, 1)),
    ],
)
def test_rules_by_name_place_and_amount(change, groups, subscriptions, unicast, rule):
    found = rules(judged({**TWO, **change}, groups, subscriptions, unicast))
    if rule is None:  # a wanted flow of rate 0 must still be delivered, to both users
        assert found == [("delivery", {"user": 0, "flow": 0}, 1), ("delivery", {"user": 1, "flow": 0}, 1)]
    else:
        assert found == [rule]


def test_budget():
    document = {**TWO, "hybrid": True, "unicast_budget": 6}
    # Flow 0 to both and flow 1 to user 1 by unicast: 3 + 3 + 5 = 11, five over (less the forgiven 1e-9s).
    ((name, where, amount),) = rules(judged(document, [], [[], []], [(0, 0), (0, 1), (1, 1)]))
    assert (name, where) == ("unicast-budget", {})
    assert amount == pytest.approx(5)
    assert judged(document, [[1]], [[], [0]], [(0, 0), (0, 1)]).valid  # 6 is not over 6


@pytest.mark.parametrize(("over", "valid"), [(0, True), (5e-9, True), (9e-9, False)])
def test_budget_is_widened_by_a_billionth(over, valid):
    # limit * (1 + 1e-9) + 1e-9 with limit 6 forgives 7e-9.
    document = {**TWO, "rates": [6 + over, 0], "wants": [[0]], "hybrid": True, "unicast_budget": 6}
    assert judged(document, [], [[]], [(0, 0)]).valid is valid


def test_budget_is_not_read_without_unicast():
    assert judged({**TWO, "unicast_budget": 0}, [[0], [1]], [[0], [0, 1]]).valid


def test_several_groups_beat_one_adler():
    # In the manner of Adler et al. (paper 001): two users share one flow of three, two groups.
    document = {"rates": [1, 4, 1], "wants": [[0, 1], [1, 2]], "groups": 2, "mode": "constrained", "hybrid": False}
    free = {**document, "mode": "unconstrained", "weights": {"send": 0}}
    bound = {**document, "weights": {"send": 0}}
    # Unconstrained: {0,1} for user 0 and {1,2} for user 1: 5 + 5. Constrained: {0,1} and {2}: 5 and 5 + 1.
    assert judged(free, [[0, 1], [1, 2]], [[0], [1]]).cost == 10
    assert judged(bound, [[0, 1], [2]], [[0], [0, 1]]).cost == 11
    assert brute_force.optimum(free) == 10
    assert brute_force.optimum(bound) == 11


@pytest.mark.parametrize(("rates", "expected"), [([0, 0], 0), ([3, 5], 0)])
def test_over_perfect_of_nothing(rates, expected):
    found = judged({**TWO, "rates": rates, "wants": []}, [], [])
    assert (found.cost, found.terms["over_perfect"]) == (0, expected)  # 0/0 counts as 0


def test_over_perfect_of_something_over_nothing_is_null():
    found = judged({**TWO, "wants": [[]]}, [[0]], [[]])  # 3 to send a flow that nobody wants
    assert (found.cost, found.terms["over_perfect"]) == (3, None)


@settings(max_examples=400)
@given(documents(), st.data())
def test_second_reading_agrees(document, data):
    drawn = data.draw(plans(document))
    made = instance(document)
    found = evaluate(made, plan(drawn, made))
    assert found.cost == pytest.approx(brute_force.cost(document, drawn), rel=1e-12, abs=1e-12)
    assert found.valid == brute_force.valid(document, drawn)
    assert found.cost == pytest.approx(sum(found.terms[t] for t in ("receive", "send", "unicast")))
