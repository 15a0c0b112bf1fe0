"""Channelization as arrays: the program of formulation.py (same rows, same columns, same names), assembled with numpy.

tests/channelization/test_formulation.py shows that both are the same matrix.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from yardline.models.channelization.data import Channelization, ChannelizationPlan
from yardline.models.checks import Indices, Vector
from yardline.models.numbers import widened
from yardline.models.program import ALONE, Builder, Program


def representatives(instance: Channelization) -> list[int]:
    """The wanted flows in the order in which they may represent a group: largest (weighted) audience first."""
    weight = instance.receive_weight if instance.weights_per_flow else instance.receive_weight[:, None]
    size = np.asarray(instance.audience.multiply(np.broadcast_to(weight.T, instance.audience.shape)).sum(axis=1))
    return instance.wanted[np.argsort(-size[instance.wanted], kind="stable")].tolist()  # type: ignore[no-any-return]


def size(instance: Channelization) -> int:
    """About how many columns the program has: what decides whether it is within reach."""
    flows = len(instance.wanted)
    if instance.mode == "unconstrained":
        return (flows + 1) * (instance.m + 1) * max(1, instance.most_groups)
    return flows * (flows + 1) * (instance.m + 1) // 2


def assemble(instance: Channelization) -> Program:
    """The program of an instance."""
    if instance.mode == "unconstrained":
        return _unconstrained(instance)
    return _constrained_hybrid(instance) if instance.hybrid else _constrained(instance)


def _constrained(instance: Channelization) -> Program:
    b, F = Builder(), np.array(representatives(instance), dtype=np.int64)
    wants = _dense(instance)[F]  # flow position x user
    c, s = instance.receive_cost, instance.send_cost
    before, after = np.tril_indices(len(F))[::-1]  # positions k <= i
    both = [c[wants[i] | wants[k], F[i]].sum() for i, k in zip(after, before, strict=True)]
    x = _square(len(F))
    x[after, before] = b.columns("x", np.stack([F[after], F[before]], 1), cost=s[F[after]] + np.array(both))

    later = np.zeros_like(wants)  # who wants a flow after k
    later[:-1] = np.logical_or.accumulate(wants[::-1])[::-1][1:]
    joins, users = np.nonzero(later & ~wants)
    y = np.full(wants.shape, -1)
    y[joins, users] = b.columns("y", np.stack([users, F[joins]], 1), cost=c[users, F[joins]], implied=True)

    k, i, j = _triples(y >= 0)
    free = ~wants[i, j]
    forced, (k, i, j) = (k[~free], i[~free], j[~free]), (k[free], i[free], j[free])
    index = np.stack([j, F[i], F[k]], 1)
    z = b.columns("z", index, cost=c[j, F[i]], implied=True)

    rows = b.rows("serve", F[:, None], low=1.0, high=1.0)
    b.entries(rows[after], x[after, before])
    _opened(b, F, x)
    _groups(b, x, instance.groups)
    rows = b.rows("join", np.stack([forced[2], F[forced[1]], F[forced[0]]], 1), low=0.0)
    b.entries(rows, y[forced[0], forced[2]])
    b.entries(rows, x[forced[1], forced[0]], -1.0)
    _receive(b, "unwanted", index, z, x[i, k], y[k, j], x[k, k])
    return b.program()


def _constrained_hybrid(instance: Channelization) -> Program:
    b, F = Builder(), np.array(representatives(instance), dtype=np.int64)
    wants = _dense(instance)[F]
    c, s = instance.receive_cost, instance.send_cost
    before, after = np.tril_indices(len(F))[::-1]
    x = _square(len(F))
    x[after, before] = b.columns("x", np.stack([F[after], F[before]], 1), cost=s[F[after]])

    joins, users = np.nonzero(np.logical_or.accumulate(wants[::-1])[::-1])
    y = np.full(wants.shape, -1)
    y[joins, users] = b.columns("y", np.stack([users, F[joins]], 1), cost=c[users, F[joins]])

    k, i, j = _triples(y >= 0)
    index = np.stack([j, F[i], F[k]], 1)
    z = b.columns("z", index, cost=c[j, F[i]], implied=True)
    flows, t_users, t = _unicast_columns(b, instance, F, wants)

    rows = b.rows("once", F[:, None], high=1.0)
    b.entries(rows[after], x[after, before])
    _opened(b, F, x)
    _groups(b, x, instance.groups)
    rows = b.rows("exists", np.stack([users, F[joins]], 1), high=0.0)
    b.entries(rows, y[joins, users])
    b.entries(rows, x[joins, joins], -1.0)
    _receive(b, "receive", index, z, x[i, k], y[k, j], x[k, k])
    useful = wants[i, j]
    _carried(b, index[useful], z[useful], x[i, k][useful], y[k, j][useful])
    serve = np.full(wants.shape, -1)
    serve[flows, t_users] = b.rows("serve", np.stack([t_users, F[flows]], 1), low=1.0)
    b.entries(serve[flows, t_users], t)
    b.entries(serve[flows, t_users], y[flows, t_users])
    b.entries(serve[i, j][useful], z[useful])
    _budget(b, instance, F[flows], t)
    return b.program()


def _unconstrained(instance: Channelization) -> Program:
    b, F = Builder(), instance.wanted
    wants, c = _dense(instance)[F], instance.receive_cost
    U, K = np.flatnonzero(wants.any(axis=0)), max(1, instance.most_groups)
    wants = wants[:, U]
    f, u = len(F), len(U)
    i, g = (part.ravel() for part in np.indices((f, K)))
    x = b.columns("x", np.stack([F[i], g], 1), cost=instance.send_cost[F[i]]).reshape(f, K)
    j, h = (part.ravel() for part in np.indices((u, K)))
    y = b.columns("y", np.stack([U[j], h], 1)).reshape(u, K)
    zj, zi, zg = (part.ravel() for part in np.indices((u, f, K)))
    index = np.stack([U[zj], F[zi], zg], 1)
    z = b.columns("z", index, cost=c[U[zj], F[zi]], implied=True)

    _receive(b, "receive", index, z, x[zi, zg], y[zj, zg], None)
    useful = wants[zi, zj]
    _carried(b, index[useful], z[useful], x[zi, zg][useful], y[zj, zg][useful])
    flows, users = np.nonzero(wants)
    serve = np.full(wants.shape, -1)
    serve[flows, users] = b.rows("serve", np.stack([U[users], F[flows]], 1), low=1.0)
    b.entries(serve[zi, zj][useful], z[useful])
    if instance.hybrid:
        flows, users, t = _unicast_columns(b, instance, F, wants, U)
        b.entries(serve[flows, users], t)
        _budget(b, instance, F[flows], t)
    if f:
        rows = b.rows("order", np.arange(K - 1)[:, None], low=0.0)
        for group in range(K - 1):
            b.entries(rows[group], x[:, group])
            b.entries(rows[group], x[:, group + 1], -1.0)
    if instance.groups == 0:
        b.entries(b.rows("closed", F[:, None], high=0.0), x[:, 0])
    return b.program()


def _unicast_columns(
    b: Builder, instance: Channelization, F: Indices, wants: NDArray[np.bool_], U: Indices | None = None
) -> tuple[Indices, Indices, Indices]:
    """Columns t[j,i] for every want: positions of flows and users, and columns."""
    flows, users = np.nonzero(wants)
    names = users if U is None else U[users]
    cost = instance.unicast_price * instance.rates[F[flows]]
    return flows, users, b.columns("t", np.stack([names, F[flows]], 1), cost=cost, implied=True)


def _opened(b: Builder, F: Indices, x: Indices) -> None:
    i, k = np.tril_indices(len(F), -1)
    rows = b.rows("opened", np.stack([F[i], F[k]], 1), high=0.0)
    b.entries(rows, x[i, k])
    b.entries(rows, x[k, k], -1.0)


def _groups(b: Builder, x: Indices, K: int) -> None:
    if len(x):
        b.entries(b.rows("groups", ALONE, high=float(K)), np.diag(x))


def _receive(b: Builder, name: str, index: Indices, z: Indices, x: Indices, y: Indices, one: Indices | None) -> None:
    """z >= x + y - one, where one is a column or the number 1."""
    rows = b.rows(name, index, low=-1.0 if one is None else 0.0)
    b.entries(rows, z)
    b.entries(rows, x, -1.0)
    b.entries(rows, y, -1.0)
    if one is not None:
        b.entries(rows, one)


def _carried(b: Builder, index: Indices, z: Indices, x: Indices, y: Indices) -> None:
    """z <= x and z <= y."""
    for name, other in (("carried", x), ("tuned", y)):
        rows = b.rows(name, index, high=0.0)
        b.entries(rows, z)
        b.entries(rows, other, -1.0)


def _budget(b: Builder, instance: Channelization, flows: Indices, t: Indices) -> None:
    rates = instance.rates[flows]
    if instance.unicast_budget is not None and (rates > 0).any():
        row = b.rows("budget", ALONE, high=widened(instance.unicast_budget))
        b.entries(row, t[rates > 0], rates[rates > 0])


def _triples(may_join: NDArray[np.bool_]) -> tuple[Indices, Indices, Indices]:
    """All (k, i, j) with k < i and a user j who may join the group of k."""
    count = len(may_join)
    parts = [np.zeros((3, 0), dtype=np.int64)]
    for first in range(count):
        users, later = np.flatnonzero(may_join[first]), np.arange(first + 1, count)
        owner = np.full(len(later) * len(users), first)
        parts.append(np.stack([owner, np.repeat(later, len(users)), np.tile(users, len(later))]))
    k, i, j = np.concatenate(parts, axis=1)
    return k, i, j


def _dense(instance: Channelization) -> NDArray[np.bool_]:
    """Who wants what: flows x users."""
    return instance.audience.toarray().astype(bool)  # type: ignore[no-any-return]


def _square(count: int) -> Indices:
    return np.full((count, count), -1, dtype=np.int64)


def decode(instance: Channelization, chosen: Mapping[str, Indices]) -> ChannelizationPlan:
    """The plan of a 0/1 point: x says which flow is in which group, y (and x) who subscribes, t what goes by unicast."""
    flows_of: dict[int, list[int]] = {}
    for flow, group in chosen["x"].tolist():
        flows_of.setdefault(group, []).append(flow)
    position = {group: p for p, group in enumerate(sorted(flows_of))}
    groups = [sorted(flows_of[group]) for group in position]
    joined: list[set[int]] = [set() for _ in range(instance.m)]
    for user, group in chosen["y"].tolist():
        if group in position:
            joined[user].add(position[group])
    if (
        not instance.hybrid and instance.mode == "constrained"
    ):  # the audience of a representative is subscribed for sure
        audience = instance.audience
        for group, p in position.items():
            for user in audience.indices[audience.indptr[group] : audience.indptr[group + 1]].tolist():
                joined[user].add(p)
    unicast = [(flow, user) for user, flow in chosen.get("t", np.zeros((0, 2), np.int64)).tolist()]
    return ChannelizationPlan.of(
        instance, groups=groups, subscriptions=[sorted(groups) for groups in joined], unicast=unicast
    )


def encode(instance: Channelization, program: Program, plan: ChannelizationPlan) -> Vector:
    """The point of a valid plan. What serves nobody is left out, so the point costs no more than the plan."""
    names = (
        _constrained_point(instance, plan) if instance.mode == "constrained" else _unconstrained_point(instance, plan)
    )
    names |= {f"t({user},{flow})" for flow, user in plan.unicast.tolist()}
    return np.array([name in names for name in program.columns], dtype=np.float64)


def _useful_groups(instance: Channelization, plan: ChannelizationPlan) -> list[tuple[list[int], set[int]]]:
    """Groups that carry something wanted: their wanted flows and their subscribers."""
    wanted, members = set(instance.wanted.tolist()), plan.subscriptions.T.tocsr()
    result = []
    for g in range(plan.groups.shape[0]):
        flows = [
            i for i in plan.groups.indices[plan.groups.indptr[g] : plan.groups.indptr[g + 1]].tolist() if i in wanted
        ]
        users = set(members.indices[members.indptr[g] : members.indptr[g + 1]].tolist())
        if flows:
            result.append((flows, users))
    return result


def _constrained_point(instance: Channelization, plan: ChannelizationPlan) -> set[str]:
    rank = {flow: p for p, flow in enumerate(representatives(instance))}
    names = set()
    for flows, users in _useful_groups(instance, plan):
        k = min(flows, key=rank.__getitem__)
        names |= {f"x({i},{k})" for i in flows} | {f"y({j},{k})" for j in users}
        names |= {f"z({j},{i},{k})" for j in users for i in flows}
    return names


def _unconstrained_point(instance: Channelization, plan: ChannelizationPlan) -> set[str]:
    groups = sorted(_useful_groups(instance, plan), key=lambda group: -len(group[0]))
    names = set()
    for g, (flows, users) in enumerate(groups):
        names |= {f"x({i},{g})" for i in flows} | {f"y({j},{g})" for j in users}
        names |= {f"z({j},{i},{g})" for j in users for i in flows}
    return names
