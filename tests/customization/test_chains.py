"""Conversions that chains of others replace: distances stay, plans stay as cheap, chains are spelled out."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import yardline as yl
from yardline.models.customization import chains
from yardline.models.customization.data import Customization
from yardline.models.customization.judge import evaluate
from yardline.models.method import Run
from yardline.solvers.certificates.potentials import Case, proved
from yardline.solvers.certificates.whole_costs import worth
from yardline.solvers.customization import improving, plans
from yardline.solvers.customization.ascent import Grid, ascend, nothing
from yardline.solvers.customization.averaging import Averaged, averaged, first_tree, settled
from yardline.solvers.customization.exact import grid_of

COSTS = {"whole": [0, 0, 1, 2, 3, 5], "broken": [0, 0.1, 0.2, 0.3, 0.7, 1e-9]}


def drawn(rng: np.random.Generator, m: int, costs: list[float]) -> Customization:
    pairs = [(f, g) for f, g in itertools.permutations(range(m), 2) if f == 0 or rng.random() < 0.7]
    return Customization(
        parent=np.array([-1]),
        requests=[[1]],  # type: ignore[arg-type]
        tau=np.zeros(m),
        conversions=np.array(pairs),
        conversion_cost=rng.choice(costs, len(pairs)),
        source=0,
    )


def distances(instance: Customization, chosen: Any) -> Any:
    """All distances, by the definition: one more format on the way at a time."""
    D = np.where(np.eye(instance.m, dtype=bool), 0.0, np.inf)
    for (f, g), c, there in zip(instance.conversions.tolist(), instance.conversion_cost, chosen, strict=True):
        if there:
            D[f, g] = min(D[f, g], c)
    for h in range(instance.m):
        D = np.minimum(D, D[:, h, None] + D[None, h])
    return D


@pytest.mark.parametrize("costs", COSTS)
@pytest.mark.parametrize("seed", range(40))
def test_distances_stay(costs: str, seed: int) -> None:
    instance = drawn(np.random.default_rng(seed), 7, COSTS[costs])
    kept = chains.kept(instance)
    whole = distances(instance, np.ones(len(kept), dtype=bool))
    assert distances(instance, kept) == pytest.approx(whole, rel=1e-12)
    assert chains.chains(instance)[0] == pytest.approx(whole, rel=1e-12)


def test_equal_ways_are_dropped_only_where_sums_are_exact() -> None:
    # 0 -> 1 -> 2 costs 0.1 + 0.2, which in binary is a little more than 0.3: nobody may drop 0 -> 2 for it. 1 + 2 is 3.
    def one(costs: list[float]) -> Customization:
        pairs = np.array([(0, 1), (0, 2), (1, 2)])
        whole = {"parent": np.array([-1]), "requests": [[2]], "tau": np.zeros(3), "source": 0}
        return Customization(conversions=pairs, conversion_cost=np.array(costs), **whole)

    assert chains.kept(one([0.1, 0.3, 0.2])).tolist() == [True, True, True]
    assert chains.kept(one([1, 3, 2])).tolist() == [True, False, True]
    assert chains.kept(one([0.1, 0.31, 0.2])).tolist() == [True, False, True]


def test_free_conversions_in_a_circle_stay() -> None:
    pairs = np.array([(0, 1), (1, 2), (2, 0)])
    instance = Customization(
        parent=np.array([-1]), requests=[[2]], tau=np.zeros(3), conversions=pairs, conversion_cost=np.zeros(3), source=0
    )  # fmt: skip  # type: ignore[arg-type]
    assert chains.kept(instance).all()


@pytest.mark.parametrize("workload", ["customization-random", "customization-down"])
def test_improved_plans_cost_what_their_arcs_cost(workload: str) -> None:
    instance = yl.generate(workload, seed=3, brokers=60, formats=24)
    assert isinstance(instance, Customization)
    grid, rng = grid_of(instance), np.random.default_rng(0)
    found = ascended(grid)
    tree = first_tree(grid, alive(grid), found, rng)
    first = evaluate(instance, plans.plan_of_entries(instance, plans.entries_of_arcs(instance, grid.graph, tree)))
    result = improving.improved(instance, grid.graph, tree, rng, Run(time_limit=5), share=0.5)
    assert result.plan is not None
    judged = evaluate(instance, result.plan)
    assert judged.valid
    assert judged.cost <= first.cost
    assert judged.cost == pytest.approx(result.value)
    assert judged.cost == pytest.approx(float(grid.graph.cost[result.arcs].sum()))


def alive(grid: Grid) -> Any:
    return np.ones(len(grid.cost), dtype=bool)


def ascended(grid: Grid) -> Any:
    found = ascend(grid, alive(grid), nothing(grid, grid.graph.terminals))
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(6))
def test_potentials_prove_what_they_say_and_never_more_than_the_optimum(seed: int) -> None:
    instance = yl.generate("customization-down", seed=seed, brokers=80, formats=10)
    assert isinstance(instance, Customization)
    least = yl.solve(instance, "exact").cost
    assert least is not None
    grid, rng = grid_of(instance), np.random.default_rng(seed)
    first = ascended(grid)
    start = Averaged(first, first_tree(grid, alive(grid), first, rng))
    better = averaged(grid, alive(grid), start, rng, going=lambda k: k < 20)
    last = settled(grid, alive(grid), better.ascent)
    every = Case(alive(grid), frozenset(grid.graph.terminals.tolist()))
    value, slack = proved(grid.graph, grid.cost, every, last.duals(), "duals")
    assert (value, slack.tolist()) == (last.value, last.slack.tolist())
    assert first.value <= better.ascent.value
    assert grid.bound(value) <= least <= worth(int(grid.cost[better.tree].sum()), grid.bits) * (1 + 1e-9)


def test_averaging_proves_more_than_one_ascent() -> None:
    instance = yl.generate("customization-random", seed=4, brokers=200, formats=40)
    proofs = [yl.bound(instance, "dual-ascent", seed=1, options={"tries": tries}).bound for tries in (1, 30)]
    assert proofs[0] < proofs[1] <= yl.solve(instance, "portfolio", time_limit=5).cost
