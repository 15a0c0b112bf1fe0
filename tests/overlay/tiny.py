"""Tiny instances as documents, for every topology and option."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

RATES = [0, 0, 1, 2, 5, 0.5]
COSTS = [0, 1, 2, 3, 7, 0.25]


@st.composite
def overlays(draw: Any, *, topology: str | None = None, users: int = 4, brokers: int = 4) -> dict[str, Any]:
    """Users 0..4, brokers 1..4, channels 0..3; zero and equal costs, brokers not open, capacities tight or missing."""
    U, B, T = draw(st.integers(0, users)), draw(st.integers(1, brokers)), draw(st.integers(0, 3))
    core = [[0.0] * B for _ in range(B)]
    for i in range(B):
        for j in range(i):
            core[i][j] = core[j][i] = draw(st.sampled_from(COSTS))
    cost = st.sampled_from([None, *COSTS, *COSTS])
    limit = st.sampled_from([None, None, 0, 3, 6, 10, 16])
    return {
        "generate": [[draw(st.sampled_from(RATES)) for _ in range(T)] for _ in range(U)],
        "subscribes": [sorted(draw(st.sets(st.integers(0, T - 1)))) if T else [] for _ in range(U)],
        "access_cost": [[draw(cost) for _ in range(B)] for _ in range(U)],
        "core_cost": core,
        "capacity": [draw(limit) for _ in range(B)],
        "topology": topology or draw(st.sampled_from(["mesh", "tree"])),
    }


@st.composite
def far_apart(draw: Any, topology: str | None = None) -> dict[str, Any]:
    """Users at home at different brokers, the last broker a hub: core costs and Steiner brokers decide."""
    B, U, T = draw(st.integers(3, 4)), draw(st.integers(2, 4)), draw(st.integers(1, 2))
    core = [[0.0] * B for _ in range(B)]
    for i in range(B):
        for j in range(i):
            core[i][j] = core[j][i] = draw(st.sampled_from([1, 1.25] if i == B - 1 else [1.75, 2, 2.5]))
    home = [draw(st.integers(0, B - 2)) for _ in range(U)]
    away = st.sampled_from([3, 6, None])
    return {
        "generate": [[draw(st.sampled_from([0, 1, 2, 5])) for _ in range(T)] for _ in range(U)],
        "subscribes": [sorted(draw(st.sets(st.integers(0, T - 1)))) for _ in range(U)],
        "access_cost": [[0 if b == home[u] else draw(away) for b in range(B)] for u in range(U)],
        "core_cost": core,
        "capacity": [draw(st.sampled_from([None, None, 8, 16])) for _ in range(B)],
        "topology": topology or draw(st.sampled_from(["mesh", "tree"])),
    }


def any_overlay(topology: str | None = None) -> Any:
    """One of both kinds."""
    return st.one_of(overlays(topology=topology), far_apart(topology=topology))
