"""The dissemination tree: checked once, then walked level by level with arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from yardline.models import checks
from yardline.models.checks import Indices


def parents(given: object) -> Indices:
    """Parents as an array with -1 for the root, which must be node 0 and the only one; no cycles."""
    rows = checks.listing(given, "parent")
    if len(rows) == 0:
        raise ValueError("parent is empty: expected at least the root")
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":  # no room for null: -1 stands for it
        result = rows.astype(np.int64)
    else:
        result = np.array([_parent(entry, v, len(rows)) for v, entry in enumerate(rows)], dtype=np.int64)
    _check(result)
    return checks.frozen(result)


def _parent(entry: Any, v: int, n: int) -> int:
    if entry is None or (isinstance(entry, np.floating) and np.isnan(entry)):
        return -1
    return checks.integer(entry, f"parent[{v}]", high=n - 1)


def _check(parent: Indices) -> None:
    if parent[0] != -1:
        checks.fail("parent[0]", int(parent[0]), "null, as node 0 is the root")
    for v in np.flatnonzero(parent[1:] == -1)[:1] + 1:
        raise ValueError(f"parent[{v}] is null: expected a node, as node 0 is the only root")
    for v in np.flatnonzero((parent < -1) | (parent >= len(parent)))[:1]:
        checks.fail(f"parent[{v}]", int(parent[v]), f"a node from 0 to {len(parent) - 1}")
    placed = np.zeros(len(parent), dtype=bool)
    placed[np.concatenate(levels(parent))] = True
    for v in np.flatnonzero(~placed)[:1]:
        raise ValueError(f"parent[{v}] is {parent[v]}: expected a way up to node 0, but it runs in a cycle")


def levels(parent: Indices) -> tuple[Indices, ...]:
    """The nodes of each level, the root's first (nodes on a cycle are in none)."""
    order = np.argsort(parent, kind="stable")
    first = np.searchsorted(parent[order], np.arange(len(parent) + 1))
    result, level = [], np.zeros(1, dtype=np.int64)
    while len(level):
        result.append(level)
        counts = first[level + 1] - first[level]
        ends = np.cumsum(counts)
        level = order[np.arange(counts.sum()) + np.repeat(first[level] - ends + counts, counts)]
    return tuple(result)


def gathered(own: NDArray[np.bool_], parent: Indices, top_down: tuple[Indices, ...]) -> NDArray[np.bool_]:
    """What holds at a node or anywhere below it: nodes x anything."""
    result = own.copy()
    for level in reversed(top_down[1:]):
        np.logical_or.at(result, parent[level], result[level])
    return result


def path(parent: Indices, v: int) -> list[int]:
    """The nodes from the root down to v."""
    way = [v]
    while parent[way[-1]] >= 0:
        way.append(int(parent[way[-1]]))
    return way[::-1]
