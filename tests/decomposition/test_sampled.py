"""Reweighted sampling: valid plans from samples, weights that double, faults."""

from __future__ import annotations

import math

import command_line
import in_process
import numpy as np
import pytest
from channelization import brute_force as channelization_force
from channelization.strategies import documents as channelizations
from customization import brute_force as customization_force
from customization.strategies import instances as customizations
from hypothesis import given, settings
from overlay import brute_force as overlay_force
from overlay.tiny import any_overlay as overlays

import yardline as yl
from yardline.decomposition import engines
from yardline.decomposition.sampled import sampled, worst
from yardline.models.method import Run
from yardline.models.problem import Problem, problem_of


def checked(problem, document, best):
    instance = Problem(problem).read_instance(document)
    answer = in_process.method(instance, "sampled", size=2, rounds=4)
    assert (answer.infeasible is not None) == (best == math.inf)
    if answer.infeasible or answer.solution is None:
        assert answer.infeasible or answer.note
        return
    judged = problem_of(instance).evaluate(instance, answer.solution)
    assert judged.valid
    assert judged.cost >= best * (1 - 1e-9) - 1e-12


@settings(max_examples=25)
@given(channelizations())
def test_channelization(document):
    checked("channelization", document, channelization_force.optimum(document))


@settings(max_examples=20)
@given(overlays())
def test_overlay(document):
    checked("overlay", document, overlay_force.optimum(document))


@settings(max_examples=25)
@given(customizations())
def test_customization(document):
    checked("customization", document, customization_force.least_cost(document))


def test_a_sample_of_everything_is_the_instance():
    instance = yl.load("channelization-shared")
    answer = in_process.method(instance, "sampled", size=10_000)
    assert problem_of(instance).evaluate(instance, answer.solution).cost == pytest.approx(89.0)  # README: its optimum


def test_the_worst_quarter_is_bad():
    assert worst([np.array([0.0, 0, 0, 0, 0, 0, 3, 9])]).tolist() == [False] * 6 + [True] * 2
    assert not worst([np.zeros(4)]).any()
    assert worst([np.array([4.0, 0, 0, 0]), np.array([0.0, 5, 0, 0])]).tolist() == [False, True, False, False]


def ran(instance, engine="here"):
    run = Run(time_limit=60, engine=engine, master="local[2]")
    return sampled(instance, np.random.default_rng(3), run=run, size=8, rounds=3, samples=3)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("channelization-random", {"flows": 40, "users": 12, "groups": 4, "interest": 0.1}),
        ("overlay-paper", {"users": 14, "brokers": 3, "channels": 3}),
        ("customization-random", {"brokers": 30, "formats": 5, "matching_ratio": 0.3}),
    ],
)
def test_any_number_of_processes(monkeypatch, name, parameters):
    monkeypatch.setattr(engines, "SHORT", 0.0)
    instance = yl.generate(name, seed=1, **parameters)
    here = ran(instance).solution.document()
    for slots in (1, 2):
        monkeypatch.setattr(engines, "SLOTS", slots)
        assert ran(instance, "local").solution.document() == here


@pytest.mark.slow
def test_spark_gives_the_same():
    instance = yl.generate("channelization-random", flows=40, users=12, groups=4, interest=0.1)
    options = {"size": 8, "rounds": 3, "samples": 3}
    here = yl.solve(instance, "sampled", options=options)
    spark = yl.solve(instance, "sampled", options=options, engine="spark", master="local[2]")
    assert here.solution.document() == spark.solution.document()


@pytest.mark.parametrize("option", ["size=0", "size=-3", "rounds=0", "samples=0", "inner=nonsense", "inner=sampled"])
def test_bad_options(monkeypatch, capsys, option):
    words = ("solve", "channelization-shared", "--method", "sampled", "--set", option, "-q")
    said = command_line.here(monkeypatch, capsys, *words)
    assert said.code == 2
    assert command_line.is_one_line(said)


def test_a_simple_inner_method():
    instance = yl.generate("channelization-random", flows=60, users=20, groups=6, interest=0.1)
    answer = in_process.method(instance, "sampled", size=15, rounds=3, inner="flow-merge")
    assert problem_of(instance).evaluate(instance, answer.solution).valid
