"""The first-order method: near the optimum that HiGHS finds, and honest about how near."""

import numpy as np
import pytest

from yardline.models.program import Builder
from yardline.solvers import first_order, highs


def cover(seed, items=30, sets=60):
    """A random cover with a budget: every item in some chosen set, a bounded number of them; the set of all is always there."""
    rng = np.random.default_rng(seed)
    b = Builder()
    cost = rng.random(sets) + 0.1
    cost[0] = 10.0
    y = b.columns("y", np.arange(sets)[:, None], cost=cost, integer=False)
    member = rng.random((items, sets)) < 0.15
    member[:, 0] = True
    i, k = np.nonzero(member)
    b.entries(b.rows("cover", np.arange(items)[:, None], low=1.0)[i], y[k])
    b.entries(b.rows("few", np.zeros((1, 1)), high=np.array([8.0]))[np.zeros(sets, dtype=int)], y)
    return b.program()


@pytest.mark.parametrize("seed", range(6))
def test_near_the_optimum(seed):
    program = cover(seed)
    best = highs.solve(program, relax=True).value
    point = first_order.solve(program, accuracy=1e-3, steps=50_000)
    assert point.missing <= 1e-3
    assert point.value == pytest.approx(best, rel=5e-3)
    assert point.dual_value <= best * (1 + 1e-6)  # the dual value is one of the whole program, whatever slept
    assert ((program.matrix @ point.x - program.row_low) >= -2e-3).all()


@pytest.mark.parametrize("awake", [[0], [0, 7, 31]])
def test_columns_that_slept_at_first_are_found(awake):
    program = cover(3)
    best = highs.solve(program, relax=True).value
    point = first_order.solve(program, accuracy=1e-3, steps=50_000, awake=np.array(awake))
    assert point.value == pytest.approx(best, rel=5e-3)


def test_it_stops_when_told_and_says_how_far_it_is():
    point = first_order.solve(cover(1), accuracy=1e-9, steps=50_000, stop=lambda: True)
    assert point.steps == first_order.PERIOD
    assert max(point.missing, (point.value - point.dual_value) / point.value) > 1e-9
