"""FBM: a group per flow, then merge the pair of groups that raises the cost least until K are left.

Merging groups with flows F, G and audiences A, B (weighted by receive_weight) raises what users receive by

    rate(F) * weight(B - A) + rate(G) * weight(A - B).

The nearest neighbour of each group is kept; after a merge only those whose neighbour is gone, or that are nearer to the
new group, change. Audiences are bitsets. The result is that of the plain table of all pairs, without its cost.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models import registry
from yardline.models.channelization.data import Channelization, ChannelizationPlan
from yardline.models.method import Run, Unsuitable
from yardline.solvers.heuristics.channelization.subscription import best_plan


@registry.method("channelization", "flow-merge", paper="001 FBM")
def flow_merge(instance: Channelization, rng: Generator, *, run: Run) -> ChannelizationPlan:
    """Start with a group per flow; merge the pair that raises the cost least until K are left."""
    if instance.weights_per_flow:
        raise Unsuitable("flow-merge needs receive_weight per user, not per user and flow")
    group_of = np.full(instance.n, -1)
    if instance.groups and len(instance.wanted):
        group_of[instance.wanted] = merged(instance)
    return best_plan(instance, group_of)


def merged(instance: Channelization) -> NDArray[np.int64]:
    """The group of each wanted flow after merging down to K groups."""
    from yardline.solvers.heuristics.channelization import _merging

    audience = instance.audience.toarray()[instance.wanted].astype(np.uint8)
    bits = np.packbits(audience, axis=1, bitorder="little")
    weights = _byte_weights(np.asarray(instance.receive_weight), bits.shape[1])
    owner = _merging.merge(bits, instance.rates[instance.wanted].copy(), weights, instance.most_groups)
    return np.unique(owner, return_inverse=True)[1].astype(np.int64)


def _byte_weights(weight: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """The weight of the users in each possible byte of the bitset, so that a byte is one look-up."""
    padded = np.zeros(8 * width)
    padded[: len(weight)] = weight
    patterns = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    return np.ascontiguousarray(padded.reshape(width, 8) @ patterns.T.astype(np.float64))
