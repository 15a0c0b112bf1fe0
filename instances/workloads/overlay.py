"""Workloads of overlay."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator

from yardline.models import checks, registry
from yardline.models.checks import Vector
from yardline.models.overlay.data import Overlay

SAMPLES = 64  # points per channel at which a generating function is averaged


@registry.workload("overlay", "overlay-paper", paper="003 section VI")
def paper(
    rng: Generator,
    *,
    users: int = 100,
    brokers: int = 10,
    channels: int = 10,
    core_price: float = 1.0,
    room: float = 2.0,
    topology: Literal["mesh", "tree"] = "mesh",
) -> Overlay:
    """Quadratic generating functions and interval subscriptions on [0, 1], cut into equal channels; equal capacities.

    Costs are distances of points in the unit square, core links scaled so that their mean is core_price times the mean
    access cost; all brokers together may take `room` times the traffic of all users.
    (The paper leaves the geometry open.)
    """
    users, brokers = checks.integer(users, "users"), checks.integer(brokers, "brokers", low=1)
    channels = checks.integer(channels, "channels", low=1)
    core_price, room = checks.number(core_price, "core_price"), checks.number(room, "room")
    at_users, at_brokers = rng.random((users, 2)), rng.random((brokers, 2))
    access = _distances(at_users, at_brokers)
    fields = {
        "generate": _histograms(rng.uniform(-1.0, 1.0, size=(users, 3)), channels),
        "subscribes": _intervals(np.sort(rng.random((users, 2)), axis=1), channels),
        "access_cost": access,
        "core_cost": _scaled(_distances(at_brokers, at_brokers), core_price * (access.mean() if users else 1.0)),
        "topology": topology,
        "metric": True,
    }
    traffic = Overlay(capacity=np.full(brokers, np.inf), **fields).traffic  # type: ignore[arg-type]
    return Overlay(capacity=np.full(brokers, room * traffic.sum() / brokers), **fields)  # type: ignore[arg-type]


def _distances(a: Vector, b: Vector) -> Vector:
    return np.hypot(a[:, None, 0] - b[:, 0], a[:, None, 1] - b[:, 1])


def _scaled(distance: Vector, mean: float) -> Vector:
    """Distances between brokers with a given mean over links."""
    count = len(distance) * (len(distance) - 1)
    return distance * (mean * count / distance.sum()) if distance.any() else distance


def _histograms(coefficients: Vector, channels: int) -> Vector:
    """The mean of max(0, a + b x + c x^2) over each channel."""
    x = (np.arange(channels * SAMPLES) + 0.5) / (channels * SAMPLES)
    values = np.maximum(0.0, coefficients @ np.stack([np.ones_like(x), x, x**2]))
    return np.asarray(values.reshape(len(coefficients), channels, SAMPLES).mean(axis=2))


def _intervals(ends: Vector, channels: int) -> list[list[int]]:
    """The channels that each interval touches."""
    first, last = np.minimum(channels - 1, (ends * channels).astype(np.int64)).T
    return [list(range(a, b + 1)) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
