"""Workloads of channelization."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from yardline.models import checks, registry
from yardline.models.channelization.data import Channelization


@registry.workload("channelization", "channelization-random", paper="000 (random interests)")
def random(
    rng: Generator,
    *,
    flows: int = 40,
    users: int = 30,
    groups: int = 8,
    interest: float = 0.03,
    mode: Literal["constrained", "unconstrained"] = "constrained",
    hybrid: bool = False,
    unicast: float = 1.0,
) -> Channelization:
    """Every user picks 3 % of the flows (at least one), all alike; rates are uniform on 1..10."""
    flows = checks.integer(flows, "flows", low=1)
    users = checks.integer(users, "users")
    if not 0 <= interest <= 1:
        checks.fail("interest", interest, "a fraction from 0 to 1")
    picks = max(1, round(interest * flows))
    chosen = np.argpartition(rng.random((users, flows)), picks - 1, axis=1)[:, :picks] if users else np.zeros((0, 1))
    rows = np.repeat(np.arange(users), picks)
    wants = csr_array((np.ones(users * picks, np.int64), (rows, chosen.ravel().astype(int))), shape=(users, flows))
    return Channelization(
        rates=rng.integers(1, 11, size=flows).astype(float),
        wants=wants,
        groups=groups,
        mode=mode,
        hybrid=hybrid,
        unicast=unicast,
    )
