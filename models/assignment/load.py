"""The least load factor that an instance can be served at, and the caps of both readings of the load limit.

A factor f is feasible when a flow takes everybody through candidate leaves into caps floor(f kappa[b] m + eps). Where it does
not, the least cut names leaves X and a number D of subscribers who can use nothing else; so every feasible factor has

    sum(floor(f * kappa[b] * m + eps) for b in X) >= D,

and the least f that satisfies this is tried next (Newton's method on cuts: exact, a handful of flows).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.flow import placed
from yardline.models.checks import Indices, Vector

Load = Literal["max", "desired"]
"""`max`: the cap is that of beta_max, as the judge demands; `desired`: that of max(beta, least feasible factor)."""


def least_factor(instance: Assignment) -> float:
    """The least feasible load factor; infinite where somebody can use no leaf with a capacity."""
    found = limits.candidates(instance)
    fair = (instance.kappa * instance.m)[instance.leaves]
    counts = np.bincount(found.of, minlength=len(found.sets))
    if (counts[~found.sets[:, fair > 0].any(axis=1)] > 0).any():
        return math.inf
    factor = 1.0 if instance.m else 0.0
    while True:
        caps = limits.caps(instance, factor)[instance.leaves]
        cut = least_cut(found.sets, counts, caps)
        if cut is None:
            return factor
        demand = int(counts[~(found.sets & ~cut).any(axis=1)].sum())
        factor = _least_for(fair[cut], demand, factor, instance, cut)


def factor_of(instance: Assignment, load: str) -> float:
    """The load factor that a reading of the limit allows."""
    return instance.beta_max if load == "max" else min(instance.beta_max, max(instance.beta, least_factor(instance)))


def caps_of(instance: Assignment, load: str) -> Indices:
    """The caps of the leaves, in their order, under a reading of the limit."""
    return limits.caps(instance, factor_of(instance, load))[instance.leaves]


def _least_for(fair: Vector, demand: int, factor: float, instance: Assignment, cut: NDArray[np.bool_]) -> float:
    """The least factor, above one that fails, whose caps on some leaves have room for the demand."""
    factor = max(factor, demand / float(fair.sum()) * (1 - 1e-12))
    while True:
        caps = limits.caps(instance, factor)[instance.leaves][cut]
        if caps.sum() >= demand:
            return factor
        steps = np.where(fair > 0, (caps + 1) / np.where(fair > 0, fair, 1.0), np.inf)
        factor = max(float(steps.min()), float(np.nextafter(factor, np.inf)))


def least_cut(sets: NDArray[np.bool_], counts: Indices, caps: Indices) -> NDArray[np.bool_] | None:
    """The leaves on the near side of a least cut, or None where everybody fits."""
    flow = placed(sets, counts, caps)
    over = np.flatnonzero(np.asarray(flow.sum(axis=1)) < counts)
    if not len(over):
        return None
    groups, leaves = sets.shape
    g, b = np.nonzero(sets)
    filled_by, fills = (part.astype(np.int64) for part in flow.nonzero())
    start = groups + leaves  # a node before all groups that do not fit
    tails = np.concatenate([g, groups + fills, np.full(len(over), start)])
    heads = np.concatenate([groups + b, filled_by, over])
    graph = csr_array((np.ones(len(tails), np.int8), (tails, heads)), shape=(start + 1,) * 2)
    reached = breadth_first_order(graph, start, return_predecessors=False)
    result = np.zeros(leaves, dtype=bool)
    result[reached[(reached >= groups) & (reached < start)] - groups] = True
    return result
