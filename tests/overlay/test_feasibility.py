"""Why there is no valid plan: the reasons are true, small, and given exactly where there is none."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from overlay import brute_force
from overlay.solving import solved

from yardline.models.overlay import feasibility
from yardline.models.overlay.assembly import assemble
from yardline.models.overlay.data import Overlay
from yardline.models.overlay.feasibility import why_infeasible


def talkers(loads: list[int], open_to: list[list[int]], capacity: list[float | None]) -> dict[str, Any]:
    """Users who publish `loads` to a listener, the last user, who alone may use the last broker, which is unlimited."""
    B = len(capacity) + 1
    rows = [[1 if b in brokers else None for b in range(B)] for brokers in open_to]
    return {
        "generate": [[load] for load in loads] + [[0]],
        "subscribes": [[] for _ in loads] + [[0]],
        "access_cost": [*rows, [None] * (B - 1) + [1]],
        "core_cost": [[0 if i == j else 1 for j in range(B)] for i in range(B)],
        "capacity": [*capacity, None],
        "topology": "mesh",
    }


def reason(*arguments: Any) -> str | None:
    instance = Overlay.from_document(talkers(*arguments))
    found = why_infeasible(instance)
    assert (found is None) == (solved(assemble(instance))[1] is not None)
    return found


def test_no_open_broker() -> None:
    assert reason([1, 1], [[0], []], [9]) == "user 1 is open to no broker (access_cost[1] is null throughout)"


def test_too_heavy_for_any() -> None:
    found = reason([7, 1], [[0, 1], [0]], [5, 6])
    assert found == "user 0 brings traffic 7, more than any broker open to it may take (broker 0: 5, broker 1: 6)"


def test_too_many_for_one_broker() -> None:
    # users 0, 2 and 3 can only use broker 1 and bring 3 + 2 + 1; the two heaviest are already too much for 4.
    found = reason([3, 5, 2, 1], [[1], [0, 1], [1], [1]], [9, 4])
    assert found == "users 0 and 2 can only use broker 1, which may take 4, but bring traffic 5"


def test_too_many_for_two_of_three_brokers() -> None:
    # users 0..3 (2 each) share brokers 0 and 1 (3 each); user 4 and broker 2 have nothing to do with it.
    found = reason([2, 2, 2, 2, 1], [[0, 1]] * 4 + [[2]], [3, 3, 9])
    assert found == "users 0, 1, 2 and 3 can only use brokers 0 and 1, which may take 6 together, but bring traffic 8"


def test_indivisible_users() -> None:
    # 3 + 3 + 3 is within 5 + 5, but two of them are over 5; the user of 1 and broker 2 are not part of the reason.
    found = reason([3, 3, 3, 1], [[0, 1]] * 3 + [[0, 1, 2]], [5, 5, 1])
    assert found == (
        "users 0, 1 and 2 (traffic 3, 3, 3) can only use brokers 0 and 1 and cannot be divided among them "
        "without going over a capacity (broker 0: 5, broker 1: 5)"
    )


@pytest.mark.parametrize("widening", [0.9, 3.0])
def test_limit_met_within_the_widening_is_feasible(widening: float) -> None:
    # 3 + 3 into 6 / (1 + widening * 1e-9): widened, that is above 6 for 0.9, below for 3 (the absolute part is 1e-9)
    short = 6 / (1 + widening * 1e-9)
    instance = Overlay.from_document(talkers([3, 3], [[0], [0]], [short]))
    assert (why_infeasible(instance) is None) == (widening < 1)


def test_solver_tolerance_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    # three of 1 + 1e-7 go over 2 at each of two brokers by 2e-7: within a solver's tolerance, beyond the problem's.
    document = talkers([1, 1, 1], [[0, 1]] * 3, [2, 1])
    document["generate"] = [[1 + 1e-7], [1 + 1e-7], [1 - 3e-7], [0]]
    instance = Overlay.from_document(document)
    monkeypatch.setattr(feasibility, "_crowded", lambda instance: None)
    # only {0, 2} or {1, 2} fit at broker 0 (2 - 2e-7), and then 1 + 1e-7 is over 1 at broker 1
    assert not any(
        (np.bincount(at, weights=instance.traffic[:3], minlength=2) <= instance.limit[:2]).all()
        for at in itertools.product(range(2), repeat=3)
    )
    assert why_infeasible(instance) is not None


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_reason_iff_infeasible_and_true(data: Any) -> None:
    count, B = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 3))
    loads = data.draw(st.lists(st.sampled_from([0, 1, 2, 3, 5, 7]), min_size=count, max_size=count))
    open_to = [sorted(data.draw(st.sets(st.integers(0, B - 1)))) for _ in loads]
    capacity = [data.draw(st.sampled_from([None, 2, 4, 6, 8])) for _ in range(B)]
    document = talkers(loads, open_to, capacity)
    found = why_infeasible(Overlay.from_document(document))
    assert (found is None) == bool(brute_force.placements(document))
    if found is not None:
        check_reason(document, found)


def check_reason(document: dict[str, Any], found: str) -> None:
    """The users that a reason names cannot be placed, even if there were no others."""
    head = re.match(r"users? ([\d, and]+)", found)
    assert head is not None, found
    named = [int(number) for number in re.findall(r"\d+", head[1])]
    w = brute_force.traffic(document)
    choices = [[b for b, cost in enumerate(document["access_cost"][u]) if cost is not None] for u in named]
    for at in itertools.product(*choices):
        loads = [sum(w[u] for u, b in zip(named, at, strict=True) if b == k) for k in range(len(document["capacity"]))]
        assert any(c is not None and load > c for load, c in zip(loads, document["capacity"], strict=True)), found


def test_large_and_full_is_quick_to_refuse() -> None:
    rng = np.random.default_rng(0)
    generate = rng.random((3000, 5))
    instance = Overlay(
        generate=generate,
        subscribes=[[int(c)] for c in rng.integers(5, size=3000)],
        access_cost=rng.random((3000, 40)),
        core_cost=np.ones((40, 40)) - np.eye(40),
        capacity=[None] * 40,
        topology="mesh",
    )
    room = float(instance.traffic.sum()) / 40
    full = Overlay.from_document({**instance.document(), "capacity": [0.99 * room] * 40})
    found = why_infeasible(full)
    assert found is not None
    assert "can only use brokers 0, 1," in found
    roomy = Overlay.from_document({**instance.document(), "capacity": [1.01 * room] * 40})
    assert why_infeasible(roomy) is None
