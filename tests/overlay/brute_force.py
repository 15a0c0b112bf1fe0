"""Least costs by enumeration, from PROBLEMS.md alone: plain Python, nothing of the package but the documents.

An instance is its JSON document. Every placement is tried; a mesh takes the cheapest set of links that connects what it
must, over all sets of links; a tree takes the best of all spanning trees.
"""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

Document = dict[str, Any]
EPS = 1e-9


def counted(I: Document) -> list[list[float]]:
    """generate, without what no other user subscribes to."""
    users = range(len(I["generate"]))
    return [
        [
            rate if any(c in I["subscribes"][v] for v in users if v != u) else 0.0
            for c, rate in enumerate(I["generate"][u])
        ]
        for u in users
    ]


def traffic(I: Document) -> list[float]:
    """in + out of each user."""
    g, users = counted(I), range(len(I["generate"]))
    return [sum(g[u]) + sum(g[v][c] for v in users if v != u for c in I["subscribes"][u]) for u in users]


def access(I: Document, broker: tuple[int, ...]) -> float:
    return sum(w * I["access_cost"][u][b] for u, (w, b) in enumerate(zip(traffic(I), broker, strict=True)))


def placements(I: Document) -> list[tuple[int, ...]]:
    """Every way to place all users at open brokers within the capacities."""
    w = traffic(I)
    choices = [[b for b, cost in enumerate(row) if cost is not None] for row in I["access_cost"]]

    def fits(broker: tuple[int, ...]) -> bool:
        return all(
            limit is None or sum(w[u] for u, at in enumerate(broker) if at == b) <= limit * (1 + EPS) + EPS
            for b, limit in enumerate(I["capacity"])
        )

    return [broker for broker in itertools.product(*choices) if fits(broker)]


def reached(links: tuple[tuple[int, int], ...], start: int) -> set[int]:
    found = {start}
    while True:
        more = {j for link in links for i, j in (link, link[::-1]) if i in found} - found
        if not more:
            return found
        found |= more


@cache
def _link_sets(count: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Every set of links that could be a tree: at most brokers - 1 of them."""
    links = list(itertools.combinations(range(count), 2))
    return tuple(s for k in range(count) for s in itertools.combinations(links, k))


@cache
def _spanning(count: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    return tuple(s for s in _link_sets(count) if len(s) == count - 1 and len(reached(s, 0)) == count)


def weight(I: Document, links: tuple[tuple[int, int], ...]) -> float:
    return sum(I["core_cost"][i][j] for i, j in links)


def mesh_core(I: Document, broker: tuple[int, ...]) -> float:
    """Per source broker and channel, the rate times the cheapest links that connect what they must."""
    g, count, total, known = counted(I), len(I["core_cost"]), 0.0, {}
    for c in range(len(g[0]) if g else 0):
        hosts = frozenset(at for u, at in enumerate(broker) if c in I["subscribes"][u])
        for b in range(count):
            rate = sum(g[u][c] for u, at in enumerate(broker) if at == b)
            if rate > 0:
                if (b, hosts) not in known:
                    known[b, hosts] = min(weight(I, s) for s in _link_sets(count) if hosts <= reached(s, b))
                total += rate * known[b, hosts]
    return total


def tree_core(I: Document, broker: tuple[int, ...], links: tuple[tuple[int, int], ...]) -> float:
    """Per link and direction, the rate on the near side of channels that somebody on the far side subscribes to."""
    g, total = counted(I), 0.0
    for link in links:
        rest = tuple(other for other in links if other != link)
        for near, far in ((link[0], link[1]), (link[1], link[0])):
            here, there = reached(rest, near), reached(rest, far)
            for c in range(len(g[0]) if g else 0):
                if any(c in I["subscribes"][u] and at in there for u, at in enumerate(broker)):
                    rate = sum(g[u][c] for u, at in enumerate(broker) if at in here)
                    total += rate * I["core_cost"][link[0]][link[1]]
    return total


def core(I: Document, broker: tuple[int, ...]) -> float:
    if I["topology"] == "mesh":
        return mesh_core(I, broker)
    return min(tree_core(I, broker, links) for links in _spanning(len(I["core_cost"])))


def optimum(I: Document) -> float:
    """The least cost of a valid plan; infinite where there is none."""
    best = math.inf
    for cost, broker in sorted((access(I, broker), broker) for broker in placements(I)):
        if cost >= best:
            break
        best = min(best, cost + core(I, broker))
    return best
