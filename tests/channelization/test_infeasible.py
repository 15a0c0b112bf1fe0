"""Instances without a valid plan, and odd ones that do have one."""

from __future__ import annotations

import math

import in_process
import pytest
from channelization import brute_force
from channelization.strategies import documents, instance
from hypothesis import given, settings

import yardline as yl
from yardline.models.channelization.feasibility import why_infeasible

NOTHING = {"rates": [1, 2], "wants": [[0], [1, 0]], "groups": 0, "mode": "constrained", "hybrid": False}


def test_no_groups_no_unicast():
    assert why_infeasible(instance(NOTHING)) == (
        "user 0 wants flow 0, but there are no groups (groups is 0) and no unicast (hybrid is false)"
    )


def test_no_groups_and_a_budget_too_small():
    # All by unicast: 1 + 2 + 1 = 4 > 3.
    reason = why_infeasible(instance({**NOTHING, "hybrid": True, "unicast_budget": 3}))
    assert reason is not None
    assert "takes 4, over the budget of 3" in reason


@pytest.mark.parametrize(
    ("change", "cost"),
    [
        ({"hybrid": True}, 8),  # (1 + 2 + 1) * 1 * (1 + 1)
        ({"hybrid": True, "unicast_budget": 4}, 8),
        ({"hybrid": True, "rates": [0, 0], "unicast_budget": 0}, 0),
        ({"wants": [[], []]}, 0),
        ({"wants": []}, 0),
        ({"wants": [], "rates": []}, 0),
        ({"wants": [[]], "rates": []}, 0),
        ({"groups": 9}, 7),  # perfect: 1 + (2 + 1) received, 1 + 2 sent
        ({"groups": 1, "rates": [0, 0]}, 0),
    ],
)
@pytest.mark.parametrize("mode", ["constrained", "unconstrained"])
@pytest.mark.parametrize("name", ["exact", "random", "flow-merge", "portfolio", "auto"])
def test_empty_but_legal(change, cost, mode, name):
    made = instance({**NOTHING, "mode": mode, **change})
    solved = yl.solve(made, name)
    assert solved.status in ("optimal", "feasible")
    assert solved.cost == cost or name in ("random", "flow-merge", "portfolio")
    if name in ("exact", "auto"):
        assert (solved.status, solved.bound, solved.gap) == ("optimal", cost, 0)


@pytest.mark.parametrize("mode", ["constrained", "unconstrained"])
@pytest.mark.parametrize("name", ["exact", "random", "flow-merge", "portfolio"])
def test_every_method_says_infeasible(mode, name):
    solved = yl.solve(instance({**NOTHING, "mode": mode}), name)
    assert (solved.status, solved.cost, solved.bound, solved.gap, solved.solution) == ("infeasible",) + (None,) * 4
    assert "no groups" in solved.reason


@pytest.mark.parametrize("name", ["lp", "tree"])
def test_every_bound_says_infeasible(name):
    bounded = yl.bound(instance(NOTHING), name)
    assert (bounded.status, bounded.bound) == ("infeasible", None)


@settings(max_examples=300)
@given(documents())
def test_infeasible_exactly_where_enumeration_finds_nothing(document):
    assert (why_infeasible(instance(document)) is not None) == (brute_force.optimum(document) == math.inf)


def test_no_certificate_of_infeasibility_is_made_up():
    assert in_process.method(instance(NOTHING), "exact", certify=True).certificate is None
