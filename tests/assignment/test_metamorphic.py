"""What must not change the optimum, and what may change it in one direction only."""

import copy

import pytest
from assignment.helpers import optimum
from assignment.strategies import documents
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True, "max_examples": 30}


@settings(**COMMON)
@given(documents(), st.randoms(use_true_random=False))
def test_order_of_subscribers_does_not_matter(document, random):
    order = list(range(len(document["subscribers"]["at"])))
    random.shuffle(order)
    changed = copy.deepcopy(document)
    changed["subscribers"] = {name: [rows[s] for s in order] for name, rows in document["subscribers"].items()}
    if "max_latency" in document["latency"]:
        changed["latency"]["max_latency"] = [document["latency"]["max_latency"][s] for s in order]
    assert optimum(changed) == pytest.approx(optimum(document))


@settings(**COMMON)
@given(documents(), st.randoms(use_true_random=False))
def test_order_of_brokers_does_not_matter(document, random):
    count = len(document["brokers"]["parent"])
    order = list(range(count))  # order[new] = old
    random.shuffle(order)
    new_name = {old: new for new, old in enumerate(order)} | {-1: -1}
    changed = copy.deepcopy(document)
    for name, rows in document["brokers"].items():
        changed["brokers"][name] = None if rows is None else [rows[old] for old in order]
    changed["brokers"]["parent"] = [new_name[document["brokers"]["parent"][old]] for old in order]
    assert optimum(changed) == pytest.approx(optimum(document))


@settings(**COMMON)
@given(documents())
def test_scaling_the_event_space_scales_the_cost(document):
    changed = copy.deepcopy(document)
    for side in ("low", "high"):
        changed["subscribers"][side] = [[4 * x for x in row] for row in document["subscribers"][side]]
    power = 4 ** len(document["subscribers"]["low"][0])
    if "density" in document:  # the same mass over a wider grid
        changed["density"]["edges"] = [[4 * x for x in row] for row in document["density"]["edges"]]
        power = 1
    assert optimum(changed) == pytest.approx(power * optimum(document))


@settings(**COMMON)
@given(documents())
def test_a_broker_without_capacity_does_not_matter(document):
    leaves = [b for b in range(len(document["brokers"]["parent"])) if b not in document["brokers"]["parent"]]
    given_fractions = document["brokers"].get("capacity")
    changed = copy.deepcopy(document)
    equal = [1 / len(leaves) if b in leaves else 0 for b in range(len(document["brokers"]["parent"]))]
    changed["brokers"]["capacity"] = [*(given_fractions or equal), 0]
    changed["brokers"]["at"].append([99, 99])  # so far that it is nobody's shortest way
    changed["brokers"]["parent"] = [*document["brokers"]["parent"], -1]
    changed["brokers"]["filter_complexity"] = [*document["brokers"]["filter_complexity"], 2]
    assert optimum(changed) == pytest.approx(optimum(document))


@settings(**COMMON)
@given(documents())
def test_looser_limits_never_cost_more(document):
    before = optimum(document)
    for looser in (_more_boxes, _more_load, _more_latency, _weaker_containment):
        assert optimum(looser(copy.deepcopy(document))) <= before * (1 + 1e-9) + 1e-9


def _more_boxes(document):
    document["brokers"]["filter_complexity"] = [a + 1 for a in document["brokers"]["filter_complexity"]]
    return document


def _more_load(document):
    document["load"]["max"] *= 2
    return document


def _more_latency(document):
    latency = document["latency"]
    if "max_delay" in latency:
        latency["max_delay"] = 2 * latency["max_delay"] + 1
    else:
        latency["max_latency"] = [2 * x for x in latency["max_latency"]]
    return document


def _weaker_containment(document):
    document["containment"] = "union"
    return document
