"""What a recursion over sets of formats needs of an instance: the formats that matter, and the nodes in an order to walk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from yardline.models.checks import Indices
from yardline.models.customization import graph
from yardline.models.customization.data import Customization


@dataclass(frozen=True, eq=False)
class Subsets:
    """Formats that can be made and become something requested, renumbered from 0; nodes with requests below, in post-order."""

    formats: Indices
    source: int  # the source's new number
    order: Indices  # every node after its children, depth first
    wanted: Indices  # per node, the requested formats as bits
    conversion: Indices  # (from, to) in the instance's order -> new numbers, -1 where a format does not matter


def subsets(instance: Customization) -> Subsets:
    """The formats and nodes of an instance that its plans are about."""
    formats = np.union1d(np.flatnonzero(graph.useful(instance).any(axis=0)), [instance.source])
    number = np.full(instance.m, -1)
    number[formats] = np.arange(len(formats))
    bits = np.zeros(instance.n, dtype=np.int64)
    if len(formats) < 63:
        nodes = np.repeat(np.arange(instance.n), np.diff(instance.requests.indptr))
        place = number[instance.requests.indices]
        np.bitwise_or.at(bits, nodes[place >= 0], np.int64(1) << place[place >= 0])
    return Subsets(formats, int(number[instance.source]), post_order(instance), bits, number[instance.conversions])


def post_order(instance: Customization) -> Indices:
    """The nodes with requests in their subtree, each after its children, depth first."""
    children: list[list[int]] = [[] for _ in range(instance.n)]
    for v in np.flatnonzero(instance.awaiting[1:]).tolist():
        children[instance.parent[v + 1]].append(v + 1)
    backwards, waiting = [], [0]
    while waiting:
        v = waiting.pop()
        backwards.append(v)
        waiting += children[v]
    return np.array(backwards[::-1], dtype=np.int64)


def table(instance: Customization, sets: Subsets, conversion_cost: NDArray[Any], missing: float) -> NDArray[Any]:
    """Costs of conversions as a matrix over the formats that matter."""
    m = len(sets.formats)
    result = np.full((m, m), missing, dtype=conversion_cost.dtype)
    f, g = sets.conversion.T
    both = (f >= 0) & (g >= 0)
    result[f[both], g[both]] = conversion_cost[both]
    return result
