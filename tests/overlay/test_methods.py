"""First methods, the workload and the shipped examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from overlay import brute_force
from overlay.solving import solved
from overlay.tiny import any_overlay

from yardline import instances
from yardline.instances.workloads.overlay import paper
from yardline.models.method import Answer
from yardline.models.overlay.assembly import assemble, encode
from yardline.models.overlay.data import Overlay, OverlayPlan
from yardline.models.overlay.judge import evaluate
from yardline.solvers.heuristics.overlay import greedy, random, spanning_tree

EXAMPLES = sorted(Path(instances.__path__[0]).glob("examples/overlay-*.json"))
METHODS: list[tuple[Any, dict[str, Any]]] = [
    (random, {}),
    (random, {"wiring": "random"}),
    (greedy, {}),
    (greedy, {"heaviest_first": True}),
    (greedy, {"wiring": "random"}),
]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_plans_are_never_below_the_optimum_and_points_never_above_the_plan(
    method: Any, options: dict[str, Any]
) -> None:
    @settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
    @given(any_overlay())
    def check(document: dict[str, Any]) -> None:
        instance = Overlay.from_document(document)
        plan = method(instance, rng(), **options)
        if isinstance(plan, Answer):
            assert plan.infeasible is not None
            assert not brute_force.placements(document)
            return
        judgement = evaluate(instance, plan)
        assert {violation.rule for violation in judgement.violations} <= {"capacity"}
        if judgement.valid:
            assert judgement.cost >= brute_force.optimum(document) * (1 - 1e-9) - 1e-9
            program = assemble(instance)
            point = encode(instance, program, plan)
            assert program.violation(point) <= 1e-9
            assert program.value(point) <= judgement.cost * (1 + 1e-9) + 1e-9

    check()


def crowd(capacity: float) -> Overlay:
    """Users of traffic 1, 2, 3 and a listener of 6; broker 0 is the cheapest for all."""
    return Overlay.from_document(
        {
            "generate": [[1], [2], [3], [0]],
            "subscribes": [[], [], [], [0]],
            "access_cost": [[1, 2], [1, 2], [1, 2], [9, 1]],
            "core_cost": [[0, 1], [1, 0]],
            "capacity": [capacity, None],
            "topology": "mesh",
        }
    )


def test_greedy_takes_the_cheapest_broker_with_room() -> None:
    # 1 + 2 fill broker 0 (3), so the user of 3 goes to broker 1; heaviest first it is the other way round.
    first = greedy(crowd(3), rng())
    assert isinstance(first, OverlayPlan)
    assert first.broker.tolist() == [0, 0, 1, 1]
    heavy = greedy(crowd(3), rng(), heaviest_first=True)
    assert isinstance(heavy, OverlayPlan)
    assert heavy.broker.tolist() == [1, 1, 0, 1]


def test_greedy_without_room_goes_over_by_the_least_and_says_so() -> None:
    full = Overlay.from_document({**crowd(3).document(), "capacity": [1, 4]})
    plan = greedy(full, rng())
    assert isinstance(plan, OverlayPlan)
    # 1 to broker 0; 2 to broker 1; 3 has no room: over by 3 at broker 0, by 1 at broker 1; then 6: by 6 or by 7
    assert plan.broker.tolist() == [0, 1, 1, 0]
    over = {(v.rule, v.where["broker"]): v.amount for v in evaluate(full, plan).violations}
    assert over == {("capacity", 0): 6.0, ("capacity", 1): 1.0}


def test_random_uses_open_brokers_only_and_all_of_them() -> None:
    instance = paper(rng(), users=200, brokers=3, channels=2)
    cost = instance.access_cost.copy()
    cost[:, 1] = np.inf
    half = Overlay.from_document(
        {**instance.document(), "access_cost": [[None if c == np.inf else c for c in r] for r in cost]}
    )
    plan = random(half, rng())
    assert isinstance(plan, OverlayPlan)
    counts = np.bincount(plan.broker, minlength=3)
    assert counts[1] == 0
    assert counts[[0, 2]].min() > 60  # 100 each in the mean, 7 standard deviation


def test_wiring_by_minimum_spanning_tree() -> None:
    instance = paper(rng(), users=20, brokers=6, channels=3, topology="tree")
    costs = instance.core_cost
    # by Prim's rule from broker 0, step by step
    done, links = {0}, set()
    while len(done) < 6:
        i, j = min(((i, j) for i in done for j in range(6) if j not in done), key=lambda link: costs[link])
        done.add(j)
        links.add((min(i, j), max(i, j)))
    assert {(i, j) for i, j in spanning_tree(instance).tolist()} == links


def test_seed_decides() -> None:
    instance = paper(rng(), users=30, brokers=5, channels=3)
    for options in ({}, {"wiring": "random"}):
        first, same, other = (random(instance, rng(seed), **options).document() for seed in (1, 1, 2))  # type: ignore[arg-type, union-attr]
        assert first == same
        assert first != other


def test_workload_is_as_the_paper_says() -> None:
    instance = paper(rng(), users=400, brokers=20, channels=16, core_price=0.5)
    assert (instance.U, instance.B, instance.T) == (400, 20, 16)
    # all brokers take the same, together twice the traffic
    assert np.ptp(instance.capacity) == 0
    assert instance.capacity.sum() == pytest.approx(2 * instance.traffic.sum())
    off = instance.core_cost[~np.eye(20, dtype=bool)]
    assert off.mean() == pytest.approx(0.5 * instance.access_cost.mean())
    # subscriptions are intervals of channels
    for row in instance.subscribes.toarray():
        assert np.abs(np.diff(np.flatnonzero(row))).max(initial=1) == 1
    # a quadratic has constant second differences where its positive part is all that matters, and is never negative
    positive = instance.generate[(instance.generate > 0).all(axis=1)]
    assert len(positive) > 20
    assert np.ptp(np.diff(positive, n=2, axis=1), axis=1).max() < 1e-2
    assert paper(rng(), users=400, brokers=20, channels=16, core_price=0.5).hash == instance.hash


def test_workload_in_the_small() -> None:
    assert paper(rng(), users=0, brokers=1, channels=1).U == 0
    with pytest.raises(ValueError, match="brokers is 0"):
        paper(rng(), brokers=0)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_need_more_than_greedy(path: Path) -> None:
    document = json.loads(path.read_text())
    assert document.pop("yardline") == 1
    assert document.pop("problem") == "overlay"
    instance = Overlay.from_document(document)
    best, point = solved(assemble(instance))
    assert point is not None
    plan = greedy(instance, rng(), heaviest_first=True)
    assert isinstance(plan, OverlayPlan)
    judgement = evaluate(instance, plan)
    assert not judgement.valid or judgement.cost > 1.01 * best


def test_both_examples_are_there() -> None:
    assert [path.stem for path in EXAMPLES] == ["overlay-hub", "overlay-tree"]
