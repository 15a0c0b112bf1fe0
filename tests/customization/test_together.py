"""Several publications that share brokers and links: the bound holds, plans keep the limits, certificates add up."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from customization.support import chain, read

import yardline as yl
from yardline.models.customization.judge import evaluate

Capacity = yl.customization.Capacity


def two() -> list[Any]:
    return [read(chain()), read(chain() | {"requests": [[], [], [2], [2]]})]


def test_without_limits_each_is_planned_for_itself() -> None:
    # 13 as worked out in support.py; the second: small and tiny at the root (5 + 3), tiny on three links: 11
    result = yl.customization.together(two(), Capacity())
    assert result.cost == result.bound == 24
    assert result.iterations == 1


def pair() -> list[Any]:
    """Two publications down one link: raw (10 to send), small (2), tiny (1) at the end of it."""
    small = chain() | {"parent": [None, 0]}
    return [read(small | {"requests": [[], [1, 2]]}), read(small | {"requests": [[], [2]]})]


def every_plan(instance: Any) -> list[tuple[float, float]]:
    """Cost and conversion work at the root of every valid plan."""
    found = []
    for sent, at_root, below in itertools.product(_subsets(range(3)), repeat=3):
        plan = yl.CustomizationPlan.of(instance, sends=[[], sent], converts=[at_root, below])
        judged = evaluate(instance, plan)
        if judged.valid:
            found.append((judged.cost, float((plan.converts @ instance.conversion_cost)[0])))
    return found


def _subsets(items: Any) -> list[list[int]]:
    return [list(c) for k in range(4) for c in itertools.combinations(items, k)]


@pytest.mark.parametrize("limit", [14.0, 9.0, 5.0])
def test_a_shared_root_against_all_pairs_of_plans(limit: float) -> None:
    instances = pair()
    first, second = (every_plan(instance) for instance in instances)
    best = min((a[0] + b[0] for a in first for b in second if a[1] + b[1] <= limit), default=float("inf"))
    result = yl.customization.together(instances, Capacity(node={0: limit}))
    assert result.bound <= best + 1e-6
    assert result.plans is not None
    assert result.cost is not None
    assert result.cost >= best - 1e-9
    judged = [evaluate(i, p) for i, p in zip(instances, result.plans, strict=True)]
    assert all(j.valid for j in judged)
    assert sum(j.cost for j in judged) == pytest.approx(result.cost)
    used = sum((p.converts @ i.conversion_cost)[0] for i, p in zip(instances, result.plans, strict=True))
    assert used <= limit * (1 + 1e-9) + 1e-9
    proved = yl.customization.check_together(
        instances, Capacity(node={0: limit}), json.loads(json.dumps(result.certificate))
    )
    assert proved is not None
    assert float(proved) == pytest.approx(result.bound, rel=1e-9)


def test_a_certificate_for_other_limits_proves_less_or_nothing() -> None:
    instances, tight = two(), Capacity(node={0: 5.0})
    result = yl.customization.together(instances, tight)
    wide = yl.customization.check_together(instances, Capacity(node={0: 500.0}), result.certificate)
    assert wide is None or wide <= 24


def test_limits_on_links_between_brokers_of_other_trees() -> None:
    instances = two()
    brokers = [[7, 3, 5, 9], [7, 3, 9, 5]]
    limits = Capacity(link={(7, 3): 3.0}, broker=brokers)
    result = yl.customization.together(instances, limits)
    assert result.plans is not None
    load = sum((p.sends @ i.tau)[1] for i, p in zip(instances, result.plans, strict=True))
    assert load <= 3 + 1e-6
    assert result.cost is not None
    assert result.bound <= result.cost


def test_broken_capacities_are_refused() -> None:
    with pytest.raises(ValueError, match="capacity of node 0"):
        Capacity(node={0: -1.0})
    with pytest.raises(ValueError, match="no publications"):
        yl.customization.together([], Capacity())
