"""The least feasible load factor, and the methods that only look at latency, load or order."""

import itertools
import math

import numpy as np
import pytest
from assignment.brute_force import candidates, least_cost
from assignment.helpers import read, two_brokers
from assignment.strategies import documents
from hypothesis import given, settings

from yardline.models.assignment import limits
from yardline.models.assignment.judge import evaluate
from yardline.models.assignment.load import caps_of, factor_of, least_factor
from yardline.models.method import Unsuitable
from yardline.solvers.heuristics.assignment.balance import balance
from yardline.solvers.heuristics.assignment.closest import closest_no_balance
from yardline.solvers.heuristics.assignment.greedy_online import greedy_no_latency, greedy_online


def rng():
    return np.random.default_rng(0)


def least_by_enumeration(document: dict) -> float:
    """The least, over all assignments within latency, of the greatest load / (kappa m); a factor below 1 counts as 1."""
    parent = document["brokers"]["parent"]
    leaves = [b for b in range(len(parent)) if b not in parent]
    kappa, m = document["brokers"].get("capacity"), len(document["subscribers"]["at"])
    best = math.inf
    for choice in itertools.product(*candidates(document)):
        worst = 1.0
        for b in set(choice):
            share = kappa[b] if kappa else 1 / len(leaves)
            worst = max(worst, choice.count(b) / (share * m) if share else math.inf)
        best = min(best, worst)
    return best


@settings(max_examples=200)
@given(documents(dimensions=(1,)))
def test_least_factor_against_enumeration(document):
    instance, best = read(document), least_by_enumeration(document)
    found = least_factor(instance)
    assert found == pytest.approx(best, rel=1e-8)
    if math.isfinite(found):
        assert (found <= instance.beta_max + 1e-8) == (least_cost(document) < math.inf)
        plan = balance(instance, rng())
        assert evaluate(instance, plan).terms["load_factor"] <= found + 1e-8
        assert {v.rule for v in evaluate(instance, plan).violations} <= {"load"}
    else:
        with pytest.raises(Unsuitable):
            balance(instance, rng())


def test_readings_of_the_load_limit():
    # Three at one place, two leaves there: 2 and 1 at best, 2 / (1/2 * 3) = 4/3. Desired 1 is below that.
    three = {"at": [[2, 0]] * 3, "low": [[0]] * 3, "high": [[1]] * 3}
    instance = read(two_brokers(subscribers=three, load={"desired": 1, "max": 2}))
    assert least_factor(instance) == pytest.approx(4 / 3)
    assert factor_of(instance, "desired") == pytest.approx(4 / 3)
    assert caps_of(instance, "desired").tolist() == [2, 2]
    assert caps_of(instance, "max").tolist() == [3, 3]


@settings(max_examples=100)
@given(documents())
def test_methods_break_no_rule_but_their_own(document):
    instance, best = read(document), least_cost(document)
    methods = [(closest_no_balance, {}, {"latency", "load"}), (greedy_no_latency, {}, {"latency", "load"})]
    methods += [(greedy_online, {"evict": evict}, {"load"}) for evict in ("none", "next", "later")]
    for method, options, may_break in methods:
        judgement = evaluate(instance, method(instance, rng(), **options))
        assert {v.rule for v in judgement.violations} <= (may_break if best < math.inf else {"latency", "load"})
        assert not judgement.valid or judgement.cost >= best - 1e-9


def test_online_takes_the_order_given_and_eviction_makes_room():
    # Subscriber 1 can only use leaf 0; subscriber 0 comes first and takes it (both leaves cost 1, leaf 0 is the first).
    # One place each: without eviction leaf 0 holds two.
    document = two_brokers(
        brokers__at=[[1, 0], [0, 1]],
        subscribers={"at": [[1, 1], [2, 0]], "low": [[0], [3]], "high": [[1], [4]]},
        latency={"max_delay": 0},
        load={"desired": 1, "max": 1},
    )
    instance = read(document)
    assert greedy_online(instance, rng()).leaf.tolist() == [0, 0]
    for evict in ("next", "later"):
        plan = greedy_online(instance, rng(), evict=evict)
        assert plan.leaf.tolist() == [1, 0]
        assert evaluate(instance, plan).valid


def test_closest_without_balance_is_nearest():
    document = two_brokers(brokers__at=[[1, 2], [2, 1]], load={"desired": 1, "max": 1})
    assert closest_no_balance(read(document), rng()).leaf.tolist() == [1, 1]


def test_candidates_are_derived_once():
    instance = read(two_brokers())
    assert limits.candidates(instance) is limits.candidates(instance)
