"""Overlay's local search: its prices are the judge's, its answers hold and are never dearer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from overlay.tiny import any_overlay

from yardline.decomposition.problems.overlay import wired
from yardline.decomposition.problems.overlay_moves import Prices, exchanged, settled
from yardline.models.overlay.judge import evaluate
from yardline.models.problem import Problem


@settings(max_examples=60)
@given(any_overlay(), st.randoms(use_true_random=False))
def test_prices_and_search(document, random):
    instance = Problem("overlay").read_instance(document)
    rng = np.random.default_rng(random.randrange(2**30))
    open_ = [np.flatnonzero(row) for row in instance.open]
    if instance.U == 0 or any(len(row) == 0 for row in open_):
        return
    broker = np.array([rng.choice(row) for row in open_])
    links = None
    if instance.topology == "tree":
        links = np.array([(int(rng.integers(b)), b) for b in range(1, instance.B)], dtype=np.int64).reshape(-1, 2)
    plan = wired(instance, broker, links)
    assert Prices(instance, links).of(broker[None])[0] == pytest.approx(evaluate(instance, plan).cost, rel=1e-6)
    if not evaluate(instance, plan).valid:
        return
    better = settled(instance, broker, links)
    links = None if links is None else exchanged(instance, better, links, rng)
    found = evaluate(instance, wired(instance, better, links))
    assert found.valid
    assert found.cost <= evaluate(instance, plan).cost * (1 + 1e-9)
