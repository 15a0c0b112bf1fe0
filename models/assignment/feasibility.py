"""When an assignment instance has no valid plan.

One box always covers and nests, so only latency and load decide: a valid plan exists exactly if a flow from subscribers
through their candidate leaves into the leaves' caps takes everybody. Where it does not, the cut of least capacity names
subscribers who have too few places between them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.flow import placed
from yardline.models.assignment.load import least_factor
from yardline.models.checks import Indices

SHOWN = 12
"""Names that a sentence lists before it only counts."""


def why_infeasible(instance: Assignment) -> str | None:
    """The reason in words, or None where there is a valid plan."""
    if not instance.m:
        return None
    found = limits.candidates(instance)
    nowhere = np.flatnonzero(~np.asarray(found.sets.any(axis=1))[found.of])
    if len(nowhere):
        return _too_far(instance, int(nowhere[0]))
    caps = limits.caps(instance)[instance.leaves]
    counts = np.bincount(found.of, minlength=len(found.sets))
    crowded = _crowded(found.sets, counts, caps)
    if crowded is None:
        return None
    return _too_many(instance, found, _shrunk(found.sets, counts, caps, crowded), caps)


def remark(instance: Assignment) -> str | None:
    """What whoever made an instance should know of it: that it has no valid plan, or none within the desired load factor."""
    reason = why_infeasible(instance)
    if reason is not None:
        return f"there is no valid plan: {reason}"
    least = least_factor(instance)
    if least <= instance.beta:
        return None
    return (
        f"load.desired is {instance.beta:g}, and the least feasible load factor is {least:.6g}: plans exceed the former"
    )


def _crowded(sets: NDArray[np.bool_], counts: Indices, caps: Indices) -> NDArray[np.bool_] | None:
    """Leaves that together have too few places for those who can use nothing else, or None where everybody fits."""
    flow = placed(sets, counts, caps)
    left_over = np.flatnonzero(np.asarray(flow.sum(axis=1)) < counts)
    if not len(left_over):
        return None
    # from a group that does not fit: to its leaves, from a leaf to the groups that fill it, and so on
    groups, leaves = sets.shape
    g, b = np.nonzero(sets)
    filled_by, fills = (part.astype(np.int64) for part in flow.nonzero())
    tails, heads = np.concatenate([g, groups + fills]), np.concatenate([groups + b, filled_by])
    graph = csr_array((np.ones(len(tails), np.int8), (tails, heads)), shape=(groups + leaves,) * 2)
    reached = breadth_first_order(graph, int(left_over[0]), return_predecessors=False)
    result = np.zeros(leaves, dtype=bool)
    result[reached[reached >= groups] - groups] = True
    return result


def _shrunk(sets: NDArray[np.bool_], counts: Indices, caps: Indices, crowded: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Fewer leaves that are crowded all the same: leave out one at a time, the roomiest first."""
    order = np.argsort(-caps, kind="stable")
    for b in order[crowded[order]].tolist():
        fewer = crowded.copy()
        fewer[b] = False
        if counts[~(sets & ~fewer).any(axis=1)].sum() > caps[fewer].sum():
            crowded = fewer
    return crowded


def _too_far(instance: Assignment, s: int) -> str:
    latency = limits.latencies(instance, slice(s, s + 1))[0]
    nearest, limit = int(np.argmin(latency)), float(instance.max_latency[s])
    return (
        f"subscriber {s} accepts a latency of {limit:.6g}, but the nearest leaf, broker {instance.leaves[nearest]}, "
        f"has {latency[nearest]:.6g}"
    )


def _too_many(instance: Assignment, found: limits.Candidates, crowded: NDArray[np.bool_], caps: Indices) -> str:
    """The sentence; one subscriber more than there are places is enough."""
    stuck = np.flatnonzero(~np.asarray((found.sets & ~crowded).any(axis=1))[found.of])
    room = int(caps[crowded].sum())
    who, where = stuck[: room + 1], instance.leaves[crowded]
    take = f"which may take {room}" + (" together" if len(where) > 1 else "")
    sentence = f"{_named('subscriber', who)} can only use {_named('broker', where)}, {take}"
    least = least_factor(instance)
    return sentence + (f" (the least feasible load factor is {least:.6g})" if np.isfinite(least) else "")


def _named(noun: str, indices: Indices) -> str:
    """'subscribers 3, 17 and 40', or the first ones and how many there are."""
    names = [str(int(i)) for i in indices[:SHOWN]]
    if len(indices) == 1:
        return f"{noun} {names[0]}"
    if len(indices) > SHOWN:
        return f"{noun}s {', '.join(names)} and {len(indices) - SHOWN} more ({len(indices)} in all)"
    return f"{noun}s {', '.join(names[:-1])} and {names[-1]}"
