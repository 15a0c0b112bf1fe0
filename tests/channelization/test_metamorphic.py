"""Relations between instances whose answers are known relative to each other, without knowing any answer."""

from __future__ import annotations

import math

import in_process
import pytest
from channelization.strategies import documents, instance
from hypothesis import given, settings
from hypothesis import strategies as st

from yardline.models.channelization.judge import evaluate


def optimum(document) -> float:
    made = instance(document)
    answer = in_process.method(made, "exact")
    return math.inf if answer.infeasible else evaluate(made, in_process.plan_of(answer)).cost


def lp(document) -> float:
    answer = in_process.bound(instance(document), "lp")
    return math.inf if answer.infeasible else answer.bound


def same(first, second):
    return first == second or first == pytest.approx(second, rel=1e-6, abs=1e-9)


def permuted(document, flows, users):
    """The same instance, flow f now called flows[f], user u listed where users puts it."""
    order = sorted(range(len(flows)), key=flows.__getitem__)
    result = {**document, "rates": [document["rates"][i] for i in order]}
    result["wants"] = [[flows[i] for i in document["wants"][j]] for j in users]
    if "send_weight" in document:
        result["send_weight"] = [document["send_weight"][i] for i in order]
    if "receive_weight" in document:
        rows = [document["receive_weight"][j] for j in users]
        result["receive_weight"] = [[row[i] for i in order] if isinstance(row, list) else row for row in rows]
    return result


@settings(max_examples=50)
@given(documents(), st.data())
def test_permuting_flows_and_users(document, data):
    flows = data.draw(st.permutations(range(len(document["rates"]))))
    users = data.draw(st.permutations(range(len(document["wants"]))))
    assert same(optimum(document), optimum(permuted(document, flows, users)))


@settings(max_examples=50)
@given(documents(), st.sampled_from([-50, -30, -7, 1, 20, 40]))
def test_scaling_rates_by_a_power_of_two(document, power):
    scaled = {**document, "rates": [math.ldexp(rate, power) for rate in document["rates"]]}
    if "unicast_budget" in document:
        if power < 0 or document["unicast_budget"] == 0:
            return  # the forgiven 1e-9 of a budget does not scale
        scaled["unicast_budget"] = math.ldexp(document["unicast_budget"], power)
    for measure in (optimum, lp):
        before, after = measure(document), measure(scaled)
        assert before == after or after == pytest.approx(
            math.ldexp(before, power), rel=1e-6, abs=math.ldexp(1e-9, power)
        )


@settings(max_examples=50)
@given(documents(most=3))
def test_another_group_never_hurts(document):
    more = {**document, "groups": document["groups"] + 1}
    assert optimum(more) <= optimum(document) * (1 + 1e-9)


@settings(max_examples=30)
@given(documents(most=3))
def test_a_group_beyond_one_per_flow_is_useless(document):
    enough = {**document, "groups": len(document["rates"])}
    more = {**document, "groups": len(document["rates"]) + 1}
    assert same(optimum(enough), optimum(more))


@settings(max_examples=50)
@given(documents(hybrid=True))
def test_relaxing_the_budget_never_hurts(document):
    tight = {**document, "unicast_budget": 1}
    loose = {**document, "unicast_budget": 3}
    free = {name: value for name, value in document.items() if name != "unicast_budget"}
    assert optimum(free) <= optimum(loose) * (1 + 1e-9)
    assert optimum(loose) <= optimum(tight) * (1 + 1e-9)


@settings(max_examples=50)
@given(documents(), st.data())
def test_dropping_a_user_never_hurts(document, data):
    if not document["wants"]:
        return
    gone = data.draw(st.integers(0, len(document["wants"]) - 1))
    fewer = {**document, "wants": [row for j, row in enumerate(document["wants"]) if j != gone]}
    if "receive_weight" in document:
        fewer["receive_weight"] = [row for j, row in enumerate(document["receive_weight"]) if j != gone]
    assert optimum(fewer) <= optimum(document) * (1 + 1e-9)


@settings(max_examples=50)
@given(documents())
def test_freedom_never_hurts(document):
    free = {**document, "mode": "unconstrained"}
    bound = {**document, "mode": "constrained"}
    assert optimum(free) <= optimum(bound) * (1 + 1e-9)
    assert optimum({**document, "hybrid": True, "unicast_budget": 0}) <= optimum({**document, "hybrid": False}) * (
        1 + 1e-9
    )


@settings(max_examples=30)
@given(documents())
def test_a_flow_nobody_wants_changes_nothing(document):
    more = {**document, "rates": [*document["rates"], 5.0]}
    if "send_weight" in document:
        more["send_weight"] = [*document["send_weight"], 1]
    if "receive_weight" in document:
        more["receive_weight"] = [[*row, 1] if isinstance(row, list) else row for row in document["receive_weight"]]
    assert same(optimum(document), optimum(more))
