"""The subscription problem: the groups are given, each flow in at most one; who subscribes, what goes by unicast?

User j and group g: subscribing costs what the group carries, not subscribing costs (hybrid) the wanted flows by unicast.
Without a budget each pair decides for itself. A budget couples them (each subscription that it saves is an item of
a knapsack): one small integer program decides for all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from yardline.models.channelization.data import Channelization, ChannelizationPlan
from yardline.models.checks import Indices, Vector, frozen_sets
from yardline.models.numbers import widened
from yardline.models.program import ALONE, Builder
from yardline.solvers import highs


def best_plan(instance: Channelization, group_of: Indices) -> ChannelizationPlan:
    """The cheapest plan with the given groups; group_of[i] is the group of flow i, or -1."""
    count = int(group_of.max(initial=-1)) + 1
    flows = np.flatnonzero(group_of >= 0)
    members = csr_array((np.ones(len(flows), np.int64), (group_of[flows], flows)), shape=(count, instance.n))
    joined = _joined(instance, members)
    reached = csr_array(joined.astype(np.int64)) @ members if count else csr_array(instance.wants.shape, dtype=np.int64)
    missing = csr_array(instance.wants - instance.wants.multiply(reached).minimum(1))
    missing.eliminate_zeros()
    users, wanted = missing.nonzero()
    return ChannelizationPlan.of(
        instance,
        groups=_sets(members),
        subscriptions=_sets(csr_array(joined.astype(np.int64), shape=(instance.m, count))),
        unicast=np.stack([wanted, users], axis=1),
    )


def _joined(instance: Channelization, members: csr_array) -> NDArray[np.bool_]:
    """Who subscribes to which group: users x groups."""
    wanted_rate = _per_group(instance.wants, instance.rates, members)
    wants_some = _per_group(instance.wants, np.ones(instance.n), members) > 0
    if not instance.hybrid:
        return wants_some
    carried = np.asarray(instance.receive_cost @ members.T.toarray()) if members.shape[0] else wanted_rate
    extra = carried - instance.unicast_price * wanted_rate  # what a subscription costs more than unicast
    cheaper = wants_some & (extra < 0)
    if instance.unicast_budget is None:
        return cheaper
    alone = float(instance.rates[instance.wants.indices].sum() - wanted_rate.sum())  # wanted flows in no group
    return _within_budget(extra, wanted_rate, wants_some, cheaper, widened(instance.unicast_budget) - alone)


def _per_group(wants: csr_array, weight: Vector, members: csr_array) -> Vector:
    """Sum of weight over the flows that user j wants in group g: users x groups."""
    return np.asarray((wants @ (members * weight).T.tocsr()).toarray(), dtype=np.float64)


def _within_budget(
    extra: Vector, rate: Vector, wants: NDArray[np.bool_], cheaper: NDArray[np.bool_], budget: float
) -> NDArray[np.bool_]:
    """The cheapest further subscriptions that bring the unicast rate under the budget."""
    if float(rate[wants & ~cheaper].sum()) <= budget:
        return cheaper
    if budget < 0:  # not even all subscriptions help: the judge will say so
        return wants
    items = wants & ~cheaper & (rate > 0)
    builder = Builder()
    take = builder.columns("take", np.argwhere(items), cost=extra[items])
    row = builder.rows("saved", ALONE, low=float(rate[items].sum()) - budget)
    builder.entries(row, take, rate[items])
    outcome = highs.solve(builder.program(), mip_rel_gap=1e-4, time_limit=10.0)
    result = cheaper.copy()
    everything = np.ones(int(items.sum()))
    point = everything if outcome.point is None else outcome.point
    result[items] = point > 0.5
    if float(rate[wants & ~result].sum()) > budget:  # the solver's tolerance is not ours
        result[items] = True
    return result


def _sets(matrix: csr_array) -> csr_array:
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return frozen_sets(matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64), matrix.shape[1])
