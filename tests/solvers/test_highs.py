"""Every solver through one suite; then the traps of HiGHS, a test for each."""

from __future__ import annotations

import importlib.metadata
import math
import pkgutil
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from programs import binary_programs, cover, hard, optimum, program

import yardline.solvers
from yardline.models.method import Unavailable
from yardline.models.program import INF
from yardline.solvers import highs
from yardline.solvers.catalog import SOLVERS, solver
from yardline.solvers.certificates.rational import ExactProgram, as_float
from yardline.solvers.certify import one_leaf, tree_bound
from yardline.solvers.outcome import Outcome, Stop, accepted

every_solver = pytest.mark.parametrize("name", sorted(SOLVERS))


def test_the_catalog_is_complete():
    """Every module of solvers/ with solve() and version() is in the catalog, and so in this suite."""
    names = [m.name for m in pkgutil.iter_modules(yardline.solvers.__path__) if not m.ispkg]
    modules = [importlib.import_module(f"yardline.solvers.{name}") for name in names]
    found = {m.__name__ for m in modules if hasattr(m, "solve") and hasattr(m, "version")}
    assert found == set(SOLVERS.values())


@every_solver
class TestEverySolver:
    def test_whole(self, name):
        outcome = solver(name).solve(cover())
        assert (outcome.stop, outcome.value, outcome.bound) == (Stop.OPTIMAL, 2, 2)
        assert outcome.point.sum() == 2

    def test_relaxation_brings_duals_and_no_bound(self, name):
        outcome = solver(name).solve(cover(), relax=True)
        assert outcome.stop is Stop.OPTIMAL
        assert outcome.value == pytest.approx(1.5)
        assert outcome.bound == -math.inf  # trap: an LP objective is not a bound
        assert outcome.duals == pytest.approx([0.5, 0.5, 0.5])

    def test_infeasible(self, name):
        impossible = program([1, 1], [([1, 1], 3, INF)])
        outcome = solver(name).solve(impossible)
        assert (outcome.stop, outcome.value, outcome.bound, outcome.point) == (
            Stop.INFEASIBLE,
            math.inf,
            -math.inf,
            None,
        )
        assert solver(name).solve(impossible, relax=True).stop is Stop.INFEASIBLE

    @pytest.mark.parametrize("relax", [False, True])
    def test_without_rows(self, name, relax):
        outcome = solver(name).solve(program([1, -2, 0], [], offset=5), relax=relax)
        assert (outcome.stop, outcome.value) == (Stop.OPTIMAL, 3)

    @pytest.mark.parametrize("relax", [False, True])
    def test_without_columns(self, name, relax):
        outcome = solver(name).solve(program([], [], offset=5), relax=relax)
        assert (outcome.stop, outcome.value) == (Stop.OPTIMAL, 5)

    def test_optimum_of_zero_is_proved(self, name):
        outcome = solver(name).solve(program([1, 1], [([1, 1], -INF, 1)]))
        assert (outcome.stop, outcome.value, outcome.bound) == (Stop.OPTIMAL, 0, 0)

    def test_version(self, name):
        assert solver(name).version()

    @settings(max_examples=80)
    @given(drawn=binary_programs())
    def test_equals_enumeration(self, name, drawn):
        outcome, best = solver(name).solve(drawn), optimum(drawn)
        if best == math.inf:
            assert outcome.stop is Stop.INFEASIBLE
        else:
            assert outcome.stop is Stop.OPTIMAL
            assert (outcome.value, outcome.bound) == pytest.approx((best, best))

    def test_time_limit_is_not_optimal(self, name):
        begun = time.monotonic()
        outcome = solver(name).solve(hard(), time_limit=1.0)
        assert time.monotonic() - begun < 3.1
        assert outcome.stop is Stop.TIME_LIMIT
        assert outcome.bound < outcome.value

    def test_incumbents_and_bounds_are_told(self, name):
        values, bounds = [], []
        told = {"on_incumbent": lambda point, value: values.append(value), "on_bound": bounds.append}
        outcome = solver(name).solve(hard(), time_limit=1.0, **told)
        assert values == sorted(values, reverse=True)
        assert min(values) == pytest.approx(outcome.value)
        assert all(bound <= outcome.value + 1e-6 for bound in bounds)

    @pytest.mark.parametrize("power", [-60, 60])
    def test_costs_of_any_magnitude(self, name, power):
        scale = 2.0**power
        outcome = solver(name).solve(program([3 * scale, 2 * scale, 2 * scale], [([1, 1, 0], 1, 2), ([1, 0, 1], 1, 2)]))
        assert (outcome.value, outcome.bound) == pytest.approx((3 * scale, 3 * scale), rel=1e-9)


def test_a_solver_that_is_not_there_is_an_error_never_another():
    with pytest.raises(ValueError, match="there is no solver 'higs': did you mean 'highs'"):
        solver("higs")


def test_a_bound_of_a_relaxation_comes_from_its_duals():
    outcome = highs.solve(cover(), relax=True)
    exact = tree_bound(ExactProgram(cover()), one_leaf(cover(), outcome.duals).document(), 40)
    assert as_float(exact) == pytest.approx(1.5, abs=1e-9)
    assert exact <= optimum(cover())


def test_dual_bound_of_zero_means_none_after_no_time():
    outcome = highs.solve(hard(), time_limit=0.0)
    assert outcome.stop is Stop.TIME_LIMIT
    assert outcome.bound in (-math.inf, 0.0)
    # costs are shifted by -100: a bound of "0" would now exceed what can be reached
    shifted = program([-1.0] * 30, [([float(w) for w in np.random.default_rng(0).integers(9, 99, 30)], -INF, 700.5)])
    stopped = highs.solve(shifted, time_limit=0.0)
    assert stopped.bound <= highs.solve(shifted).value


def test_a_second_thread_count_is_an_error_with_a_sentence():
    code = "from yardline.solvers import highs; highs.fresh(threads=1); highs.fresh(); highs.fresh(threads=2)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "HiGHS runs with 1 thread(s) in this process: 2 need a process of their own" in done.stderr


def test_a_refused_option_is_an_error():
    with pytest.raises(ValueError, match="does not take no_such_option=1"):
        highs.solve(cover(), no_such_option=1)
    with pytest.raises(ValueError, match="does not take presolve='sometimes'"):
        highs.solve(cover(), presolve="sometimes")


def test_the_gap_is_zero_unless_asked_for():
    fresh = highs.fresh()
    assert fresh.getOptionValue("mip_rel_gap")[1] == 0
    assert fresh.getOptionValue("mip_abs_gap")[1] == 0


def test_time_limits_of_relaxations_do_not_add_up():
    for _ in range(3):  # each call has a fresh object
        assert highs.solve(cover(), relax=True, time_limit=5).stop is Stop.OPTIMAL


def test_the_wrong_version_is_refused(monkeypatch):
    highs.version.cache_clear()
    monkeypatch.setattr(importlib.metadata, "version", lambda package: "1.14.0")
    with pytest.raises(
        Unavailable, match=r"highspy 1\.14\.0 is not used \(its presolve returns wrong optima\): pip install"
    ):
        highs.solve(cover())


def test_a_point_that_breaks_a_row_is_not_accepted():
    assert accepted(cover(), np.array([1.0, 0.0, 0.0]), relax=False) is None
    assert accepted(cover(), np.array([0.5, 0.5, 0.5 - 1e-3]), relax=True) is None
    assert accepted(cover(), np.array([1.0, 1.0 - 1e-9, 0.0]), relax=False).tolist() == [1, 1, 0]
    budget = program([-1, -1], [([1, 1], -INF, 2 - 1e-7)])  # missed by less than the solver forgives
    assert accepted(budget, np.array([1.0, 1.0]), relax=False) is None


def test_an_optimum_within_the_solvers_tolerance_outside_a_row_is_cut_off():
    outcome = highs.solve(program([-1, -1, -1], [([1, 1, 1], -INF, 2 - 1e-7)]))
    assert (outcome.stop, outcome.value, outcome.bound) == (Stop.OPTIMAL, -1, -1)
    lower = highs.solve(program([1, 1, 1], [([1, 1, 1], 1 + 1e-7, INF)]))
    assert (lower.stop, lower.value) == (Stop.OPTIMAL, 2)


def test_an_outcome_refuses_a_contradiction():
    with pytest.raises(ValueError, match=r"bound 3 exceeds value 2"):
        Outcome(stop=Stop.OPTIMAL, value=2, bound=3)
    with pytest.raises(ValueError, match="bound nan"):
        Outcome(stop=Stop.OPTIMAL, value=2, bound=math.nan)
    assert Outcome(stop=Stop.LIMIT).bound == -math.inf


def test_every_column_is_bounded():
    with pytest.raises(ValueError, match=r"column x\(0\) is not bounded on both sides"):
        program([1], [], high=INF)
