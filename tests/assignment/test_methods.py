"""First methods and the workload."""

import math

import numpy as np
import pytest
from assignment.brute_force import least_cost
from assignment.helpers import PROBLEM, read, two_brokers
from assignment.strategies import documents
from hypothesis import HealthCheck, given, settings

from yardline.instances.workloads.assignment import independent, level_sizes, zipf
from yardline.models.assignment import limits
from yardline.models.assignment.feasibility import why_infeasible
from yardline.models.assignment.judge import evaluate
from yardline.solvers.heuristics.assignment.closest import closest
from yardline.solvers.heuristics.assignment.greedy_offline import greedy_offline

COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


@settings(max_examples=120, **COMMON)
@given(documents())
def test_methods_break_no_rule_but_their_own(document):
    """`closest` may break latency, both may break load where they get stuck; nothing is below the optimum."""
    instance, best = read(document), least_cost(document)
    for method, may_break in ((closest, {"latency", "load"}), (greedy_offline, {"load"})):
        plan = method(instance, np.random.default_rng(0))
        judgement = evaluate(instance, plan)
        broken = {v.rule for v in judgement.violations}
        assert broken <= (may_break if best < math.inf else {"latency", "load"})
        if judgement.valid:
            assert judgement.cost >= best - 1e-9
            program = PROBLEM.assemble(instance)
            point = PROBLEM.encode(instance, program, plan)
            assert program.violation(point) == 0
            assert program.value(point) <= judgement.cost + 1e-9


def test_closest_goes_by_the_last_hop_until_full():
    # Both subscribers are at (2, 0): leaf 1 at (2, 1) is nearer than leaf 0 at (1, 2), though latency forbids
    # neither; at load.max 1 each leaf takes one, so subscriber 1 goes to leaf 0.
    document = two_brokers(brokers__at=[[1, 2], [2, 1]], load={"desired": 1, "max": 1})
    assert closest(read(document), np.random.default_rng(0)).leaf.tolist() == [1, 0]
    document["load"]["max"] = 2
    assert closest(read(document), np.random.default_rng(0)).leaf.tolist() == [1, 1]


def test_greedy_takes_those_without_choice_first():
    # Subscriber 2 can only use leaf 0, so it comes first and opens [8, 9] there. One box each: subscriber 0 ([0, 1])
    # would stretch that by 8, and opens [0, 1] on leaf 1 instead; subscriber 1 ([7, 9]) then grows [8, 9] by 1,
    # against 8 on leaf 1.
    document = two_brokers(
        brokers__at=[[1, 0], [0, 1]],
        subscribers={"at": [[1, 1], [1, 1], [2, 0]], "low": [[0], [7], [8]], "high": [[1], [9], [9]]},
        latency={"max_delay": 0},
        load={"desired": 2, "max": 2},
    )
    plan = greedy_offline(read(document), np.random.default_rng(0))
    assert plan.leaf.tolist() == [1, 0, 0]
    assert evaluate(read(document), plan).cost == pytest.approx(1 + 2)


def test_greedy_counts_the_brokers_above():
    # Leaves 2 (below 0) and 3 (below 1). Subscriber 0 opens [0, 4] at leaf 2. For [4, 6] one box: leaf 2 and its
    # parent grow by 2 each, 4 in all; leaf 3 opens [4, 6] and so does its parent, 4 as well: the tie goes to the
    # empty leaf 3. For [4, 5.5] after that: leaf 3 holds it, free.
    document = two_brokers(
        brokers__at=[[1, 0]] * 4,
        brokers__parent=[-1, -1, 0, 1],
        subscribers={"at": [[2, 0]] * 3, "low": [[0], [4], [4]], "high": [[4], [6], [5.5]]},
    )
    plan = greedy_offline(read(document), np.random.default_rng(0), load="max")
    assert plan.leaf.tolist() == [2, 3, 3]


def test_greedy_raises_the_load_factor_only_when_stuck():
    # Four subscribers with the same interest, two alike leaves. Desired 1: two each. With `max` 2 at once: leaf 0
    # opens the box, and everybody finds it there.
    document = two_brokers(
        subscribers={"at": [[2, 0]] * 4, "low": [[0]] * 4, "high": [[1]] * 4}, load={"desired": 1, "max": 2}
    )
    instance = read(document)
    assert sorted(greedy_offline(instance, np.random.default_rng(0)).leaf.tolist()) == [0, 0, 1, 1]
    assert greedy_offline(instance, np.random.default_rng(0), load="max").leaf.tolist() == [0] * 4


def test_density_steers_the_greedy():
    # No mass between 1 and 3: growing [0, 1] to [0, 5] costs what [3, 5] has, the same as opening it; the tie goes to
    # leaf 1. With mass there, growing costs more.
    for mass in ([1, 0, 1], [1, 9, 1]):
        document = two_brokers(density={"edges": [[0, 1, 3, 5]], "mass": mass}, load={"desired": 2, "max": 2})
        plan = greedy_offline(read(document), np.random.default_rng(0))
        assert plan.leaf.tolist() == [0, 1]
        assert evaluate(read(document), plan).cost == pytest.approx(2)


def test_workload_is_reproducible_and_feasible():
    one, two = (independent(np.random.default_rng(5), subscribers=300, brokers=12) for _ in range(2))
    other = independent(np.random.default_rng(6), subscribers=300, brokers=12)
    assert one.hash == two.hash != other.hash
    assert why_infeasible(one) is None


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_workload_trees(levels):
    instance = independent(np.random.default_rng(1), subscribers=50, brokers=40, levels=levels, degree=5)
    assert instance.level.max() == levels - 1
    assert np.bincount(instance.parent[instance.parent >= 0], minlength=1).max() <= 5
    assert sum(level_sizes(40, levels, 5)) == 40


def test_workload_interests():
    # Centres of 10 x 10 cells, widths of 0.1 to 0.5: sides are as long as some width unless cut off at the border.
    instance = independent(np.random.default_rng(2), subscribers=500, brokers=5)
    width = np.round(instance.high - instance.low, 9)
    inside = (instance.low > 0) & (instance.high < 1)
    assert set(width[inside].tolist()) <= {0.1, 0.2, 0.3, 0.4, 0.5}
    assert instance.low.min() >= 0
    assert instance.high.max() <= 1
    with pytest.raises(ValueError, match="levels is 9"):
        independent(np.random.default_rng(0), brokers=3, levels=9)


def test_zipf_frequencies():
    # Exponent 1 over three ranks: 6/11, 3/11, 2/11; 110,000 draws deviate by more than 1,000 with probability below
    # 1e-6.
    counts = np.bincount(zipf(np.random.default_rng(0), 110_000, 3, 1.0))
    assert np.abs(counts - [60_000, 30_000, 20_000]).max() < 1_000


@pytest.mark.slow
def test_a_million_subscribers():
    instance = independent(np.random.default_rng(0), subscribers=1_000_000, brokers=100)
    plan = greedy_offline(instance, np.random.default_rng(0))
    judgement = evaluate(instance, plan)
    assert judgement.valid
    assert judgement.terms["load_factor"] <= instance.beta_max
    assert PROBLEM.part("assembly").size(instance) > 3_000_000
    assert limits.caps(instance).sum() >= instance.m
