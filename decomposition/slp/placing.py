"""Who goes where once filters are given: a flow on groups with the same leaves, beta rising to beta_max; then repair.

Those whom no flow takes (their filters' leaves are full, or no filter holds them) come in at the end, where filters
grow least. Where that gets stuck, a flow on candidate sets alone moves others over: it takes everybody wherever a valid
plan exists.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yardline.decomposition.slp.settings import Filters, Part, Table, covered
from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.flow import distinct, placed, spread_out
from yardline.models.assignment.load import least_cut
from yardline.models.checks import Indices


def assigned(part: Part, filters: Filters, step: float) -> tuple[Indices, float]:
    """A leaf (position) for everybody in the part whom the flow takes, -1 for the others; the load factor where it stopped.

    Where not even beta_max takes everybody, what it takes is the answer; else beta rises step by step until all are in.
    """
    sets, group = distinct(covered(part, filters))
    counts = np.bincount(group, minlength=len(sets))
    most, factor = part.instance.beta_max, part.beta
    whole = placed(sets, counts, part.caps(most))
    everybody = int(whole.sum())
    flow = placed(sets, counts, part.caps(factor)) if factor < most else whole
    while int(flow.sum()) < everybody:
        factor = min(most, factor * (1 + step)) if everybody == len(part.who) else most
        flow = placed(sets, counts, part.caps(factor)) if factor < most else whole
    leaf = spread_out(group, flow)
    return np.where(leaf >= 0, part.leaves[leaf], -1), factor


def left_out(table: Table, caps: Indices) -> NDArray[np.bool_]:
    """Those whom no flow through their leaves can all place: who have leaves on the near side of a least cut only."""
    sets, group = distinct(table)
    counts = np.bincount(group, minlength=len(sets))
    cut = least_cut(sets, counts, caps)
    if cut is None:
        return np.zeros(len(table), dtype=bool)
    return np.asarray(~(sets & ~cut).any(axis=1))[group]


def moved_over(instance: Assignment, leaf: Indices) -> Indices:
    """Everybody placed (a flow on candidate sets at beta_max), as many as possible where they are; -1: nowhere yet."""
    found = limits.candidates(instance)
    position = np.full(instance.n + 1, -1, dtype=np.int64)
    position[instance.leaves] = np.arange(len(instance.leaves))
    caps = limits.caps(instance)[instance.leaves]
    return instance.leaves[_moved_over(found.of, found.sets, position[leaf], caps)]


def _moved_over(group: Indices, may: Table, leaf: Indices, caps: Indices) -> Indices:
    """Largest flow on candidate sets; per set, as many as possible stay where they are."""
    flow = placed(may, np.bincount(group, minlength=len(may)), caps).toarray()
    result, order = leaf.copy(), np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(may) + 1))
    for g in range(len(may)):
        mine, left = order[starts[g] : starts[g + 1]], flow[g].copy()
        stays = np.zeros(len(mine), dtype=bool)
        for l in np.flatnonzero(left).tolist():
            here = np.flatnonzero(leaf[mine] == l)[: left[l]]
            stays[here] = True
            left[l] -= len(here)
        result[mine[~stays]] = np.repeat(np.arange(len(left)), left)[: int((~stays).sum())]
    return result
