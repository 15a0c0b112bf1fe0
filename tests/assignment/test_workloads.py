"""Workloads 1 and 2: reproducible, shaped as stated, errors that name the parameter."""

import numpy as np
import pytest

import yardline as yl
from yardline.instances.workloads.assignment_regions import _diffused, _generalised, _topics
from yardline.models.assignment.feasibility import why_infeasible
from yardline.models.assignment.load import least_factor


@pytest.mark.parametrize("workload", ["assignment-1", "assignment-2"])
def test_reproducible_and_feasible(workload):
    one, two, other = (yl.generate(workload, seed=s, subscribers=400, brokers=8) for s in (3, 3, 4))
    assert one.hash == two.hash != other.hash
    assert why_infeasible(one) is None or "least feasible load factor" in why_infeasible(one)


def test_topics_are_few_and_bound_to_places():
    instance = yl.generate("assignment-2", seed=1, subscribers=2000, brokers=10)
    interests = np.unique(instance.low, axis=0)
    assert len(interests) <= 50
    assert np.allclose(instance.high - instance.low, 1)
    for low in interests[:5]:
        mine = (instance.low == low).all(axis=1)
        assert len(np.unique(instance.at[mine], axis=0)) <= 10


def test_regions_and_their_settings():
    for skew in "LH":
        for broad in "LH":
            instance = yl.generate(
                "assignment-1", seed=1, subscribers=900, brokers=9, interest_skew=skew, broad_interests=broad
            )
            share = np.mean(instance.at[:, 0] < -50)
            assert 0.3 < share < 0.6  # four ninths live in the first region
            side = instance.high - instance.low
            assert set(np.log2(side).ravel().tolist()) <= {0.0, -1, -2, -3, -4, -5, -6}
    tight = yl.generate("assignment-1", subscribers=50, brokers=30, levels=2, latency="tight", broker_mix="1:1:1")
    assert (tight.max_delay, tight.beta, tight.beta_max) == (0.2, 7, 8)
    assert tight.level.max() == 1
    assert yl.generate("assignment-1", broker_mix="1-1-1").hash == yl.generate("assignment-1", broker_mix="1:1:1").hash


def test_generalisation_and_diffusion_move_popularity():
    _, _, level, above = _topics(2)
    popular = np.random.default_rng(0).random(len(level))
    moved = _generalised(popular, above, level, 0.1)
    assert moved.sum() == pytest.approx(popular.sum())
    assert moved[0] > popular[0]
    # siblings of one parent: variance falls to 45 %
    siblings = above == 1
    calm = _diffused(popular, above, 0.55)
    assert calm[siblings].var() == pytest.approx(0.45 * popular[siblings].var())
    assert calm[siblings].mean() == pytest.approx(popular[siblings].mean())


def test_latencies_from_a_table(tmp_path):
    points = np.random.default_rng(0).random((12, 3)) * 100
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    path = tmp_path / "rtt.tsv"
    np.savetxt(path, 2 * distance, delimiter="\t")
    instance = yl.generate("assignment-1", subscribers=60, brokers=3, latencies=str(path), beta_max=3)
    places = np.unique(instance.at, axis=0)
    assert len(places) <= 12
    # three dimensions fit into five: every distance between two places is one of the table
    found = np.linalg.norm(places[:, None] - places[None], axis=2).ravel()
    assert np.abs(found[:, None] - distance.ravel()[None]).min(axis=1).max() < 1e-3
    with pytest.raises(ValueError, match="latencies"):
        yl.generate("assignment-1", subscribers=5, brokers=3, latencies=str(tmp_path / "none.tsv"))


@pytest.mark.parametrize(
    ("workload", "parameters", "field"),
    [
        ("assignment-1", {"mix": "4:1"}, "mix"),
        ("assignment-1", {"depth": 0}, "depth"),
        ("assignment-2", {"places": 0}, "places"),
    ],
)
def test_bad_parameters(workload, parameters, field):
    with pytest.raises(ValueError, match=field):
        yl.generate(workload, subscribers=5, brokers=3, **parameters)


def test_caps_over_the_factor_of_balance():
    least = least_factor(yl.generate("assignment-1", seed=1, subscribers=300, brokers=10, beta_max=9.0))
    instance = yl.generate("assignment-1", seed=1, subscribers=300, brokers=10, over_balance=1.5)
    assert instance.beta == instance.beta_max == pytest.approx(1.5 * least)
