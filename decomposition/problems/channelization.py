"""Channelization in the loops: groups opened and filled by their fractions, then settled, then the cheapest subscriptions.

Groups with flows F and users U cost sum(c[j,i] for j in U, i in F) + sum(s[i] for i in F). Where flows are divided among
groups U is the audience of F; where users are (mode `unconstrained` allows that) F is what U wants: the same search.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models.channelization.data import Channelization, ChannelizationPlan
from yardline.models.channelization.judge import evaluate
from yardline.models.checks import Indices, Vector
from yardline.models.program import Program
from yardline.solvers.heuristics.channelization.subscription import best_plan

Guide = Mapping[str, Any]
Bits = NDArray[np.bool_]
SWEEPS = 20


def guide(instance: Channelization, program: Program, point: Vector) -> dict[str, Any]:
    """Fractions of groups (wanted flows x groups); the flow that represents a group, where one does."""
    x, flows = program.family("x"), instance.wanted
    i, g = x.index.reshape(-1, 2).T
    groups = np.unique(g)
    share = np.zeros((len(flows), len(groups)))
    share[np.searchsorted(flows, i), np.searchsorted(groups, g)] = point[x.span]
    return {"share": share, "head": groups if instance.mode == "constrained" else np.full(len(groups), -1)}


def rounded(instance: Channelization, guide: Guide, rng: Generator) -> Indices:
    """At most K groups by the fraction to which they are open, then each wanted flow to one of them by its fractions.

    Hybrid: to none with what is left over. The answer: per wanted flow its group, or -1.
    """
    share, K = guide["share"], instance.most_groups
    if K == 0 or not share.size:
        return np.full(len(instance.wanted), -1)
    chosen = np.argsort(-_draw(share.max(axis=0), rng), kind="stable")[:K]
    chance = _draw(share[:, chosen], rng)
    group = chance.argmax(axis=1)
    if instance.hybrid:
        group[rng.random(len(group)) > share[:, chosen].sum(axis=1)] = -1
    heads = np.searchsorted(instance.wanted, guide["head"][chosen])
    if instance.mode == "constrained":
        group[heads] = np.arange(len(chosen))
    return np.asarray(group, dtype=np.int64)


def _draw(share: Vector, rng: Generator) -> Vector:
    """Numbers whose largest is each member with the probability of its share."""
    return np.asarray(np.log(np.maximum(share, 0.0) + 1e-6) + rng.gumbel(size=share.shape))


def repaired(instance: Channelization, guide: Guide, group: Indices, rng: Generator) -> ChannelizationPlan:
    """Flows moved while that pays; within the budget; where flows may be in several groups, also by users."""
    if instance.most_groups == 0:
        return best_plan(instance, _everywhere(instance, group))
    settle = _settled_hybrid if instance.hybrid else _settled
    plans = [_within_budget(instance, settle(instance, group, rng))]
    if instance.mode == "unconstrained":
        plans.append(_by_users(instance, rng))
    judged = [evaluate(instance, plan) for plan in plans]
    order = [(not j.valid, j.cost, p) for p, j in enumerate(judged)]
    return plans[min(order)[2]]


def _everywhere(instance: Channelization, group: Indices) -> Indices:
    """The group of every flow, -1 for those that nobody wants."""
    result = np.full(instance.n, -1)
    result[instance.wanted] = group
    return result


def _settled(instance: Channelization, group: Indices, rng: Generator) -> Indices:
    flows = instance.wanted
    wants = instance.audience.toarray()[flows].astype(bool)
    c, s = instance.receive_cost.T[flows], instance.send_cost[flows]
    return divided(wants, c, s, np.zeros(instance.m), group, instance.most_groups, rng)


def divided(wants: Bits, c: Vector, s: Vector, q: Vector, group: Indices, K: int, rng: Generator) -> Indices:
    """Rows moved to the group where they cost least, one after the other, while that pays.

    A group with rows I and the columns J that some row of it wants costs sum(c[I,J]) + sum(s[I]) + sum(q[J]).
    """
    group = group.copy()
    count, load = np.zeros((K, wants.shape[1])), np.zeros((K, wants.shape[1]))  # who wants a column, what it receives
    np.add.at(count, group, wants.astype(float))
    np.add.at(load, group, c)
    for _ in range(SWEEPS):
        moved = False
        for i in rng.permutation(len(group)).tolist():
            old, mine = int(group[i]), wants[i]
            count[old] -= mine
            load[old] -= c[i]
            there = count > 0
            new = mine & ~there
            more = (new * (load + q)).sum(axis=1) + ((there | mine) * c[i]).sum(axis=1) + s[i]
            best = int(more.argmin())
            best = best if more[best] < more[old] - 1e-12 * abs(more[old]) else old
            moved |= best != old
            group[i] = best
            count[best] += mine
            load[best] += c[i]
        if not moved:
            break
    return group


def _settled_hybrid(instance: Channelization, group: Indices, rng: Generator) -> Indices:
    """Alternately: the users for whom a group pays, the flows for which it pays; -1: unicast alone."""
    flows, K = instance.wanted, instance.most_groups
    wants = instance.audience.toarray()[flows].astype(bool)
    c, alone = instance.receive_cost.T[flows], instance.unicast_price * instance.rates[flows][:, None] * wants
    users = np.zeros((K, instance.m), dtype=bool)
    for g in range(K):  # at first a group is for those who want its heaviest flow
        own = np.flatnonzero(group == g)
        head = own[int((alone[own].sum(axis=1)).argmax())] if len(own) else int(rng.integers(len(flows)))
        users[g] = wants[head]
    before = None
    for _ in range(SWEEPS):
        price = instance.send_cost[flows][:, None] + c @ users.T + alone @ ~users.T
        group = price.argmin(axis=1)
        group[price.min(axis=1) >= alone.sum(axis=1)] = -1
        if before is not None and (group == before).all():
            break
        before = group
        member = group[None] == np.arange(K)[:, None]
        users = member @ c < member @ alone
    return np.asarray(group, dtype=np.int64)


def _within_budget(instance: Channelization, group: Indices) -> ChannelizationPlan:
    """The cheapest subscriptions; flows of no group go to the cheapest one where unicast is beyond its budget."""
    plan = best_plan(instance, _everywhere(instance, group))
    if instance.unicast_budget is None or evaluate(instance, plan).valid:
        return plan
    group = np.where(group < 0, 0, group)
    return best_plan(instance, _everywhere(instance, group))


def _by_users(instance: Channelization, rng: Generator) -> ChannelizationPlan:
    """Users divided among groups that carry what they want: each user in one group, a flow in several."""
    wants = instance.wants.toarray().astype(bool)
    users = np.flatnonzero(wants.any(axis=1))
    group = np.full(instance.m, -1)
    K, start = instance.most_groups, rng.integers(instance.most_groups, size=len(users))
    s = np.zeros(len(users))
    group[users] = divided(wants[users], instance.receive_cost[users], s, instance.send_cost, start, K, rng)
    members = [np.flatnonzero(wants[group == g].any(axis=0)).tolist() for g in range(K)]
    return ChannelizationPlan.of(
        instance, groups=members, subscriptions=[[g] if g >= 0 else [] for g in group.tolist()]
    )
