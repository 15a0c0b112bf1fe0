"""One group of channelization by itself, where every want has a price: what it can earn at most.

A group with flows X and users Y costs sum(s[i] + sum(c[j,i] for j in Y) for i in X) and earns the prices of the wants
that it serves. Its audience weighs sum(k[j] for j in Y) grains, where k[j] is whole and every flow i costs a user j at
least k[j] * grain * rate[i]. For audiences of low to high grains:

    min   sum((s[i] + low * grain * rate[i]) * x[i])  -  sum(price[i,j] * u[i,j])
    (sent)     u[i,j] <= x[i]                          where j wants i
    (heard)    u[i,j] <= y[j]                          where j wants i
    (audience) sum(k[j] * y[j]) <= high

and 0 is always reached, by no group at all. Where a flow is in one group at most and nothing goes by unicast, u[i,j] = x[i]:
such a flow is heard by all who want it or the group cannot have it, and only the sum of its prices counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yardline.models.channelization.data import Channelization
from yardline.models.checks import Indices, Vector
from yardline.models.program import ALONE, Builder, Program

GRAINS = 200
"""Of the heaviest user, where users differ in weight."""

LESS = 1e-10
"""Relatively, how much less than its floating-point value a cost is taken to be: no rounding can make it too high."""


def together(instance: Channelization) -> bool:
    """Whether a flow is heard by all who want it in one and the same group."""
    return instance.mode == "constrained" and not instance.hybrid


def wants(instance: Channelization) -> tuple[Indices, Indices]:
    """All wants: flows and users."""
    i, j = instance.audience.nonzero()
    return np.asarray(i, dtype=np.int64), np.asarray(j, dtype=np.int64)


def grains(instance: Channelization) -> tuple[float, Indices]:
    """The grain, and how many of them each user weighs."""
    weight = instance.receive * instance.receive_weight
    weight = weight.min(axis=1, initial=np.inf) if instance.weights_per_flow else weight
    positive = weight[np.isfinite(weight) & (weight > 0)]
    if not len(positive):
        return 0.0, np.zeros(instance.m, dtype=np.int64)
    alike = positive.min() == positive.max()
    grain = float(positive.max()) / (1 if alike else GRAINS)
    whole = np.floor(np.where(np.isfinite(weight), weight, 0.0) / grain * (1 - (0 if alike else LESS)))
    return grain, whole.astype(np.int64)


def total(instance: Channelization) -> int:
    """Grains of everybody."""
    return int(grains(instance)[1].sum())


def program(instance: Channelization, price: Vector, low: int, high: int) -> Program:
    """The program of a group with an audience of low to high grains; prices in the order of `wants`."""
    F, (flow, user) = instance.wanted, wants(instance)
    at, (grain, k) = np.searchsorted(F, flow), grains(instance)
    sent, heard = instance.send_cost[F], low * grain * instance.rates[F]
    b, joint = Builder(), together(instance)
    earned = np.bincount(at, weights=price, minlength=len(F)) if joint else np.zeros(len(F))
    cost = sent + heard - earned - LESS * (sent + heard + earned)
    x = b.columns("x", F[:, None], cost=cost)
    y = b.columns("y", np.arange(instance.m)[:, None])
    pair = np.stack([flow, user], 1)
    if joint:
        _at_most(b, "heard", pair, x[at], y[user])
    else:
        u = b.columns("u", pair, cost=-price, implied=True)
        _at_most(b, "sent", pair, u, x[at])
        _at_most(b, "heard", pair, u, y[user])
    if (k > 0).any():
        b.entries(b.rows("audience", ALONE, high=float(high)), y[k > 0], k[k > 0].astype(np.float64))
    return b.program()


def _at_most(b: Builder, name: str, index: Indices, left: Indices, right: Indices) -> None:
    """left <= right."""
    rows = b.rows(name, index, high=0.0)
    b.entries(rows, left)
    b.entries(rows, right, -1.0)


def served(instance: Channelization, made: Program, point: Vector) -> Vector:
    """How far a point serves each want."""
    if not together(instance):
        return np.asarray(point[made.family("u").span])
    return np.asarray(point[made.family("x").span][np.searchsorted(instance.wanted, wants(instance)[0])])


def dearest(instance: Channelization) -> NDArray[np.float64]:
    """What a price may be at most: hybrid, what unicast costs."""
    flow = wants(instance)[0]
    return instance.unicast_price * instance.rates[flow] if instance.hybrid else np.full(len(flow), np.inf)
