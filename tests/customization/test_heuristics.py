"""The methods of the paper and ours, on instances worked by hand and on small random ones."""

from __future__ import annotations

import itertools
from typing import Any

import in_process
import numpy as np
import pytest
from customization.support import chain, read

import yardline as yl
from yardline.models.customization.judge import evaluate
from yardline.models.method import Run, Unsuitable
from yardline.solvers.customization import plans
from yardline.solvers.heuristics.customization.iterative import Refining, first_plan, iterative


def cost(instance: Any, name: str, **options: Any) -> float:
    judged = evaluate(instance, in_process.plan_of(in_process.method(instance, name, **options)))
    assert judged.valid
    return judged.cost


def test_single_format_on_the_chain() -> None:
    # both requests below node 1 can be made of raw and small; small (2) is cheaper than raw (10). Small at the root (5), 2 on
    # the first link; node 2 gets small (2), node 3 tiny (1), made at node 1 (3): 13, here the optimum
    instance = read(chain())
    plan = in_process.plan_of(in_process.method(instance, "single-format"))
    assert plan.document() == {"sends": [[], [1], [1], [2]], "converts": [[[0, 1]], [[1, 2]], [], []]}
    assert evaluate(instance, plan).cost == 13


def test_single_format_does_not_send_what_cannot_become_the_requests() -> None:
    # tiny is the cheapest to send, but nothing can be made of it: node 1 needs small, so small goes down
    instance = read(chain() | {"parent": [None, 0], "requests": [[], [1, 2]]})
    plan = in_process.plan_of(in_process.method(instance, "single-format")).document()
    assert plan["sends"] == [[], [1]]


def test_the_paper_ends_at_five_formats() -> None:
    instance = yl.generate("customization-random", seed=1, brokers=10, formats=6)
    with pytest.raises(Unsuitable, match="6 formats, and this method ends at 5"):
        in_process.method(instance, "optimal-paper")


@pytest.mark.parametrize("formats", [3, 5])
def test_the_papers_optimum_is_ours(formats: int) -> None:
    for seed in range(5):
        instance = yl.generate("customization-random", seed=seed, brokers=60, formats=formats)
        assert cost(instance, "optimal-paper") == pytest.approx(cost(instance, "exact"))


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("steiner", ["charikar", "exact"])
@pytest.mark.parametrize("select", ["random", "slack"])
@pytest.mark.parametrize("start", ["all-in-root", "all-in-leaves", "single-format", "best"])
def test_iterative_never_gets_worse(depth: int, steiner: Any, select: Any, start: Any) -> None:
    instance = yl.generate("customization-random", seed=2, brokers=30, formats=6)
    rng = np.random.default_rng(0)
    plan = first_plan(instance, rng, start)
    refining = Refining.of(instance, plan, depth, steiner)
    values = [evaluate(instance, plan).cost, *refining.costs_along(rng, select, 30)]
    assert all(b <= a + 1e-9 for a, b in itertools.pairwise(values))
    end = evaluate(instance, plans.plan_of_entries(instance, refining.entry))
    assert end.valid
    assert end.cost == pytest.approx(values[-1])
    assert end.cost >= cost(instance, "exact") - 1e-9


def test_a_stump_as_deep_as_the_tree_is_solved_to_the_optimum() -> None:
    instance = read(chain())  # root, node 1, nodes 2 and 3: depth 2
    run = Run(time_limit=60)
    plan = iterative(instance, np.random.default_rng(0), run=run, start="all-in-leaves", depth=2, steiner="exact")
    assert evaluate(instance, plan).cost == 13  # type: ignore[arg-type]


def test_slack_ends_when_nothing_is_left_to_gain() -> None:
    instance = yl.generate("customization-map", seed=1, brokers=40)
    refining = Refining.of(instance, first_plan(instance, np.random.default_rng(0), "best"), 1, "exact")
    assert len(list(refining.costs_along(np.random.default_rng(0), "slack", 10_000))) < 1_000


def test_a_wrong_depth_is_refused() -> None:
    with pytest.raises(ValueError, match="depth is 9"):
        in_process.method(read(chain()), "iterative", depth=9)


def test_a_neighbourhood_of_all_formats_is_the_optimum() -> None:
    for seed in range(5):
        instance = yl.generate("customization-random", seed=seed, brokers=40, formats=7)
        costs = plans.Costs.of(instance)
        entry = plans.entries_of_plan(instance, in_process.plan_of(in_process.method(instance, "all-in-root")))  # type: ignore[arg-type]
        costs.improve(entry, np.arange(7))
        assert costs.total(entry) == pytest.approx(cost(instance, "exact"))


def test_neighbourhoods_never_make_it_worse() -> None:
    rng = np.random.default_rng(3)
    for seed in range(5):
        instance = yl.generate("customization-random", seed=seed, brokers=40, formats=12)
        costs = plans.Costs.of(instance)
        entry = plans.entries_of_plan(instance, in_process.plan_of(in_process.method(instance, "all-in-leaves")))  # type: ignore[arg-type]
        before = costs.total(entry)
        for _ in range(40):
            costs.improve(entry, rng.choice(12, 5, replace=False))
            now = costs.total(entry)
            assert now <= before + 1e-9
            before = now
        judged = evaluate(instance, plans.plan_of_entries(instance, entry))
        assert judged.valid
        assert judged.cost == pytest.approx(before)


def test_portfolio_brings_a_certified_bound() -> None:
    instance = yl.generate("customization-random", seed=1, brokers=60, formats=30)
    result = yl.solve(instance, "portfolio", time_limit=20, certify=True)
    assert result.bound is not None
    assert result.cost is not None
    assert result.bound <= result.cost
    assert yl.verify(instance, result.certificate or {}).holds


@pytest.mark.parametrize("by", ["sets", "cuts", "program"])
def test_the_integer_program_stays_within_reach(by: str) -> None:
    assert cost(read(chain()), "exact", by=by) == 13
