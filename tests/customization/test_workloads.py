"""The workload: what the paper says holds, the same seed gives the same instance, and the trees are prefix routing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from yardline.instances.tapestry import dissemination_tree
from yardline.models import registry
from yardline.models.customization import graph
from yardline.models.customization.data import Customization
from yardline.models.customization.feasibility import why_infeasible


def generate(seed: int = 0, **parameters: Any) -> Customization:
    instance = registry.find_workload("customization-random").function(np.random.default_rng(seed), **parameters)
    assert isinstance(instance, Customization)
    return instance


def test_same_seed_same_instance() -> None:
    assert generate(5, brokers=100).hash == generate(5, brokers=100).hash
    assert generate(5, brokers=100).hash != generate(6, brokers=100).hash


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.5, 1.0])
def test_as_many_subscribers_as_match(ratio: float) -> None:
    instance = generate(brokers=200, formats=8, matching_ratio=ratio)
    counts = np.diff(instance.requests.indptr)
    assert (counts > 0).sum() == round(200 * ratio)
    assert counts.max(initial=0) <= 2  # at most a quarter of 8 formats


def test_everything_can_be_made_and_the_density_is_kept() -> None:
    instance = generate(brokers=50, formats=16)
    assert len(instance.conversions) == 210  # of 240 pairs, as the paper's video formats
    assert graph.made(instance).all()
    assert why_infeasible(instance) is None
    sparse = generate(brokers=50, formats=16, density=0)
    assert len(sparse.conversions) == 15  # a tree
    assert graph.made(sparse).all()


@pytest.mark.parametrize("formats", [1, 2, 3, 70])
def test_any_number_of_formats(formats: int) -> None:
    instance = generate(brokers=20, formats=formats)
    assert instance.m == formats
    assert why_infeasible(instance) is None


@pytest.mark.parametrize("base", [2, 4, 16])
@pytest.mark.parametrize("brokers", [1, 2, 1000])
def test_trees_hold_no_idle_broker(base: int, brokers: int) -> None:
    tree = dissemination_tree(np.random.default_rng(3), brokers=brokers, matching_ratio=0.4, base=base)
    n = len(tree.parent)
    assert tree.parent[0] == -1
    assert (tree.parent[1:] < np.arange(1, n)).all()
    assert tree.subscriber.sum() == round(0.4 * brokers)
    is_leaf = ~np.isin(np.arange(n), tree.parent)
    assert tree.subscriber[is_leaf & (np.arange(n) > 0)].all()  # relays only where they lead to somebody


def test_larger_bases_make_flatter_trees() -> None:
    def mean_depth(base: int) -> float:
        tree = dissemination_tree(np.random.default_rng(0), brokers=1024, matching_ratio=0.7, base=base)
        depth = np.zeros(len(tree.parent))
        for v in range(1, len(tree.parent)):
            depth[v] = depth[tree.parent[v]] + 1
        return float(depth.mean())

    # 1,024 brokers need log_base(1024) digits to tell apart, and each hop settles a digit unless it is settled already
    assert mean_depth(2) > mean_depth(4) > mean_depth(16)
    assert 5 * (1 - 1 / 4) - 1 < mean_depth(4) < 5 + 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"matching_ratio": 1.5}, "matching_ratio is 1.5: expected a fraction from 0 to 1"),
        ({"brokers": 0}, "brokers is 0: expected a whole number from 1 to 10000000"),
        ({"base": 1}, "base is 1: expected a whole number from 2 to 64"),
        ({"formats": 0}, "formats is 0: expected a whole number >= 1"),
        ({"density": -1}, "density is -1: expected a finite number >= 0"),
        ({"density": 2}, "density is 2: expected a fraction from 0 to 1"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r".") as refusal:
        generate(**parameters)
    assert str(refusal.value) == message
