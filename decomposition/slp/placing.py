"""Who goes where once filters are given: a flow on groups with the same leaves, beta rising to beta_max; then repair.

Those whom no flow takes (their filters' leaves are full, or no filter holds them) come in at the end, where filters
grow least. Where
that gets stuck, a flow on candidate sets alone moves others over: it takes everybody wherever a valid plan exists.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yardline.decomposition.slp.coreset import Filters, Part, covered
from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.flow import placed, spread_out
from yardline.models.checks import Indices


def assigned(part: Part, filters: Filters, step: float) -> tuple[Indices, float]:
    """A leaf (position) for everybody in the part whom the flow takes, -1 for the others; the load factor where it stopped."""
    table = covered(part, filters, 0.0)
    sets, group = _distinct(table)
    counts = np.bincount(group, minlength=len(sets))
    factor = part.beta
    while True:
        caps = part.caps(factor)
        flow = placed(sets, counts, caps)
        missing = len(part.who) - int(flow.sum())
        if not missing or factor >= part.beta_max:
            break
        factor = min(part.beta_max, factor * (1 + step))
    leaf = spread_out(group, flow)
    return np.where(leaf >= 0, part.leaves[leaf], -1), factor


def moved_over(instance: Assignment, leaf: Indices) -> Indices:
    """Everybody placed (a flow on candidate sets at beta_max), as many as possible where they are; -1: nowhere yet."""
    found = limits.candidates(instance)
    position = np.full(instance.n + 1, -1, dtype=np.int64)
    position[instance.leaves] = np.arange(len(instance.leaves))
    caps = limits.caps(instance)[instance.leaves]
    return instance.leaves[_moved_over(found.of, found.sets, position[leaf], caps)]


def _moved_over(group: Indices, may: NDArray[np.bool_], leaf: Indices, caps: Indices) -> Indices:
    """Largest flow on candidate sets; per set, as many as possible stay where they are."""
    counts = np.bincount(group, minlength=len(may))
    flow = placed(may, counts, caps).toarray()
    result = leaf.copy()
    for g in np.unique(group).tolist():
        mine = np.flatnonzero(group == g)
        left = flow[g].copy()
        stays = np.zeros(len(mine), dtype=bool)
        for l in np.flatnonzero(left).tolist():
            here = np.flatnonzero(leaf[mine] == l)[: left[l]]
            stays[here] = True
            left[l] -= len(here)
        result[mine[~stays]] = np.repeat(np.arange(len(left)), left)[: int((~stays).sum())]
    return result


def _distinct(table: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Indices]:
    """Distinct rows of bits, and which of them each row is."""
    width = (table.shape[1] + 63) // 64 * 64
    bits = np.zeros((len(table), width), dtype=bool)
    bits[:, : table.shape[1]] = table
    words = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    code = np.zeros(len(table), dtype=np.int64)
    for column in words.T:
        values, inverse = np.unique(column, return_inverse=True)
        code = np.unique(code * len(values) + inverse, return_inverse=True)[1]
    first = np.unique(code, return_index=True)[1]
    return table[first], code
