"""Channelization in the loops: groups opened and filled by their fractions, then settled, then the cheapest subscriptions.

Groups with flows F and users U cost sum(c[j,i] for j in U, i in F) + sum(s[i] for i in F). Where flows are divided among
groups U is the audience of F; where users are (mode `unconstrained` allows that) F is what U wants: the same search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models.channelization import splitting
from yardline.models.channelization.data import Channelization, ChannelizationPlan
from yardline.models.channelization.judge import evaluate
from yardline.models.checks import Indices, Vector
from yardline.models.program import Program
from yardline.solvers.heuristics.channelization.subscription import best_plan

Guide = Mapping[str, Any]
Bits = NDArray[np.bool_]
SWEEPS = 20
NOISE = 0.3
"""Of rates, when another split is tried."""


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


def _settled_hybrid(instance: Channelization, group: Indices, rng: Generator, users: Bits | None = None) -> Indices:
    """Alternately: the users for whom a group pays, the flows for which it pays; -1: unicast alone."""
    flows, K = instance.wanted, instance.most_groups
    wants = instance.audience.toarray()[flows].astype(bool)
    c, alone = instance.receive_cost.T[flows], instance.unicast_price * instance.rates[flows][:, None] * wants
    users = _heads(group, wants, alone.sum(axis=1), K, rng) if users is None else users
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


def _heads(group: Indices, wants: Bits, weight: Vector, K: int, rng: Generator) -> Bits:
    """The audience of the heaviest flow of each group, of any flow where it has none: groups x users."""
    users = np.zeros((K, wants.shape[1]), dtype=bool)
    for g in range(K):
        own = np.flatnonzero(group == g)
        users[g] = wants[own[int(weight[own].argmax())] if len(own) else int(rng.integers(len(wants)))]
    return users


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


WORDS = "flows; what they share has no price, so that every round tries another split"


def split(instance: Channelization, count: int, columns: int, rng: Generator, attempt: int) -> list[list[int]]:
    """Blocks of equal size: flows of similar rate together, or audiences of all kinds in each, or rates with some noise.

    K groups must hold what the heaviest flows of a part have in common, so heavy ones belong together: mixed with light
    ones, each has a group of its own. Flows that are alike share groups at no cost, so they do not belong together.
    """
    flows = instance.wanted
    if not len(flows):
        return [[]]
    count = min(len(flows), count or _count(instance, 4 * columns))  # large parts prove more
    noise = rng.lognormal(0.0, NOISE, len(flows)) if attempt > 1 else np.ones(len(flows))
    if attempt != 1:
        order = flows[np.argsort(-instance.rates[flows] * noise, kind="stable")]
        return [sorted(block.tolist()) for block in np.array_split(order, count)]
    wants = instance.audience.toarray()[flows].astype(np.float64)
    direction = np.linalg.svd(wants - wants.mean(axis=0), full_matrices=False)[2][0]
    order = flows[np.argsort(wants @ direction, kind="stable")]
    return [sorted(order[k::count].tolist()) for k in range(count)]


def _count(instance: Channelization, columns: int) -> int:
    """The least number of parts, of the heaviest flows first, whose programs stay below so many columns."""
    order, count = instance.wanted[np.argsort(-instance.rates[instance.wanted], kind="stable")], 1
    while count < len(order) and splitting.size(instance, order[: -(-len(order) // count)].tolist()) > columns:
        count += 1
    return count


def shares(instance: Channelization, split: list[list[int]]) -> list[Vector]:
    """Nothing is shared."""
    return [np.zeros((0, 0)) for _ in split]


def decides(instance: Channelization, part: list[int]) -> Vector:
    """Nothing is shared."""
    return np.zeros((0, 0))


def weights(instance: Channelization) -> Vector:
    """Wanted flows are drawn by their rate."""
    return instance.rates[instance.wanted] + 1e-9


def sample(instance: Channelization, chosen: Indices) -> Channelization:
    """The instance with the chosen flows only, and their share of the budget."""
    flows = instance.wanted[chosen]
    part = splitting.restricted(instance, flows.tolist())
    if instance.unicast_budget is None:
        return part
    times = np.diff(instance.audience.indptr) * instance.rates
    return replace(part, unicast_budget=instance.unicast_budget * float(times[flows].sum() / max(1e-300, times.sum())))


def extended(
    instance: Channelization, chosen: Indices, plan: ChannelizationPlan, rng: Generator
) -> tuple[ChannelizationPlan, Vector]:
    """Every other flow to the group where it costs least; per flow what it costs beyond being alone, relatively."""
    flows, K = instance.wanted, instance.most_groups
    group = np.full(len(flows), -1)
    for g in range(min(K, plan.groups.shape[0])):
        inside = plan.groups.indices[plan.groups.indptr[g] : plan.groups.indptr[g + 1]]
        group[chosen[inside]] = g
    if K == 0:
        whole = best_plan(instance, _everywhere(instance, group))
    elif instance.hybrid:
        users = np.zeros((K, instance.m), dtype=bool)
        users[: plan.groups.shape[0]] = plan.subscriptions.toarray().T.astype(bool)[:K]
        whole = _within_budget(instance, _settled_hybrid(instance, group, rng, users))
    else:
        whole = best_plan(instance, _everywhere(instance, _settled(instance, _inserted(instance, group, K), rng)))
    return whole, _excess(instance, whole)


def _inserted(instance: Channelization, group: Indices, K: int) -> Indices:
    """Flows without a group to the one whose audience they enlarge least (by receive cost); groups stay as they are."""
    wants = instance.audience.toarray()[instance.wanted].astype(np.float64)
    member = (group[None] == np.arange(K)[:, None]).astype(np.float64)
    audience = (member @ wants > 0).astype(np.float64)
    c = instance.receive_cost.T[instance.wanted]
    more = (wants @ ((1 - audience) * (member @ c)).T) + c @ audience.T + (wants * c) @ (1 - audience).T
    return np.asarray(np.where(group >= 0, group, more.argmin(axis=1)), dtype=np.int64)


def _excess(instance: Channelization, plan: ChannelizationPlan) -> Vector:
    """What users pay for each wanted flow beyond those who want it, relative to what those pay."""
    times = np.asarray((plan.subscriptions @ plan.groups).toarray(), dtype=np.float64)
    paid = (times * instance.receive_cost).sum(axis=0)[instance.wanted]
    alone = (instance.wants.toarray() * instance.receive_cost).sum(axis=0)[instance.wanted]
    return np.asarray((paid - alone) / np.maximum(alone, 1e-12))
