"""The first methods: valid plans, never below the optimum, conversions as cheap as promised."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from customization.brute_force import least_cost, subsets
from customization.strategies import instances
from customization.support import chain, read
from hypothesis import given, settings

from yardline.models import registry
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.judge import evaluate
from yardline.models.method import Answer, Unsuitable
from yardline.solvers.heuristics.customization import steiner

METHODS = ("all-in-root", "all-in-leaves")


def run(name: str, instance: Customization) -> Any:
    return registry.find("method", "customization", name).function(instance, np.random.default_rng(0))


def test_all_in_root_on_the_chain() -> None:
    # 5 + 3 at the root, small and tiny on the first link (2 + 1), then 2 and 1: 14
    instance = read(chain())
    plan = run("all-in-root", instance)
    assert plan.document() == {"sends": [[], [1, 2], [1], [2]], "converts": [[[0, 1], [1, 2]], [], [], []]}
    assert evaluate(instance, plan).cost == 14


def test_all_in_leaves_on_the_chain() -> None:
    # raw on three links (30), small made at node 2 (5), tiny at node 3 by way of small (8, straight is 9): 43
    instance = read(chain())
    plan = run("all-in-leaves", instance)
    assert plan.document() == {"sends": [[], [0], [0], [0]], "converts": [[], [], [[0, 1]], [[0, 1], [1, 2]]]}
    assert evaluate(instance, plan).cost == 43


@pytest.mark.parametrize("name", METHODS)
def test_the_source_format_needs_no_conversion(name: str) -> None:
    instance = read(chain() | {"requests": [[0], [], [0], []]})
    plan = run(name, instance)
    assert plan.document() == {"sends": [[], [0], [0], []], "converts": [[], [], [], []]}


@pytest.mark.parametrize("name", METHODS)
def test_out_of_reach_is_infeasible(name: str) -> None:
    answer = run(name, read(chain() | {"conversions": []}))
    assert answer == Answer(infeasible=answer.infeasible)
    assert answer.infeasible == "node 2 asks for format 1, which nothing makes from format 0 (1 more such request)"


@pytest.mark.parametrize("exact_formats", [16, 0], ids=["exact", "shortest-paths"])
@pytest.mark.parametrize("name", METHODS)
def test_plans_are_valid_and_not_below_the_optimum(
    name: str, exact_formats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steiner, "EXACT_FORMATS", exact_formats)

    @settings(deadline=None, max_examples=80)
    @given(instances())
    def check(document: dict[str, Any]) -> None:
        instance, least = read(document), least_cost(document)
        plan = run(name, instance)
        if least == math.inf:
            assert isinstance(plan, Answer)
            return
        assert isinstance(plan, CustomizationPlan)
        judgement = evaluate(instance, plan)
        assert judgement.valid
        assert judgement.cost >= least - 1e-9

    check()


@settings(deadline=None, max_examples=80)
@given(instances(most_nodes=1))
def test_with_one_node_both_are_exact(document: dict[str, Any]) -> None:
    instance, least = read(document), least_cost(document)
    for name in METHODS:
        plan = run(name, instance)
        if least < math.inf:
            assert evaluate(instance, plan).cost == pytest.approx(least, rel=1e-12)


@settings(deadline=None, max_examples=40)
@given(instances(most_nodes=1))
def test_all_sets_of_formats_at_once(document: dict[str, Any]) -> None:
    """The table serves every wanted set as brute force does it alone; shortest paths make all of them as well."""
    whole = document | {"requests": [list(range(len(document["formats"])))], "alpha": 1, "beta": 1}
    whole.pop("node_weight", None)
    instance = read(whole)
    if least_cost(whole) == math.inf:
        return
    wanted = [list(chosen) for chosen in subsets(range(instance.m))]
    table = np.zeros((len(wanted), instance.m), dtype=bool)
    for row, chosen in enumerate(wanted):
        table[row, chosen] = True
    done = steiner.conversions(instance, table) @ instance.conversion_cost
    assert done == pytest.approx([least_cost(whole | {"requests": [chosen]}) for chosen in wanted], rel=1e-12)


def test_too_many_formats_are_said_to_be_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steiner, "EXACT_FORMATS", 0)
    monkeypatch.setattr(steiner, "MOST_FORMATS", 2)
    with pytest.raises(Unsuitable, match=r"^there are 3 formats"):
        run("all-in-root", read(chain()))


def test_shortest_paths_share_what_is_there() -> None:
    # 20 formats in a row behind one dear step (100): asked for the last three, the row is walked once, 100 + 19
    steps = [(0, 1, 100), *((f, f + 1, 1) for f in range(1, 20))]
    instance = read(
        {
            "parent": [None],
            "requests": [[18, 19, 20]],
            "formats": [{"name": str(f), "transmission": 0} for f in range(21)],
            "conversions": [{"from": f, "to": g, "cost": c} for f, g, c in steps],
            "source": 0,
        }
    )
    assert instance.m > steiner.EXACT_FORMATS
    assert evaluate(instance, run("all-in-root", instance)).cost == 119
