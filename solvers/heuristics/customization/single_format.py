"""The plan in which every link carries one format."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from yardline.models import registry
from yardline.models.checks import Indices
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.feasibility import why_infeasible
from yardline.models.method import Answer, Unsuitable
from yardline.solvers.heuristics.customization import steiner


@registry.method("customization", "single-format", paper="004 section 5 (Single-format)")
def single_format(instance: Customization, rng: Generator) -> CustomizationPlan | Answer:
    """Each link carries one format: the cheapest that its parent can make and from which all requests below can be made.

    The conversions at each node are cheapest for up to 16 formats, otherwise by the shortest-path heuristic.
    """
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    if instance.m > steiner.MOST_FORMATS:
        raise Unsuitable(
            f"there are {instance.m:,} formats, and the table of their ways holds {steiner.MOST_FORMATS:,}"
        )
    carried = _carried(instance, _becomes(instance))
    wanted = instance.requests.toarray() > 0
    below = np.flatnonzero(instance.awaiting[1:]) + 1
    wanted[instance.parent[below], carried[below]] = True
    sends = csr_array((np.ones(len(below), dtype=np.int64), (below, carried[below])), shape=(instance.n, instance.m))
    return CustomizationPlan.of(instance, sends=sends, converts=_converts(instance, carried, wanted))


def _becomes(instance: Customization) -> NDArray[np.bool_]:
    """Which format can become which, itself included."""
    pairs = tuple(instance.conversions.T)
    steps = csr_array((np.ones(len(instance.conversions)), pairs), shape=(instance.m, instance.m))
    if connected_components(steps, connection="strong")[0] == 1:
        return np.ones((instance.m, instance.m), dtype=bool)
    return np.isfinite(shortest_path(steps, unweighted=True))


def _carried(instance: Customization, becomes: NDArray[np.bool_]) -> Indices:
    """The format on the link into each node, from the root down; the source at the root."""
    carried = np.full(instance.n, instance.source)
    short = (~becomes).astype(np.float32)
    for level in instance.top_down[1:]:
        nodes = level[instance.awaiting[level]]
        fails = instance.requested_below[nodes].astype(np.float32) @ short.T  # requests below that f does not become
        fits = (fails == 0) & becomes[carried[instance.parent[nodes]]]
        carried[nodes] = np.where(fits, instance.tau, np.inf).argmin(axis=1)
    return carried


def _converts(instance: Customization, carried: Indices, wanted: NDArray[np.bool_]) -> csr_array:
    """The conversions at every node, from the one format that it gets; equal nodes are planned once."""
    rows, columns = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    busy = wanted.any(axis=1)
    for e in np.unique(carried[busy]).tolist():
        nodes = np.flatnonzero(busy & (carried == e))
        kinds, kind = np.unique(wanted[nodes], axis=0, return_inverse=True)
        done = steiner.conversions(_beginning_with(instance, e), kinds)[kind.ravel()].tocoo()
        rows.append(nodes[done.coords[0]])
        columns.append(done.coords[1])
    cells = (np.concatenate(rows), np.concatenate(columns))
    return csr_array((np.ones(len(cells[0]), dtype=np.int64), cells), shape=(instance.n, len(instance.conversions)))


def _beginning_with(instance: Customization, source: int) -> Customization:
    """One node with the same formats and conversions, and another source."""
    return Customization(
        parent=np.array([-1]),
        requests=csr_array((1, instance.m), dtype=np.int64),
        tau=instance.tau,
        conversions=instance.conversions,
        conversion_cost=instance.conversion_cost,
        source=source,
    )
