"""Brute force for customization, written from the statement of the problem on plain documents; shares no code with it.

`cost` and `broken_rules` read a plan literally. `least_cost` tries, node by node, every set of conversions on every set
of formats that may arrive, and every set of formats on every link; `least_of_all_plans` tries every plan there is (a
dozen arcs at most).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

Document = dict[str, Any]
Formats = frozenset[int]


def subsets(items: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    pool = list(items)
    return itertools.chain.from_iterable(itertools.combinations(pool, k) for k in range(len(pool) + 1))


def closure(arrived: Iterable[int], pairs: Iterable[tuple[int, int]]) -> Formats:
    """What repeatedly applying conversions makes of what has arrived."""
    have, again = set(arrived), True
    while again:
        more = {g for f, g in pairs if f in have} - have
        have |= more
        again = bool(more)
    return frozenset(have)


def children(instance: Document, v: int) -> list[int]:
    return [k for k, p in enumerate(instance["parent"]) if p == v]


def asks(instance: Document, v: int) -> bool:
    return bool(instance["requests"][v]) or any(asks(instance, k) for k in children(instance, v))


def weight(instance: Document, name: str, v: int) -> float:
    return instance[name][v] if name in instance else 1


def tau(instance: Document, f: int) -> float:
    return instance["formats"][f]["transmission"]


def price(instance: Document) -> dict[tuple[int, int], float]:
    return {(c["from"], c["to"]): c["cost"] for c in instance["conversions"]}


def cost(instance: Document, plan: Document) -> float:
    nodes, conversion = range(1, len(instance["parent"])), price(instance)
    sent = sum(weight(instance, "link_weight", v) * tau(instance, f) for v in nodes for f in plan["sends"][v])
    done = sum(
        weight(instance, "node_weight", v) * conversion[f, g]
        for v, pairs in enumerate(plan["converts"])
        for f, g in pairs
    )
    return instance.get("alpha", 1) * sent + instance.get("beta", 1) * done


def broken_rules(instance: Document, plan: Document) -> set[str]:
    broken = {"root-link"} if plan["sends"][0] else set()
    for v in range(len(instance["parent"])):
        arrived = [instance["source"]] if v == 0 else plan["sends"][v]
        pairs = [tuple(pair) for pair in plan["converts"][v]]
        have = closure(arrived, pairs)
        if not have >= set(instance["requests"][v]):
            broken.add("request")
        if any(not have >= set(plan["sends"][k]) for k in children(instance, v)):
            broken.add("send")
        if any(f not in have for f, _ in pairs):
            broken.add("conversion-input")
        if v and plan["sends"][v] and not asks(instance, v):
            broken.add("idle-link")
    return broken


def least_cost(instance: Document) -> float:
    """The cost of a best plan, infinite if there is none."""
    conversion, formats = price(instance), range(len(instance["formats"]))
    makes: dict[Formats, dict[Formats, float]] = {}  # arrived -> available -> least cost of conversions
    for arrived in map(frozenset, subsets(formats)):
        row = makes.setdefault(arrived, {})
        for pairs in subsets(conversion):
            have = closure(arrived, pairs)
            row[have] = min(row.get(have, math.inf), sum(conversion[pair] for pair in pairs))
    return _least(instance, 0, frozenset([instance["source"]]), makes, {})


def _least(instance: Document, v: int, arrived: Formats, makes: Any, known: dict[Any, float]) -> float:
    if (v, arrived) not in known:
        factor = instance.get("beta", 1) * weight(instance, "node_weight", v)
        known[v, arrived] = min(
            (
                factor * work + sum(_into(instance, k, have, makes, known) for k in children(instance, v))
                for have, work in makes[arrived].items()
                if have >= set(instance["requests"][v])
            ),
            default=math.inf,
        )
    return known[v, arrived]


def _into(instance: Document, k: int, have: Formats, makes: Any, known: dict[Any, float]) -> float:
    """The least cost of a child's link and subtree, when its parent has these formats."""
    if not asks(instance, k):
        return 0.0
    factor = instance.get("alpha", 1) * weight(instance, "link_weight", k)
    return min(
        factor * sum(tau(instance, f) for f in sent) + _least(instance, k, frozenset(sent), makes, known)
        for sent in subsets(have)
    )


def least_of_all_plans(instance: Document) -> float:
    """The same by trying every plan: every set of sends and conversions, kept if it breaks no rule."""
    nodes, formats = range(len(instance["parent"])), range(len(instance["formats"]))
    sends = [(v, f) for v in nodes[1:] for f in formats]
    converts = [(v, pair) for v in nodes for pair in price(instance)]
    best = math.inf
    for arcs in subsets([("send", *arc) for arc in sends] + [("convert", *arc) for arc in converts]):
        plan = {
            "sends": [[f for kind, u, f in arcs if kind == "send" and u == v] for v in nodes],
            "converts": [[pair for kind, u, pair in arcs if kind == "convert" and u == v] for v in nodes],
        }
        if not broken_rules(instance, plan):
            best = min(best, cost(instance, plan))
    return best
