"""The judge against the hand, and against an independent reading of PROBLEMS.md."""

from __future__ import annotations

from typing import Any

import pytest
from customization.brute_force import broken_rules, cost
from customization.strategies import instances_with_plans
from customization.support import best_plan, chain, judged
from hypothesis import given, settings

from yardline.models.judgement import Violation


def test_best_plan_of_the_chain() -> None:
    # 5 + 3 for the conversions, 2 + 2 + 1 for the links: see support.chain
    judgement = judged(chain(), best_plan())
    assert judgement.valid
    assert judgement.cost == 13
    assert judgement.terms == {
        "transmission": 5,
        "conversion": 8,
        "sends": 3,
        "conversions": 2,
        "converting_nodes": 2,
    }


def test_weights() -> None:
    # links 3 * 2 + 0.5 * 2 + 2 * 1 = 9 at alpha 2; conversions 2 * 5 + 4 * 3 = 22 at beta 0.5; the root has no link
    document = chain() | {"alpha": 2, "beta": 0.5, "link_weight": [99, 3, 0.5, 2], "node_weight": [2, 4, 7, 7]}
    assert judged(document, best_plan()).cost == 2 * 9 + 0.5 * 22


def test_a_cycle_of_conversions_feeds_on_nothing() -> None:
    document = chain()
    document["conversions"].append({"from": 2, "to": 1, "cost": 0})
    plan = best_plan()
    plan["converts"][0] = [[1, 2], [2, 1]]  # each would be the other's input
    rules = [violation.rule for violation in judged(document, plan).violations]
    assert rules == ["send", "conversion-input", "conversion-input"]


def test_order_of_conversions_does_not_matter() -> None:
    document = chain() | {"requests": [[2], [], [], []]}
    for pairs in ([[0, 1], [1, 2]], [[1, 2], [0, 1]]):
        assert judged(document, {"sends": [[]] * 4, "converts": [pairs, [], [], []]}).valid


def test_nothing_requested_costs_nothing() -> None:
    judgement = judged(chain() | {"requests": [[]] * 4}, {"sends": [[]] * 4, "converts": [[]] * 4})
    assert judgement.valid
    assert judgement.cost == 0


def change(place: str, node: int, value: list[Any]) -> dict[str, Any]:
    plan = best_plan()
    plan[place][node] = value
    return plan


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (change("sends", 2, []), Violation(rule="request", where={"node": 2, "format": 1}, amount=1)),
        (change("sends", 2, [0, 1]), Violation(rule="send", where={"node": 1, "child": 2, "format": 0}, amount=1)),
        (change("sends", 0, [0]), Violation(rule="root-link", where={"node": 0, "format": 0}, amount=1)),
        (
            change("converts", 3, [[1, 2]]),
            Violation(rule="conversion-input", where={"node": 3, "from": 1, "to": 2}, amount=1),
        ),
    ],
    ids=lambda value: value.rule if isinstance(value, Violation) else "",
)
def test_each_rule_alone(plan: dict[str, Any], expected: Violation) -> None:
    assert judged(chain(), plan).violations == (expected,)


def test_a_link_into_a_subtree_without_requests() -> None:
    document = chain() | {"requests": [[], [], [1], []]}
    plan = {"sends": [[], [1], [1], [1]], "converts": [[[0, 1]], [], [], []]}
    assert judged(document, plan).violations == (Violation(rule="idle-link", where={"node": 3, "format": 1}, amount=1),)


@settings(deadline=None, max_examples=300)
@given(instances_with_plans())
def test_agrees_with_the_independent_reading(case: tuple[dict[str, Any], dict[str, Any]]) -> None:
    document, plan = case
    judgement = judged(document, plan)
    assert judgement.cost == pytest.approx(cost(document, plan), rel=1e-12)
    assert {violation.rule for violation in judgement.violations} == broken_rules(document, plan)
