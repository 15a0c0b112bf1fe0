"""RAN: each flow to a random group, then the cheapest subscriptions."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from yardline.models import registry
from yardline.models.channelization.data import Channelization, ChannelizationPlan
from yardline.solvers.heuristics.channelization.subscription import best_plan


@registry.method("channelization", "random", paper="001 RAN")
def random(instance: Channelization, rng: Generator) -> ChannelizationPlan:
    """Each wanted flow to a random group, then the least subscription."""
    group_of = np.full(instance.n, -1)
    if instance.groups:
        group_of[instance.wanted] = rng.integers(instance.most_groups, size=len(instance.wanted))
    return best_plan(instance, group_of)
