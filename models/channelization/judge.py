"""The judge of channelization: what a plan costs and which rules it breaks. Knows nothing of any algorithm.

    cost = w1 * sum(receive_weight[j,i] * rate[i]  for users j, groups g of j, flows i in g)    a user pays for
         + w2 * sum(send_weight[i] * rate[i]       for groups g, flows i in g)                  unwanted flows of
         + w3 * (w1 + w2) * sum(rate[i]            for unicast pairs (i, j))                    a group, too

Rules: `groups` (at most K), `one-group` (constrained: a flow in at most one), `unicast` (only where hybrid), `unicast-budget`,
`delivery` (every user gets every flow it wants, also those of rate 0).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from yardline.models.channelization.data import Channelization, ChannelizationPlan
from yardline.models.judgement import Judgement, Violation
from yardline.models.numbers import ratio, widened


def evaluate(instance: Channelization, plan: ChannelizationPlan) -> Judgement:
    """Cost, terms and violations of a plan."""
    times = csr_array(plan.subscriptions @ plan.groups)  # how often each user receives each flow
    receive = _weighted(instance, times)
    send = instance.send * float(np.dot(plan.groups.sum(axis=0), instance.send_weight * instance.rates))
    unicast = instance.unicast_price * _unicast_rate(instance, plan)
    best = perfect(instance)
    cost = receive + send + unicast
    terms = {
        "receive": receive,
        "send": send,
        "unicast": unicast,
        "filtering_overhead": _unwanted_rate(instance, times),
        "unicast_rate": _unicast_rate(instance, plan),
        "perfect": best,
        "over_perfect": _excess(cost, best),
    }
    return Judgement(cost=cost, terms=terms, violations=tuple(_violations(instance, plan, times)))


def perfect(instance: Channelization) -> float:
    """The cost of unlimited groups without unicast: every user receives exactly what it wants, every flow is sent once."""
    send = instance.send * float((instance.send_weight * instance.rates)[instance.wanted].sum())
    return _weighted(instance, instance.wants) + send


def _weighted(instance: Channelization, times: csr_array) -> float:
    """w1 * sum of receive_weight * rate over what users receive, as often as they receive it."""
    users = np.repeat(np.arange(instance.m), np.diff(times.indptr))
    weight = instance.receive_weight
    per_pair = weight[users, times.indices] if instance.weights_per_flow else weight[users]
    return instance.receive * float(np.sum(times.data * per_pair * instance.rates[times.indices]))


def _unicast_rate(instance: Channelization, plan: ChannelizationPlan) -> float:
    return float(np.sum(instance.rates[plan.unicast[:, 0]]))


def _unwanted_rate(instance: Channelization, times: csr_array) -> float:
    """Rate that users receive beyond one copy of what they want."""
    total = float(np.dot(times.sum(axis=0), instance.rates))
    useful = times.multiply(instance.wants).minimum(1)
    return total - float(np.dot(useful.sum(axis=0), instance.rates))


def _excess(cost: float, best: float) -> float | None:
    quotient = ratio(cost, best)
    return quotient if quotient is None or best == 0 else quotient - 1


def _violations(instance: Channelization, plan: ChannelizationPlan, times: csr_array) -> Iterator[Violation]:
    used = int((np.diff(plan.groups.indptr) > 0).sum())
    if used > instance.groups:
        yield Violation(rule="groups", where={}, amount=used - instance.groups)
    copies = plan.groups.sum(axis=0)
    if instance.mode == "constrained":
        for flow in np.flatnonzero(copies > 1):
            yield Violation(rule="one-group", where={"flow": int(flow)}, amount=float(copies[flow] - 1))
    yield from _unicast_violations(instance, plan)
    flows, users = plan.unicast.T
    direct = csr_array((np.ones(len(flows), dtype=np.int64), (users, flows)), shape=instance.wants.shape)
    missing = csr_array(instance.wants - instance.wants.multiply(times + direct).minimum(1))
    missing.eliminate_zeros()
    for user, flow in zip(*missing.nonzero(), strict=True):
        yield Violation(rule="delivery", where={"user": int(user), "flow": int(flow)}, amount=1.0)


def _unicast_violations(instance: Channelization, plan: ChannelizationPlan) -> Iterator[Violation]:
    if not instance.hybrid:
        for flow, user in plan.unicast.tolist():
            yield Violation(rule="unicast", where={"flow": flow, "user": user}, amount=1.0)
    elif instance.unicast_budget is not None:
        over = _unicast_rate(instance, plan) - widened(instance.unicast_budget)
        if over > 0:
            yield Violation(rule="unicast-budget", where={}, amount=over)
