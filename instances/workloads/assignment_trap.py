"""The workload `assignment-trap`: where `greedy-offline` pays for a distance that nobody has to bridge.

K = brokers * alpha boxes can be opened in all. K interests [1.5 i, 1.5 i + 1] come first: opening a box costs 1, stretching a
neighbour's 1.5, so a greedy method opens all K. The last interest, [far, far + 1], then stretches the nearest box, which
ends at 1.5 (K - 1) + 1, all the way: the plan costs K + far + 1 - (1.5 K - 0.5). It is far better to let two neighbours
share a box and to keep one for the last:

    K + 1.5  =  (K - 2) * 1 + 2.5 + 1

Everybody stands at one place and has all leaves to choose from, so greedy methods take subscribers in the order given.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from yardline.models import checks, registry
from yardline.models.assignment.data import Assignment


@registry.workload("assignment", "assignment-trap", paper="002, section 6, the example where Gr* fails")
def trap(
    rng: Generator,
    *,
    brokers: int = 4,
    alpha: int = 3,
    copies: int = 10,
    far: float = 10_000.0,
    beta: float = 2.0,
    beta_max: float = 3.0,
) -> Assignment:
    """Greedy opens every box for interests that could share one, and stretches a box over `far` for the last interest.

    copies: subscribers per interest; far: where the last interest lies.
    """
    for name, value in (("brokers", brokers), ("alpha", alpha), ("copies", copies)):
        checks.integer(value, name, low=1)
    near = 1.5 * np.arange(brokers * alpha)
    low = np.repeat([*near, checks.number(far, "far", low=float(near[-1]) + 2.0)], copies)[:, None]
    return Assignment(
        publisher=np.zeros(1),
        broker_at=np.ones((brokers, 1)),
        parent=np.full(brokers, -1),
        alpha=alpha,
        at=np.full((len(low), 1), 2.0),
        low=low,
        high=low + 1.0,
        max_delay=0.0,
        beta=beta,
        beta_max=beta_max,
    )
