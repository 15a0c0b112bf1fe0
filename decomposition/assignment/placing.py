"""Who goes where once filters are given: a flow on groups with the same leaves, beta rising to beta_max; then repair.

Those whom no flow takes (their filters' leaves are full, or no filter holds them) come in at the end, where filters
grow least. Where that gets stuck, a flow on candidate sets alone moves others over: it takes everybody wherever a valid
plan exists.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from yardline.decomposition.assignment.settings import Filters, Part, Table, covered
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
    """Everybody placed at beta_max, where that can be; those who have a leaf (-1: none yet) move only to make room."""
    found = limits.candidates(instance)
    position = np.full(instance.n + 1, -1, dtype=np.int64)
    position[instance.leaves] = np.arange(len(instance.leaves))
    caps = limits.caps(instance)[instance.leaves]
    return instance.leaves[_moved_over(found.of, found.sets, position[leaf], caps)]


def _moved_over(group: Indices, may: Table, leaf: Indices, caps: Indices) -> Indices:
    """Paths in what the present assignment leaves open, per group with the same candidates.

    source -> group     those of it who are nowhere       leaf -> group   those of it who are there and may leave
    group  -> leaf      a candidate                       leaf -> sink    the room that is left
    """
    groups, leaves = may.shape
    here = np.bincount(group[leaf >= 0] * leaves + leaf[leaf >= 0], minlength=may.size).reshape(may.shape)
    counts = np.bincount(group[leaf < 0], minlength=groups)
    (g, l), (h, k), sink = np.nonzero(may), np.nonzero(here), 1 + groups + leaves
    tails = np.concatenate([np.zeros(groups, np.int64), 1 + g, 1 + groups + k, 1 + groups + np.arange(leaves)])
    heads = np.concatenate([1 + np.arange(groups), 1 + groups + l, 1 + h, np.full(leaves, sink)])
    room = np.maximum(0, caps - here.sum(axis=0))
    amounts = np.concatenate([counts, np.full(len(g), len(group)), here[h, k], room]).astype(np.int32)
    graph = csr_array((amounts, (tails, heads)), shape=(sink + 1, sink + 1))
    net = csr_array(maximum_flow(graph, 0, sink).flow)[1 : 1 + groups, 1 + groups : sink].toarray()
    return _moved(group, leaf, net)


def _moved(group: Indices, leaf: Indices, net: Indices) -> Indices:
    """Per group, so many fewer or more at each leaf: some leave, and with those who are nowhere fill the others."""
    result, order = leaf.copy(), np.argsort(group * (net.shape[1] + 1) + leaf, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(net) + 1))
    for g in np.flatnonzero(net.any(axis=1)).tolist():
        mine = order[starts[g] : starts[g + 1]]
        for l in np.flatnonzero(net[g] < 0).tolist():
            result[mine[result[mine] == l][: -net[g, l]]] = -1
        to = np.repeat(np.arange(net.shape[1]), np.maximum(net[g], 0))
        free = mine[result[mine] < 0]
        result[free[: len(to)]] = to[: len(free)]
    return result
