"""The judge: numbers worked by hand, agreement with brute force, every rule broken once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from overlay import brute_force
from overlay.tiny import any_overlay, overlays

from yardline.models.overlay.data import Overlay, OverlayPlan
from yardline.models.overlay.judge import evaluate

HUB = {
    "generate": [[2], [0], [1], [0]],
    "subscribes": [[], [0], [0], [0]],
    "access_cost": [[1, 9, 9, 9], [9, 1, 9, 9], [9, 9, 1, 9], [9, 9, 1, None]],
    "core_cost": [[0, 4, 4, 2], [4, 0, 4, 2], [4, 4, 0, 2], [2, 2, 2, 0]],
    "capacity": [None, None, 10, None],
    "topology": "mesh",
}
AT_HOME = [0, 1, 2, 2]


def hub(**changes: Any) -> Overlay:
    return Overlay.from_document({**HUB, **changes})


def rules(instance: Overlay, **plan: Any) -> list[tuple[str, dict[str, Any], float]]:
    judgement = evaluate(instance, OverlayPlan.of(instance, **plan))
    return [(v.rule, dict(v.where), v.amount) for v in judgement.violations]


def test_traffic_by_hand() -> None:
    # out: 2, 0, 1, 0. in: user 0 subscribes to nothing; 1 and 3 get 2 + 1; 2 gets 2 (not its own 1).
    assert hub().traffic.tolist() == [2, 3, 3, 3]


def test_rate_that_only_its_publisher_wants_is_dropped() -> None:
    instance = hub(subscribes=[[0], [], [], []])
    # user 0 alone subscribes: its own 2 counts for nobody, the 1 of user 2 goes to it.
    assert instance.traffic.tolist() == [1, 0, 1, 0]


def test_mesh_without_trees_takes_minimum_spanning_trees() -> None:
    judgement = evaluate(hub(), OverlayPlan.of(hub(), broker=AT_HOME))
    # access 2 + 3 + 3 + 3 at cost 1. Brokers 0, 1, 2 joined from 0: two links of 4 (over the hub it is 4 as well), rate
    # 2; from 2: broker 2 has subscribers itself, so 1 and 2 are joined by one link of 4, rate 1.
    assert judgement.terms["access"] == 11
    assert judgement.terms["core"] == 2 * 8 + 1 * 4
    assert judgement.cost == 31
    assert judgement.terms["fullest"] == 0.6  # 6 of 10 at broker 2
    assert judgement.valid


def test_steiner_broker_is_cheaper_than_the_spanning_tree() -> None:
    star, pair = [[0, 3], [1, 3], [2, 3]], [[2, 1]]
    plan = OverlayPlan.of(hub(), broker=AT_HOME, trees=[(0, 0, star), (2, 0, pair)])
    # the hub joins 0, 1, 2 for 3 * 2 instead of 8.
    assert evaluate(hub(), plan).cost == 11 + 2 * 6 + 1 * 4


def test_tree_counts_each_link_as_given() -> None:
    instance = hub(topology="tree", core_cost=[[0, 4, 9, 2], [4, 0, 4, 2], [9, 4, 0, 2], [2, 2, 2, 0]])
    judgement = evaluate(instance, OverlayPlan.of(instance, broker=AT_HOME, links=[[0, 2], [2, 1], [3, 1]]))
    # 0-2 carries 2 from user 0 (nobody at 0 subscribes) at 9, though 0-3-2 would cost 4; 2-1 carries 2 + 1 to user 1
    # at 4; nobody is at 3.
    assert judgement.terms["core"] == 2 * 9 + 3 * 4
    assert judgement.valid


def test_not_open() -> None:
    assert rules(hub(), broker=[0, 1, 2, 3]) == [("open", {"user": 3, "broker": 3}, 1.0)]


def test_capacity() -> None:
    # 2 + 3 + 3 + 3 at broker 2, which takes 10
    assert rules(hub(), broker=[2, 2, 2, 2]) == [("capacity", {"broker": 2}, 1.0)]


def test_capacity_is_widened() -> None:
    full = hub(capacity=[None, None, 11 / (1 + 0.9e-9), None])
    assert rules(full, broker=[2, 2, 2, 2]) == []
    short = hub(capacity=[None, None, 11 / (1 + 3e-9), None])
    assert [rule for rule, _, _ in rules(short, broker=[2, 2, 2, 2])] == ["capacity"]


def test_missing_tree() -> None:
    found = rules(hub(), broker=AT_HOME, trees=[(0, 0, [[0, 1], [1, 2]])])
    assert found == [("tree-given", {"source": 2, "channel": 0}, 1.0)]


def test_tree_that_joins_nothing_need_not_be_listed() -> None:
    # everybody at broker 0: its tree has nothing to join
    assert rules(hub(access_cost=[[1] * 4] * 4), broker=[0, 0, 0, 0], trees=[]) == []


def test_tree_does_not_connect() -> None:
    trees = [(0, 0, [[0, 3], [1, 3]]), (2, 0, [[0, 3]])]
    assert rules(hub(), broker=AT_HOME, trees=trees) == [
        ("tree-connects", {"source": 0, "channel": 0, "broker": 2}, 1.0),
        ("tree-connects", {"source": 2, "channel": 0, "broker": 1}, 1.0),
    ]


def test_links_too_few_and_too_many() -> None:
    tree = hub(topology="tree")
    assert rules(tree, broker=AT_HOME, links=[[0, 1], [1, 2]]) == [
        ("links", {"expected": 3}, 1.0),
        ("spanning", {}, 1.0),
    ]
    cycle = [[0, 1], [1, 2], [0, 2], [2, 3]]
    assert rules(tree, broker=AT_HOME, links=cycle) == [("links", {"expected": 3}, 1.0)]


def test_links_with_a_cycle_do_not_span() -> None:
    assert rules(hub(topology="tree"), broker=AT_HOME, links=[[0, 1], [1, 2], [0, 2]]) == [("spanning", {}, 1.0)]


def test_broker_without_room_has_no_fullness() -> None:
    instance = hub(capacity=[0, None, None, None])
    assert evaluate(instance, OverlayPlan.of(instance, broker=AT_HOME)).terms["fullest"] is None
    assert evaluate(instance, OverlayPlan.of(instance, broker=[2, 1, 2, 2])).terms["fullest"] == 0.0


@settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))
@given(any_overlay("tree"), st.randoms(use_true_random=False))
def test_tree_cost_is_brute_force(document: dict[str, Any], random: Any) -> None:
    instance = Overlay.from_document(document)
    broker = [random.randrange(instance.B) for _ in range(instance.U)]
    links = [(random.randrange(b), b) for b in range(1, instance.B)]
    judgement = evaluate(instance, OverlayPlan.of(instance, broker=broker, links=links))
    expected = brute_force.tree_core(document, tuple(broker), tuple(links))
    assert judgement.terms["core"] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))
@given(overlays(topology="mesh"), st.randoms(use_true_random=False))
def test_validity_and_access_are_brute_force(document: dict[str, Any], random: Any) -> None:
    instance = Overlay.from_document(document)
    broker = tuple(random.randrange(instance.B) for _ in range(instance.U))
    judgement = evaluate(instance, OverlayPlan.of(instance, broker=broker))
    assert judgement.valid == (broker in brute_force.placements(document))
    if judgement.valid:
        assert judgement.terms["access"] == pytest.approx(brute_force.access(document, broker), rel=1e-9, abs=1e-9)
        best = brute_force.mesh_core(document, broker)
        # a minimum spanning tree in the closure is at most twice the Steiner tree (2 - 2/k for k brokers)
        assert best - 1e-9 <= judgement.terms["core"] <= 2 * best + 1e-9


def test_large_mesh_with_many_trees_agrees_with_one_by_one() -> None:
    rng = np.random.default_rng(3)
    points = rng.random((30, 2))
    core = np.hypot(*(points[:, None] - points).transpose(2, 0, 1)) ** 2  # no metric: the closure matters
    instance = Overlay(
        generate=rng.random((60, 4)) * (rng.random((60, 4)) < 0.3),
        subscribes=[np.flatnonzero(rng.random(4) < 0.1).tolist() for _ in range(60)],
        access_cost=rng.random((60, 30)),
        core_cost=core,
        capacity=[None] * 30,
        topology="mesh",
    )
    plan = OverlayPlan.of(instance, broker=rng.integers(30, size=60))
    assert evaluate(instance, plan).terms["core"] == pytest.approx(_core_one_by_one(instance, plan), rel=1e-9)


def _core_one_by_one(instance: Overlay, plan: OverlayPlan) -> float:
    """Textbook loops: Floyd and Warshall, then Prim per source broker and channel."""
    d, B = instance.core_cost.tolist(), instance.B
    for k in range(B):
        d = [[min(d[i][j], d[i][k] + d[k][j]) for j in range(B)] for i in range(B)]
    wants, total = instance.subscribes.toarray(), 0.0
    for b in range(B):
        for c in range(instance.T):
            rate = sum(instance.rates[u, c] for u in range(instance.U) if plan.broker[u] == b)
            left = {int(plan.broker[u]) for u in range(instance.U) if wants[u, c]} - {b}
            done = {b}
            while rate > 0 and left:
                cost, nearest = min((d[i][j], j) for i in done for j in left)
                total += rate * cost
                done.add(nearest)
                left.discard(nearest)
    return total
