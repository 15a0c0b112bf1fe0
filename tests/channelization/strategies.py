"""Tiny channelization instances for hypothesis, as JSON documents: all modes, all optional weights, odd but legal sizes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from yardline.models.channelization.data import Channelization, ChannelizationPlan

# Quarters are exact in floating point, so that a budget is met or missed clearly; zero is a rate like any other.
quarters = st.integers(0, 32).map(lambda k: k / 4)
weights = st.sampled_from([0, 0.25, 0.5, 1, 1, 1, 1.5, 2, 0.1])


@st.composite
def documents(
    draw: st.DrawFn,
    *,
    modes: tuple[str, ...] = ("constrained", "unconstrained"),
    hybrid: bool | None = None,
    per_flow: bool = True,
    feasible: bool = False,
    most: int = 4,
) -> dict[str, Any]:
    """An instance of at most `most` flows and 3 users."""
    n, m = draw(st.integers(0, most)), draw(st.integers(0, 3))
    mode = draw(st.sampled_from(modes))
    document: dict[str, Any] = {
        "rates": draw(st.lists(quarters, min_size=n, max_size=n)),
        "wants": [sorted(draw(st.sets(st.integers(0, n - 1)))) if n else [] for _ in range(m)],
        "groups": draw(st.sampled_from([1, 2, 2, 3, 7] if feasible else [0, 1, 2, 2, 3, 7])),
        "mode": mode,
        "hybrid": draw(st.booleans()) if hybrid is None else hybrid,
    }
    if mode == "unconstrained" and n == 4:
        document["groups"] = min(document["groups"], 2)  # keeps the enumeration short
    if draw(st.booleans()):
        document["weights"] = {name: draw(weights) for name in ("receive", "send", "unicast")}
    if draw(st.integers(0, 2)) == 0:
        document["send_weight"] = [draw(weights) for _ in range(n)]
    shape = draw(st.sampled_from(["none", "user", "flow"] if per_flow else ["none", "user"]))
    if shape == "user":
        document["receive_weight"] = [draw(weights) for _ in range(m)]
    if shape == "flow" and m:
        document["receive_weight"] = [[draw(weights) for _ in range(n)] for _ in range(m)]
    if document["hybrid"] and draw(st.booleans()):
        document["unicast_budget"] = draw(st.sampled_from([0, 0.25, 1, 2.5, 4, 10]))
    return document


@st.composite
def near_a_budget(draw: st.DrawFn) -> dict[str, Any]:
    """Cheap unicast under a budget that some set of pairs meets, or misses by 1e-8 to 1e-6, with rates that do not add up
    exactly in floating point."""
    document = draw(documents(hybrid=True, feasible=True, most=3))
    rate = st.sampled_from([0.1, 0.2, 0.3, 0.7, 1 / 3, 1e5 / 3])
    document["rates"] = [draw(rate) for _ in document["rates"]]
    document["weights"] = {"unicast": draw(st.sampled_from([0, 0.1, 0.5, 1]))}
    pairs = [i for wanted in document["wants"] for i in wanted]
    chosen = sum(document["rates"][i] for i in pairs if draw(st.booleans()))
    slip = draw(st.sampled_from([0, 1e-8, 1e-7, 1e-6])) * max(1.0, chosen)
    document["unicast_budget"] = max(0.0, chosen - slip)
    return document


def instance(document: dict[str, Any]) -> Channelization:
    """The instance that a document states."""
    return Channelization.from_document(document)


@st.composite
def plans(draw: st.DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    """Any well-formed plan, valid or not."""
    n, m = len(document["rates"]), len(document["wants"])
    count = draw(st.integers(0, 3))
    flows = st.sets(st.integers(0, n - 1)) if n else st.just(set())
    joined = st.sets(st.integers(0, count - 1)) if count else st.just(set())
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)) if n and m else None
    return {
        "groups": [sorted(draw(flows)) for _ in range(count)],
        "subscriptions": [sorted(draw(joined)) for _ in range(m)],
        "unicast": [list(p) for p in sorted(draw(st.sets(pair, max_size=4)))] if pair is not None else [],
    }


def plan(document: dict[str, Any], of: Channelization) -> ChannelizationPlan:
    """The plan that a document states."""
    return ChannelizationPlan.from_document(document, of)
