"""What must not change the optimum, and what may change it in one direction only."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
from customization.strategies import instances
from customization.support import best
from hypothesis import given, settings
from hypothesis import strategies as st

Document = dict[str, Any]
METAMORPHIC = settings(deadline=None, max_examples=60)


def equal(first: Document, second: Document, factor: float = 1.0) -> None:
    assert best(second) == pytest.approx(factor * best(first), rel=1e-7, abs=1e-9)


def renamed_formats(document: Document, name: list[int]) -> Document:
    result = copy.deepcopy(document)
    result["requests"] = [[name[f] for f in wanted] for wanted in document["requests"]]
    for f, entry in enumerate(document["formats"]):
        result["formats"][name[f]] = entry
    for conversion in result["conversions"]:
        conversion.update({"from": name[conversion["from"]], "to": name[conversion["to"]]})
    return result | {"source": name[document["source"]]}


def renamed_nodes(document: Document, name: list[int]) -> Document:
    result = copy.deepcopy(document)
    for v, new in enumerate(name):
        above = document["parent"][v]
        result["parent"][new] = above if above is None else name[above]
        for field in ("requests", "link_weight", "node_weight"):
            if field in document:
                result[field][new] = document[field][v]
    return result


@METAMORPHIC
@given(instances(), st.data())
def test_names_of_formats_do_not_matter(document: Document, data: Any) -> None:
    name = data.draw(st.permutations(range(len(document["formats"]))))
    equal(document, renamed_formats(document, list(name)))


@METAMORPHIC
@given(instances(), st.data())
def test_names_of_nodes_do_not_matter(document: Document, data: Any) -> None:
    name = [0, *data.draw(st.permutations(range(1, len(document["parent"]))))]
    equal(document, renamed_nodes(document, name))


@METAMORPHIC
@given(instances(), st.sampled_from([0.125, 0.5, 4.0, 1024.0]))
def test_costs_scale(document: Document, factor: float) -> None:
    scaled = copy.deepcopy(document)
    for entry in scaled["formats"]:
        entry["transmission"] *= factor
    for conversion in scaled["conversions"]:
        conversion["cost"] *= factor
    equal(document, scaled, factor)
    weighted = document | {"alpha": factor * document.get("alpha", 1), "beta": factor * document.get("beta", 1)}
    equal(document, weighted, factor)


@METAMORPHIC
@given(instances(), st.data())
def test_a_node_without_requests_changes_nothing(document: Document, data: Any) -> None:
    more = copy.deepcopy(document)
    more["parent"].append(data.draw(st.integers(0, len(document["parent"]) - 1)))
    more["requests"].append([])
    for field in ("link_weight", "node_weight"):
        if field in more:
            more[field].append(1)
    equal(document, more)


@METAMORPHIC
@given(instances(), st.data())
def test_a_format_that_leads_nowhere_changes_nothing(document: Document, data: Any) -> None:
    more, m = copy.deepcopy(document), len(document["formats"])
    more["formats"].append({"name": "dead end", "transmission": 0})
    more["conversions"].append({"from": data.draw(st.integers(0, m - 1)), "to": m, "cost": 0})
    equal(document, more)


@METAMORPHIC
@given(instances(), st.data())
def test_a_relay_without_weight_changes_nothing(document: Document, data: Any) -> None:
    """A new node on a link whose second half costs nothing may do what the node below does, at the same price."""
    n = len(document["parent"])
    if n == 1:
        return
    v = data.draw(st.integers(1, n - 1))
    more = copy.deepcopy(document)
    for field in ("link_weight", "node_weight"):
        more.setdefault(field, [1] * n)
        more[field].append(more[field][v])
    more["link_weight"][v] = 0
    more["parent"].append(document["parent"][v])
    more["parent"][v] = n
    more["requests"].append([])
    equal(document, more)


@METAMORPHIC
@given(instances(), st.data())
def test_one_more_conversion_never_costs_more(document: Document, data: Any) -> None:
    m = len(document["formats"])
    there = {(c["from"], c["to"]) for c in document["conversions"]}
    free = [(f, g) for f in range(m) for g in range(m) if f != g and (f, g) not in there]
    if not free:
        return
    f, g = data.draw(st.sampled_from(free))
    more = copy.deepcopy(document)
    more["conversions"].append({"from": f, "to": g, "cost": data.draw(st.integers(0, 3))})
    assert best(more) <= best(document) + 1e-7


@METAMORPHIC
@given(instances(), st.data())
def test_one_request_less_never_costs_more(document: Document, data: Any) -> None:
    requests = [(v, f) for v, wanted in enumerate(document["requests"]) for f in wanted]
    if not requests:
        return
    v, f = data.draw(st.sampled_from(requests))
    fewer = copy.deepcopy(document)
    fewer["requests"][v].remove(f)
    assert best(fewer) <= best(document) + 1e-7


@METAMORPHIC
@given(instances(), st.integers(0, 3))
def test_a_dearer_conversion_never_costs_less(document: Document, extra: int) -> None:
    if not document["conversions"]:
        return
    dearer = copy.deepcopy(document)
    dearer["conversions"][0]["cost"] += extra
    before, after = best(document), best(dearer)
    assert after >= before - 1e-7
    if before < math.inf:
        weights = document.get("node_weight", [1] * len(document["parent"]))
        assert after <= before + extra * document.get("beta", 1) * sum(weights) + 1e-7  # done at every node at most
