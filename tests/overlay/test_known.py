"""Optima worked by hand, and what must happen to the optimum when an instance changes in a known way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from overlay.solving import solved
from overlay.tiny import any_overlay

from yardline.models.overlay.assembly import assemble
from yardline.models.overlay.data import Overlay
from yardline.models.overlay.parties import parties, useful_links

QUICK = settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
FAR = 1000


def optimum(document: dict[str, Any]) -> float:
    return solved(assemble(Overlay.from_document(document)))[0]


def hub(**changes: Any) -> dict[str, Any]:
    """Three users at home at brokers 0, 1, 2 (cost 0 there); user 0 publishes 1 to the others; broker 3 is a hub."""
    document = {
        "generate": [[1], [0], [0]],
        "subscribes": [[], [0], [0]],
        "access_cost": [[0 if b == u else FAR for b in range(4)] for u in range(3)],
        "core_cost": [[0, 5, 5, 3], [5, 0, 5, 3], [5, 5, 0, 3], [3, 3, 3, 0]],
        "capacity": [None] * 4,
        "topology": "mesh",
    }
    return {**document, **changes}


def test_steiner_broker_pays() -> None:
    # a star over the hub costs 3 * 3 = 9; a spanning tree of 0, 1, 2 costs 2 * 5 = 10.
    assert optimum(hub()) == pytest.approx(9)


def test_two_terminals_do_not_need_the_hub() -> None:
    # from 0 to 1 directly: 5 < 3 + 3.
    assert optimum(hub(subscribes=[[], [0], []])) == pytest.approx(5)


def test_links_beyond_the_triangle_are_walked_around() -> None:
    # the link 0-1 of 50 is replaced by the path over the hub: 3 + 3.
    core = [[0, 50, 50, 3], [50, 0, 50, 3], [50, 50, 0, 3], [3, 3, 3, 0]]
    assert optimum(hub(subscribes=[[], [0], []], core_cost=core)) == pytest.approx(6)


def test_one_tree_serves_two_channels_that_want_different_trees() -> None:
    # 0 -> 1 and 1 -> 2 and 2 -> 0, rate 1 each. A mesh uses three direct links: 15. A single tree over the hub: each
    # message crosses two links of 3: 18; a path 0-1-2: 5 + 5 + 10 = 20. So 18.
    ring = hub(generate=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], subscribes=[[2], [0], [1]])
    assert optimum(ring) == pytest.approx(15)
    assert optimum({**ring, "topology": "tree"}) == pytest.approx(18)


def test_capacity_separates_friends() -> None:
    # Two users exchange 1 each way (traffic 2 each). Broker 0 is free for both but takes 3 only. Apart: one pays 2 * 9
    # at broker 1, and the core carries 1 + 1 over the link of 5: 28. Both at broker 1: 4 * 9 = 36.
    pair = {
        "generate": [[1, 0], [0, 1]],
        "subscribes": [[1], [0]],
        "access_cost": [[0, 9], [0, 9]],
        "core_cost": [[0, 5], [5, 0]],
        "capacity": [3, None],
        "topology": "mesh",
    }
    assert optimum(pair) == pytest.approx(28)
    # room for both at broker 0: nothing to pay
    assert optimum({**pair, "capacity": [4, None]}) == pytest.approx(0)
    # room for nobody at broker 0
    assert optimum({**pair, "capacity": [1, None]}) == pytest.approx(36)
    # broker 1 at 1: together there for 4 * 1 rather than apart for 2 * 1 + 10
    assert optimum({**pair, "access_cost": [[0, 1], [0, 1]]}) == pytest.approx(4)


def test_one_broker() -> None:
    # everybody at the only broker: traffic 1 (out) + 1 + 1 (in) at cost 2
    document = hub(access_cost=[[2]] * 3, core_cost=[[0]], capacity=[None])
    assert optimum(document) == pytest.approx(6)
    assert optimum({**document, "topology": "tree"}) == pytest.approx(6)


def test_parties_share_trees() -> None:
    # channel 0 is written and read by users 0 and 1, user 2 writes to it from outside; channel 1 is 0 -> 1 again.
    instance = Overlay.from_document(hub(generate=[[1, 4], [2, 0], [3, 0]], subscribes=[[0], [0, 1], []]))
    assert [(party.users, party.rate) for party in parties(instance)] == [((0, 1), 1 + 2 + 4), ((0, 1, 2), 3)]


def test_useful_links() -> None:
    # 0-1 (5) is as long as 0-2-1 (2 + 3): not needed in a mesh; all links may be in a spanning tree.
    core = [[0, 5, 2], [5, 0, 3], [2, 3, 0]]
    mesh = Overlay.from_document(hub(core_cost=core, capacity=[None] * 3, access_cost=[[0] * 3] * 3))
    assert useful_links(mesh).tolist() == [[0, 2], [1, 2]]
    tree = Overlay.from_document(hub(core_cost=core, capacity=[None] * 3, access_cost=[[0] * 3] * 3, topology="tree"))
    assert useful_links(tree).tolist() == [[0, 1], [0, 2], [1, 2]]


def test_links_of_no_cost_do_not_replace_each_other() -> None:
    # all links cost 0: each could be replaced by two others, but then none would be left
    flat = Overlay.from_document(hub(core_cost=[[0] * 4] * 4))
    assert len(useful_links(flat)) == 6


@QUICK
@given(any_overlay(), st.randoms(use_true_random=False))
def test_names_do_not_matter(document: dict[str, Any], random: Any) -> None:
    users, brokers = list(range(len(document["generate"]))), list(range(len(document["capacity"])))
    channels = list(range(len(document["generate"][0]) if users else 0))
    for order in (users, brokers, channels):
        random.shuffle(order)
    renamed = {
        "generate": [[document["generate"][u][c] for c in channels] for u in users],
        "subscribes": [[channels.index(c) for c in document["subscribes"][u]] for u in users],
        "access_cost": [[document["access_cost"][u][b] for b in brokers] for u in users],
        "core_cost": [[document["core_cost"][i][j] for j in brokers] for i in brokers],
        "capacity": [document["capacity"][b] for b in brokers],
        "topology": document["topology"],
    }
    assert optimum(renamed) == pytest.approx(optimum(document), rel=1e-7, abs=1e-7)


@QUICK
@given(any_overlay(), st.sampled_from([0.25, 4.0]))
def test_scaling(document: dict[str, Any], factor: float) -> None:
    costs = {
        "access_cost": [[None if c is None else factor * c for c in row] for row in document["access_cost"]],
        "core_cost": (factor * np.array(document["core_cost"])).tolist(),
    }
    assert optimum({**document, **costs}) == pytest.approx(factor * optimum(document), rel=1e-7, abs=1e-7)
    rates = {
        "generate": [[factor * rate for rate in row] for row in document["generate"]],
        "capacity": [None if c is None else factor * c for c in document["capacity"]],
    }
    assert optimum({**document, **rates}) == pytest.approx(factor * optimum(document), rel=1e-7, abs=1e-7)


@QUICK
@given(any_overlay())
def test_more_freedom_never_costs_more(document: dict[str, Any]) -> None:
    best = optimum(document)
    assume(best < float("inf"))
    slack = best + 1e-7 * max(1.0, best)
    assert optimum({**document, "capacity": [None] * len(document["capacity"])}) <= slack
    opened = [[99 if cost is None else cost for cost in row] for row in document["access_cost"]]
    assert optimum({**document, "access_cost": opened}) <= slack
    assert optimum({**document, "topology": "mesh"}) <= slack  # own trees for each source and channel
    silent = [[0 if u == 0 else rate for rate in row] for u, row in enumerate(document["generate"])]
    assert optimum({**document, "generate": silent}) <= slack


@QUICK
@given(any_overlay())
def test_useless_broker_user_and_channel_change_nothing(document: dict[str, Any]) -> None:
    if not document["generate"]:
        return
    more = {
        "generate": [[*row, 3] for row in document["generate"]] + [[0] * (len(document["generate"][0]) + 1)],
        "subscribes": [*document["subscribes"], []],
        "access_cost": [[*row, None] for row in document["access_cost"]] + [[0] * (len(document["capacity"]) + 1)],
        "core_cost": [[*row, FAR] for row in document["core_cost"]] + [[FAR] * len(document["core_cost"]) + [0]],
        "capacity": [*document["capacity"], 0],
        "topology": document["topology"],
    }
    assert optimum(more) == pytest.approx(optimum(document), rel=1e-7, abs=1e-7)
