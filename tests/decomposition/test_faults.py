"""What goes wrong in a loop: lost workers, no time, nothing feasible, nothing valid."""

from __future__ import annotations

import time

import command_line
import in_process
import numpy as np
import pytest

import yardline as yl
from yardline.decomposition import engines, groups, relax_round, sampled
from yardline.decomposition import parts as by_parts
from yardline.decomposition.problems import channelization
from yardline.decomposition.tasks.task import Result, Task
from yardline.models.channelization.data import ChannelizationPlan
from yardline.models.method import Run
from yardline.models.problem import problem_of

LOOPS = {
    "relax-round": (relax_round.relax_round, {"trials": 6}),
    "sampled": (sampled.sampled, {"size": 6, "rounds": 2, "samples": 2}),
    "parts": (by_parts.parts, {"parts": 2, "rounds": 2}),
}
FOR_CHANNELIZATION = {**LOOPS, "groups": (groups.groups, {"rounds": 2, "bands": 5})}


class Losing(engines.HereEngine):
    """Tasks in this process, but the first so many attempts at each are lost."""

    def __init__(self, losses: int) -> None:
        self.losses, self.lost = losses, {}

    def run(self, tasks, shared):
        for task in tasks:
            self.lost[task.key] = self.lost.get(task.key, 0) + 1
            if self.lost[task.key] <= self.losses:
                yield Result(key=task.key, error="died: its process was ended by SIGKILL", lost=True)
            else:
                self.lost[task.key] = 0
                yield from super().run([task], shared)


@pytest.mark.parametrize("name", FOR_CHANNELIZATION)
def test_lost_workers_change_nothing(monkeypatch, name):
    loop, options = FOR_CHANNELIZATION[name]
    instance = yl.generate("channelization-random", flows=14, users=8, groups=3, interest=0.2)
    expected = loop(instance, np.random.default_rng(5), run=Run(), **options)
    monkeypatch.setattr(engines, "SHORT", 0.0)
    for module in (engines, by_parts):
        monkeypatch.setattr(module, "engine_of", lambda run: Losing(2))
    found = loop(instance, np.random.default_rng(5), run=Run(), **options)
    assert (found.bound, found.note) == (expected.bound, expected.note)
    if expected.solution is not None:
        assert found.solution.document() == expected.solution.document()


def test_a_task_that_is_always_lost_is_an_error():
    task = Task(key="0", target="nobody:nothing", payload={}, time_limit=1.0)
    with pytest.raises(RuntimeError, match=r"task 0 failed 3 times: died"):
        list(engines.outcomes(Losing(9), [task], {}))


def test_out_of_time_the_best_trial_so_far_is_kept(monkeypatch):
    instance, whole = yl.load("channelization-shared"), channelization.repaired

    def slowly(*given):
        time.sleep(0.3)
        return whole(*given)

    monkeypatch.setattr(channelization, "repaired", slowly)
    run = Run(time_limit=4)
    answer = relax_round.relax_round(instance, np.random.default_rng(0), run=run, trials=64)
    assert problem_of(instance).evaluate(instance, answer.solution).valid
    assert answer.bound is not None
    assert "of 64 trials in the time given" in answer.note
    assert run.seconds() < 6


def test_no_time_at_all():
    instance = yl.generate("channelization-random", flows=120, users=60, groups=5)
    for loop, options in FOR_CHANNELIZATION.values():
        answer = loop(instance, np.random.default_rng(0), run=Run(time_limit=0.001), **options)
        assert answer.infeasible is None
        assert answer.solution is None or problem_of(instance).evaluate(instance, answer.solution).valid
        assert answer.note or answer.solution is not None


@pytest.mark.parametrize("name", LOOPS)
def test_infeasible_says_why(name):
    instance = yl.generate("overlay-paper", users=5, brokers=2, channels=2)
    tight = problem_of(instance).read_instance({**instance.document(), "capacity": [0.0, 0.0]})
    loop, options = LOOPS[name]
    answer = loop(tight, np.random.default_rng(0), run=Run(), **options)
    assert answer.infeasible == problem_of(tight).why_infeasible(tight)
    assert answer.infeasible


def test_no_valid_extension_says_what_was_missing(monkeypatch):
    instance = yl.load("channelization-shared")
    nothing = ChannelizationPlan.of(instance, groups=[], subscriptions=[[]] * instance.m)
    monkeypatch.setattr(channelization, "extended", lambda *_: (nothing, np.ones(len(instance.wanted))))
    answer = in_process.method(instance, "sampled", size=2, rounds=2, samples=1)
    assert answer.solution is None
    assert "`delivery` was broken (2 times)" in answer.note


def test_nothing_found_is_exit_3(monkeypatch, capsys, tmp_path):
    target = tmp_path / "large.json"
    yl.save(yl.generate("channelization-random", flows=120, users=60, groups=5), target)
    words = ("solve", target, "--method", "relax-round", "--time-limit", "0.05", "--json", "-q")
    said = command_line.here(monkeypatch, capsys, *words)
    assert said.code == 3
    assert said.document["status"] == "unknown"
