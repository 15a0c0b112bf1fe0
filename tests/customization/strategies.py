"""Tiny customization instances and plans for hypothesis: all options, requests anywhere, formats out of reach."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

COSTS = st.sampled_from([1, 2, 3, 5, 8, 9, 0.5, 2.25, 0])
WEIGHTS = st.sampled_from([1, 2, 3, 0.5, 0])
FACTORS = st.sampled_from([1, 0.1, 0.5, 2, 3, 0])


@st.composite
def parents(draw: Any, n: int) -> list[int | None]:
    """A tree on n nodes with root 0, parents before or after their children."""
    grown = [None, *(draw(st.integers(0, v - 1)) for v in range(1, n))]
    name = [0, *draw(st.permutations(range(1, n)))]
    result: list[int | None] = [None] * n
    for v in range(1, n):
        result[name[v]] = name[grown[v]]  # type: ignore[index]
    return result


@st.composite
def conversions(draw: Any, m: int, source: int, most: int) -> list[tuple[int, int]]:
    """Pairs of formats; mostly such that everything can be made from the source."""
    chosen, order = set(), [source, *draw(st.permutations([f for f in range(m) if f != source]))]
    if draw(st.integers(0, 4)) < 4:
        chosen = {(order[draw(st.integers(0, k - 1))], order[k]) for k in range(1, m)}
    pairs = [(f, g) for f in range(m) for g in range(m) if f != g]
    if pairs:
        chosen |= set(draw(st.lists(st.sampled_from(pairs), max_size=most)))
    return sorted(chosen)[:most]


@st.composite
def instances(draw: Any, most_nodes: int = 4, most_formats: int = 4, most_conversions: int = 7) -> dict[str, Any]:
    n = draw(st.sampled_from([k for k in (2, 3, 4, 5, 1) if k <= most_nodes]))
    m = draw(st.sampled_from([k for k in (3, 4, 2, 1) if k <= most_formats]))
    source = draw(st.integers(0, m - 1))
    chosen = draw(conversions(m, source, most_conversions))
    formats = st.lists(st.integers(0, m - 1), unique=True, max_size=m)
    document: dict[str, Any] = {
        "parent": draw(parents(n)),
        "requests": [draw(formats) for _ in range(n)],
        "formats": [{"name": f"f{f}", "transmission": draw(COSTS)} for f in range(m)],
        "conversions": [{"from": f, "to": g, "cost": draw(COSTS)} for f, g in chosen],
        "source": source,
    }
    for name, values in (("alpha", FACTORS), ("beta", FACTORS)):
        if draw(st.booleans()):
            document[name] = draw(values)
    for name in ("link_weight", "node_weight"):
        if draw(st.booleans()):
            document[name] = [draw(WEIGHTS) for _ in range(n)]
    return document


@st.composite
def instances_with_plans(draw: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """An instance and any plan, mostly invalid."""
    document = draw(instances())
    n, m = len(document["parent"]), len(document["formats"])
    pairs = [[c["from"], c["to"]] for c in document["conversions"]]
    sends = st.lists(st.integers(0, m - 1), unique=True)
    converts = st.lists(st.sampled_from(pairs), unique_by=tuple) if pairs else st.just([])
    plan = {"sends": [draw(sends) for _ in range(n)], "converts": [draw(converts) for _ in range(n)]}
    if draw(st.booleans()):
        plan["sends"][0] = []
    return document, plan
