"""A plan that lives: valid at every step, better after `reoptimise`, few moves."""

import time

import numpy as np
import pytest

import yardline as yl
from yardline.models.assignment.judge import evaluate
from yardline.solvers.heuristics.assignment.greedy_offline import greedy_offline


def living(m=300, **parameters):
    instance = yl.generate("assignment-3", seed=3, subscribers=m, brokers=10, beta=2, beta_max=3, **parameters)
    return yl.assignment.Live(instance, greedy_offline(instance, np.random.default_rng(0)))


def rules(live):
    return {v.rule for v in evaluate(live.instance, live.solution).violations}


@pytest.mark.parametrize("parameters", [{}, {"levels": 2, "degree": 4}])
def test_valid_after_every_step(parameters):
    live, rng = living(**parameters), np.random.default_rng(1)
    numbers = list(range(300))
    for k in range(60):
        low = rng.random(2) * 0.8
        if k % 3 == 0:
            numbers.append(live.join(rng.random(5), low, low + 0.1))
        elif k % 3 == 1:
            live.leave(numbers.pop(int(rng.integers(len(numbers)))))
        else:
            live.change(int(rng.choice(numbers)), low, low + 0.2)
        assert not rules(live)
    assert live.instance.m == len(numbers)


def test_reoptimise_improves_with_few_moves():
    live = living()
    before, leaf = evaluate(live.instance, live.solution).cost, live.solution.leaf.copy()
    moved = live.reoptimise(max_moves=40, seconds=2)
    assert moved == (live.solution.leaf != leaf).sum() <= 40
    assert evaluate(live.instance, live.solution).cost < before
    assert not rules(live)
    bound = yl.bound(live.instance, "cells", time_limit=60)
    assert 0 < bound.bound <= evaluate(live.instance, live.solution).cost


def test_who_cannot_join_is_told_why():
    live = living()
    with pytest.raises(ValueError, match="low <= high"):
        live.join(np.zeros(5), [1, 1], [0, 0])
    with pytest.raises(ValueError, match="not there"):
        live.leave(10_000)

    def crowd():
        for _ in range(2_000):
            live.join(np.full(5, 0.5), [0, 0], [1, 1])

    with pytest.raises(ValueError, match="none of them has room"):
        crowd()
    assert not {"latency", "cover", "nesting"} & rules(live)


@pytest.mark.slow
def test_joining_takes_less_than_a_millisecond():
    instance = yl.generate("assignment-3", seed=2, subscribers=100_000, brokers=100)
    live = yl.assignment.Live(instance, greedy_offline(instance, np.random.default_rng(0)))
    rng, taken = np.random.default_rng(0), []
    for _ in range(300):
        low = rng.random(2) * 0.8
        begun = time.perf_counter()
        live.join(rng.random(5), low, low + 0.1)
        taken.append(time.perf_counter() - begun)
    assert np.median(taken) < 1e-3
