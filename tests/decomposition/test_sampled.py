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
from yardline.decomposition.reweighting import doubled, drawn
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


def test_weights_double_where_it_went_badly():
    weight = doubled(np.ones(8), np.array([0.0, 0, 0, 0, 0, 0, 3, 9]))
    assert weight.tolist() == [1, 1, 1, 1, 1, 1, 2, 2]
    assert doubled(np.ones(4), np.zeros(4)).tolist() == [1, 1, 1, 1]


def test_heavy_elements_are_drawn_more_often():
    rng = np.random.default_rng(0)
    counts = np.zeros(4)
    for _ in range(2000):
        chosen = drawn(np.array([1.0, 1.0, 1.0, 7.0]), 1, rng)
        counts[chosen] += 1
    assert 0.65 < counts[3] / 2000 < 0.75  # 7 of 10, four standard deviations of 0.01


@pytest.mark.parametrize("option", ["size=0", "size=-3", "rounds=0", "inner=nonsense", "inner=sampled"])
def test_bad_options(monkeypatch, capsys, option):
    words = ("solve", "channelization-shared", "--method", "sampled", "--set", option, "-q")
    said = command_line.here(monkeypatch, capsys, *words)
    assert said.code == 2
    assert command_line.is_one_line(said)


def test_a_simple_inner_method():
    instance = yl.generate("channelization-random", flows=60, users=20, groups=6, interest=0.1)
    answer = in_process.method(instance, "sampled", size=15, rounds=3, inner="flow-merge")
    assert problem_of(instance).evaluate(instance, answer.solution).valid
