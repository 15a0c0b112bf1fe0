"""Heuristics: valid, never below the optimum, reproducible; flow-merge against a plain table."""

from __future__ import annotations

import time

import in_process
import numpy as np
import pytest
from channelization import brute_force
from channelization.strategies import documents, instance, near_a_budget
from hypothesis import given, settings
from hypothesis import strategies as st

import yardline as yl
from yardline.models import registry
from yardline.models.channelization.judge import evaluate
from yardline.models.method import Unsuitable
from yardline.solvers.heuristics.channelization.flow_merge import merged
from yardline.solvers.heuristics.channelization.subscription import best_plan

HEURISTICS = [e.name for e in registry.entries("method", "channelization") if e.shipped and e.name != "exact"]


def cost_of(made, name, seed=0):
    judged = evaluate(made, in_process.plan_of(in_process.method(made, name, seed=seed)))
    assert judged.valid, (name, judged.violations)
    return judged.cost


def test_the_first_methods_are_there():
    assert {"random", "flow-merge"} <= set(HEURISTICS)


@pytest.mark.parametrize("name", HEURISTICS)
@settings(max_examples=60)
@given(document=documents(feasible=True), seed=st.integers(0, 99))
def test_valid_and_never_below_the_optimum(name, document, seed):
    made = instance(document)
    try:
        cost = cost_of(made, name, seed)
    except Unsuitable:
        assert "receive_weight" in document
        return
    assert cost >= brute_force.optimum(document) - 1e-9


@pytest.mark.parametrize("name", HEURISTICS)
@settings(max_examples=60)
@given(document=near_a_budget(), seed=st.integers(0, 99))
def test_valid_near_a_budget(name, document, seed):
    made = instance(document)
    try:
        cost = cost_of(made, name, seed)
    except Unsuitable:
        return
    assert cost >= brute_force.optimum(document) * (1 - 1e-9) - 1e-9


@pytest.mark.parametrize("name", HEURISTICS)
def test_seeds_reproduce(name):
    made = yl.generate("channelization-random", seed=4, flows=30, users=12, groups=4)
    first, again = (in_process.plan_of(in_process.method(made, name, seed=7)).document() for _ in range(2))
    assert first == again


def test_random_differs_between_seeds():
    made = yl.generate("channelization-random", seed=4, flows=30, users=12, groups=4)
    plans = [in_process.plan_of(in_process.method(made, "random", seed=s)).document() for s in (1, 2)]
    assert plans[0] != plans[1]


def plain_merge(document) -> list[set[int]]:
    """FBM as the paper states it: all pairs in a table, the cheapest merged (first by position), until K are left."""
    rate, users = document["rates"], range(len(document["wants"]))
    weight = [brute_force.receive_weight(document, j, 0) for j in users]
    groups = [({i}, {j for j in users if i in document["wants"][j]}) for i in range(len(rate))]
    groups = [group for group in groups if group[1]]

    def increase(first, second):
        (f, a), (g, b) = first, second
        more = sum(rate[i] for i in f) * sum(weight[j] for j in b - a)
        return more + sum(rate[i] for i in g) * sum(weight[j] for j in a - b)

    while len(groups) > max(1, document["groups"]):
        pairs = [(increase(groups[a], groups[b]), a, b) for a in range(len(groups)) for b in range(a + 1, len(groups))]
        _, a, b = min(pairs)
        groups[a] = (groups[a][0] | groups[b][0], groups[a][1] | groups[b][1])
        del groups[b]
    return [flows for flows, _ in groups]


@settings(max_examples=150)
@given(
    st.integers(1, 14).flatmap(
        lambda n: st.fixed_dictionaries(
            {
                "rates": st.lists(st.integers(0, 9), min_size=n, max_size=n),
                "wants": st.lists(st.sets(st.integers(0, n - 1)).map(sorted), min_size=1, max_size=11),
                "groups": st.integers(1, 6),
                "mode": st.just("constrained"),
                "hybrid": st.just(False),
            }
        )
    ),
    st.lists(st.integers(0, 3), min_size=11, max_size=11),
)
def test_flow_merge_equals_the_plain_table(document, weights):
    document["receive_weight"] = weights[: len(document["wants"])]
    made = instance(document)
    if not len(made.wanted):
        return
    group_of = merged(made)
    found = [set(made.wanted[group_of == g].tolist()) for g in range(group_of.max() + 1)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, plain_merge(document)))


def test_flow_merge_by_hand():
    # Flows 0 and 1 have the same audience: merging them costs nothing, any other merge something.
    made = instance({"rates": [1, 1, 1], "wants": [[0, 1], [2]], "groups": 2, "mode": "constrained", "hybrid": False})
    assert merged(made).tolist() == [0, 0, 1]


def test_flow_merge_needs_weights_per_user():
    document = {"rates": [1, 2], "wants": [[0], [1]], "groups": 1, "mode": "constrained", "hybrid": False}
    with pytest.raises(Unsuitable, match="receive_weight per user"):
        in_process.method(instance({**document, "receive_weight": [[1, 2], [2, 1]]}), "flow-merge")
    assert cost_of(instance({**document, "receive_weight": [[2, 2], [1, 1]]}), "flow-merge") > 0


def test_unsuitable_comes_through_the_front_door():
    document = {"rates": [1, 2], "wants": [[0], [1]], "groups": 1, "mode": "constrained", "hybrid": False}
    made = instance({**document, "receive_weight": [[1, 2], [2, 1]]})
    with pytest.raises(yl.Unsuitable, match="flow-merge needs"):
        yl.solve(made, "flow-merge")
    assert yl.solve(made, "portfolio").status == "feasible"  # which leaves it out


@settings(max_examples=80)
@given(documents(modes=("constrained",), feasible=True), st.data())
def test_subscription_is_the_best_for_its_groups(document, data):
    """With the groups given, the subscriptions are as good as enumeration's (within the gap that budgets are solved to)."""
    made = instance(document)
    chosen = data.draw(st.lists(st.integers(-1, document["groups"] - 1), min_size=made.n, max_size=made.n))
    if not document["hybrid"]:
        chosen = [max(0, g) for g in chosen]
    found = evaluate(made, best_plan(made, np.array(chosen, dtype=np.int64)))
    groups = [{i for i, g in enumerate(chosen) if g == k} for k in range(document["groups"])]
    best = brute_force._best_subscription(document, groups)
    if best < float("inf"):
        assert found.valid, found.violations
        assert found.cost == pytest.approx(best, rel=2e-4, abs=1e-9)


@pytest.mark.slow
def test_two_thousand_flows_in_seconds():
    made = yl.generate("channelization-random", seed=1, flows=2000, users=250, groups=100)
    in_process.method(yl.generate("channelization-random", seed=1), "flow-merge")  # compiled, once
    begun = time.monotonic()
    cost = cost_of(made, "flow-merge")
    assert time.monotonic() - begun < 15
    assert cost < cost_of(made, "random")
