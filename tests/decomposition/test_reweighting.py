"""The loop of reweighted sampling: draws, doublings, stages."""

from __future__ import annotations

import math

import numpy as np
import pytest

from yardline.decomposition.reweighting import Look, Stage, drawn, enough_valid, net_size, no_gain, reweighted


def test_heavy_elements_are_drawn_more_often():
    rng = np.random.default_rng(0)
    counts = np.zeros(4)
    for _ in range(2000):
        counts[drawn(np.array([1.0, 1.0, 1.0, 7.0]), 1, rng)] += 1
    assert 0.65 < counts[3] / 2000 < 0.75  # 7 of 10, four standard deviations of 0.01


def test_a_draw_has_no_repetition_and_all_is_all():
    stage, rng = Stage(3, np.ones(10)), np.random.default_rng(1)
    assert len(set(stage.drawn(9, rng).tolist())) == 9
    assert stage.drawn(10, rng).tolist() == stage.drawn(99, rng).tolist() == list(range(10))


def test_weights_double_where_it_went_badly_and_light_ones_are_valid():
    stage = Stage(1, np.ones(16))
    one, three = np.arange(16) < 1, np.arange(16) < 3
    stage.learn(Look(one))  # 1 of 16 is at most an eighth
    stage.learn(Look(three))  # 2 + 1 + 1 of 17 is more
    assert (stage.iterations, stage.valid, stage.idle) == (2, 1, 2)
    assert (stage.weight / stage.weight[-1]).tolist() == [4.0, 2.0, 2.0] + [1.0] * 13
    stage.learn(Look(one, gained=True))
    assert stage.idle == 0


def test_thousands_of_doublings_do_no_harm():
    stage = Stage(1, np.ones(3))
    for _ in range(3000):
        stage.learn(Look(np.array([True, False, False])))
    assert np.isfinite(stage.weight).all()
    assert drawn(stage.weight, 1, np.random.default_rng(0)).tolist() == [0]


def seen_by(look, over, first=2, weight=None):
    seen = []

    def watched(chosen, stage):
        seen.append((stage.size, stage.weight.copy()))
        return look(len(seen))

    reweighted(np.ones(4) if weight is None else weight, first, lambda stage: None, watched, over)
    return seen


def test_sizes_double_and_weights_start_again():
    first = np.arange(4) < 1
    seen = seen_by(lambda count: Look(first, done=count == 5), no_gain(2))
    assert [size for size, _ in seen] == [2, 2, 4, 4, 8]
    assert [bool((weight == 1).all()) for _, weight in seen] == [True, False, True, False, True]


def test_a_gain_keeps_the_stage():
    seen = seen_by(lambda count: Look(np.zeros(4, dtype=bool), done=count == 6, gained=count in (2, 3)), no_gain(2))
    assert [size for size, _ in seen] == [2, 2, 2, 2, 2, 4]


def test_the_paper_ends_a_stage_by_valid_iterations():
    # g = 1, m = 2: 4 ln 2 = 2.77, so three valid ones; all weight is bad in the first two iterations, which do not count
    seen = seen_by(
        lambda count: Look(np.full(2, count <= 2), done=count == 6), enough_valid(2), first=1, weight=np.ones(2)
    )
    assert [size for size, _ in seen] == [1, 1, 1, 1, 1, 2]


def test_every_stage_has_an_iteration():
    seen = seen_by(lambda count: Look(np.zeros(4, dtype=bool), done=count == 3), enough_valid(4), first=8)
    assert [size for size, _ in seen] == [8, 16, 32]


@pytest.mark.parametrize("g", [1, 2, 32])
def test_size_of_a_net(g):
    assert net_size(g, 1.0) == max(1, math.ceil(g * math.log(g)))
