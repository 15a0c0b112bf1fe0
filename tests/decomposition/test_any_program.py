"""yl.relax_round: models that we never saw."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

import yardline as yl
from yardline.modelling import program_behind
from yardline.results import MethodFailed


def covering(n=12, seed=0, sense=1):
    """Each of n sets of three elements must be hit; minimised, or its negative maximised."""
    rng, m = np.random.default_rng(seed), pyo.ConcreteModel()
    m.x = pyo.Var(range(n), domain=pyo.Binary)
    price = rng.integers(1, 9, n).tolist()
    m.total = pyo.Objective(
        expr=sense * sum(price[i] * m.x[i] for i in range(n)), sense=pyo.minimize if sense > 0 else pyo.maximize
    )
    m.hit = pyo.ConstraintList()
    for _ in range(n):
        m.hit.add(sum(m.x[int(i)] for i in rng.choice(n, 3, replace=False)) >= 1)
    return m


def test_value_bound_gap_point():
    best = yl.solve_model(covering()).value
    model = covering()
    found = yl.relax_round(model, trials=4)
    assert found.bound <= best + 1e-6
    assert best - 1e-6 <= found.value <= 1.1 * best  # the repair is a neighbourhood of the relaxation's point
    assert found.status in ("optimal", "feasible")
    assert found.value == pytest.approx(pyo.value(model.total))
    assert sum(found.point.values()) == sum(round(v.value) for v in model.x.values())
    assert yl.verify(program_behind(covering()), found.certificate).holds


def test_a_maximisation():
    best = yl.solve_model(covering(sense=-1)).value
    found = yl.relax_round(covering(sense=-1), trials=3)
    assert found.value <= best + 1e-6 <= found.bound + 2e-6


def test_own_steps():
    def everything(point, rng):
        return dict.fromkeys(point, 1.0)

    def cheaper(point, rng):
        return {**point, "x(0)": 1.0}

    found = yl.relax_round(covering(), round=everything, repair=cheaper, trials=2)
    assert set(found.point.values()) == {1.0}


def test_a_repair_that_does_not_repair():
    found = yl.relax_round(covering(), round=lambda p, rng: dict.fromkeys(p, 0.0), repair=lambda p, rng: p, trials=3)
    assert found.status == "unknown"
    assert found.bound is not None
    assert "rows" in found.note


def test_infeasible():
    model = covering()
    model.never = pyo.Constraint(expr=sum(model.x.values()) >= 100)
    assert yl.relax_round(model, trials=2).status == "infeasible"


def test_bad_calls():
    with pytest.raises(ValueError, match="trials is 0"):
        yl.relax_round(covering(), trials=0)
    with pytest.raises(RuntimeError, match="names column"):
        yl.relax_round(covering(), round=lambda p, rng: {"nobody": 1.0}, trials=2)
    with pytest.raises((MethodFailed, RuntimeError)):
        yl.relax_round(covering(), repair=lambda p, rng: 3, trials=2)


def test_the_same_seed_gives_the_same():
    assert yl.relax_round(covering(), trials=3, seed=5).point == yl.relax_round(covering(), trials=3, seed=5).point
