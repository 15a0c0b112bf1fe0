"""When a channelization instance has no valid plan.

With one group there always is one: all flows in it, everybody subscribed. So only K = 0 can fail.
"""

from __future__ import annotations

import numpy as np

from yardline.models.channelization.data import Channelization
from yardline.models.numbers import widened


def why_infeasible(instance: Channelization) -> str | None:
    """The reason in words, or None where there is a valid plan."""
    pairs = instance.wants.nnz
    if instance.groups > 0 or pairs == 0:
        return None
    if not instance.hybrid:
        user, flow = (int(part[0]) for part in instance.wants.nonzero())
        return f"user {user} wants flow {flow}, but there are no groups (groups is 0) and no unicast (hybrid is false)"
    needed = float(np.sum(instance.rates[instance.wants.indices]))
    budget = instance.unicast_budget
    if budget is None or needed <= widened(budget):
        return None
    return (
        f"there are no groups (groups is 0), and serving all {pairs} wants by unicast takes {needed:g}, "
        f"over the budget of {budget:g}"
    )
