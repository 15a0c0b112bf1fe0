"""The two plans without conversion inside the network: everything at the root, or everything where it is requested."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from yardline.models import registry
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.feasibility import why_infeasible
from yardline.models.method import Answer
from yardline.solvers.heuristics.customization import steiner


@registry.method("customization", "all-in-root", paper="004 section 5 (All-in-root)")
def all_in_root(instance: Customization, rng: Generator) -> CustomizationPlan | Answer:
    """The root makes every requested format, and each link carries the formats requested below it.

    The conversions at the root are cheapest for up to 16 formats, otherwise by the shortest-path heuristic.
    """
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    done = steiner.conversions(instance, instance.requested_below[:1])
    rows = np.zeros(instance.n + 1, dtype=np.int64)
    rows[1:] = done.nnz
    converts = csr_array((done.data, done.indices, rows), shape=(instance.n, done.shape[1]))
    sends = instance.requested_below.copy()
    sends[0] = False
    return CustomizationPlan.of(instance, sends=csr_array(sends.astype(np.int64)), converts=converts)


@registry.method("customization", "all-in-leaves", paper="004 section 5 (All-in-leaves)")
def all_in_leaves(instance: Customization, rng: Generator) -> CustomizationPlan | Answer:
    """The source format goes to every subtree with requests, and each requesting node converts for itself.

    The conversions at each node are cheapest for up to 16 formats, otherwise by the shortest-path heuristic.
    """
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    packed = np.packbits(instance.requests.toarray().astype(bool), axis=1)
    kinds, kind = np.unique(packed, axis=0, return_inverse=True)  # equal wishes are planned once
    done = steiner.conversions(instance, np.unpackbits(kinds, axis=1, count=instance.m).astype(bool))
    sends = np.zeros((instance.n, instance.m), dtype=np.int64)
    sends[instance.awaiting, instance.source] = 1
    sends[0] = 0
    return CustomizationPlan.of(instance, sends=csr_array(sends), converts=csr_array(done[kind.ravel()]))
