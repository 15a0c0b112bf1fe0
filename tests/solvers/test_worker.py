"""The worker that can be killed: limits hold, crashes cost one run, what was found is kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import command_line
import pytest
from channelization.strategies import instance

import yardline as yl
from yardline.models import registry
from yardline.solvers.worker import pool

DOCUMENT = {"rates": [1, 2], "wants": [[0], [1]], "groups": 1, "mode": "constrained", "hybrid": False}
PLAN = {"groups": [[0, 1]], "subscriptions": [[0], [0]]}  # both receive 3, sent 3: 9
MADE = instance(DOCUMENT)


@pytest.fixture
def own(clean_registry):
    """Registers a method of the test's own."""
    return yl.method("channelization", "own")


def kept(limit, method="own", **more):
    """Solve, and check that the limit is kept within 10 % plus 2 s."""
    begun = time.monotonic()
    solved = yl.solve(MADE, method, time_limit=limit, **more)
    assert time.monotonic() - begun < 1.1 * limit + 2 + 1  # one more for starting the child
    assert solved.seconds < 1.1 * limit + 2
    return solved


def test_a_loop_for_ever_is_stopped(own):
    @own
    def method(instance, rng):
        while True:
            pass

    solved = kept(0.5)
    assert (solved.status, solved.cost) == ("unknown", None)
    assert "was stopped" in solved.note


def test_a_sleep_is_stopped_and_what_was_found_is_kept(own):
    plan = dict(PLAN)

    @own
    def method(instance, rng, *, run):
        from yardline.models.channelization.data import ChannelizationPlan

        run.report("plan", solution=ChannelizationPlan.from_document(plan, instance), value=9.0)
        run.report("bound", bound=4.0, valid_because="by hand")
        time.sleep(1000)

    solved = kept(0.5)
    assert (solved.status, solved.cost, solved.bound) == ("feasible", 9, 4)
    assert solved.valid_because == "by hand"


def test_the_worker_serves_again_after_a_kill(own):
    @own
    def method(instance, rng):
        time.sleep(1000)

    kept(0.1)
    assert yl.solve(MADE, "exact").cost == 9


@pytest.mark.parametrize(
    ("crash", "words"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("import os; os._exit(7)", "exit code 7"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise ZeroDivisionError('by hand')", "ZeroDivisionError: by hand"),
        ("raise MemoryError", "MemoryError"),
        ("x = bytearray(2**46)", "MemoryError"),
    ],
)
def test_a_crash_costs_one_run(own, crash, words):
    @own
    def method(instance, rng):
        exec(crash)

    with pytest.raises(yl.MethodFailed, match="method own failed") as caught:
        yl.solve(MADE, "own", time_limit=20)
    assert words in str(caught.value)
    assert yl.solve(MADE, "exact").cost == 9


def test_memory_is_limited(own):
    @own
    def method(instance, rng):
        hoard = []
        while True:
            hoard.append(bytearray(2**28))

    worker = pool.Worker(memory=2**31)
    from yardline.solvers.worker.running import run_entry

    run = {"time_limit": 20.0, "seed": 0, "solver": "highs", "threads": 1, "certify": False}
    ended = run_entry(registry.find("method", "channelization", "own"), MADE, worker=worker, options={}, run=run)
    worker.kill()
    assert (ended.how, ended.kind) == ("failed", "MemoryError")


def test_a_failure_after_a_finding_keeps_the_finding(own):
    plan = dict(PLAN)

    @own
    def method(instance, rng, *, run):
        from yardline.models.channelization.data import ChannelizationPlan

        run.report("plan", solution=ChannelizationPlan.from_document(plan, instance), value=9.0)
        raise RuntimeError("later")

    solved = yl.solve(MADE, "own")
    assert (solved.status, solved.cost) == ("feasible", 9)
    assert "failed after its last finding: RuntimeError: later" in solved.note


@pytest.mark.parametrize(("returned", "words"), [("None", "returned NoneType"), ("{'groups': []}", "subscriptions")])
def test_a_wrong_answer_is_a_failure_with_a_sentence(own, returned, words):
    @own
    def method(instance, rng):
        return eval(returned)

    with pytest.raises(yl.MethodFailed, match=words):
        yl.solve(MADE, "own")


def test_a_plan_that_breaks_a_rule_is_invalid(own):
    @own
    def method(instance, rng):
        return {"groups": [[0]], "subscriptions": [[0], [0]]}

    solved = yl.solve(MADE, "own")
    assert (solved.status, solved.gap) == ("invalid", None)
    assert solved.violations[0].rule == "delivery"


def test_options_of_ones_own(own):
    @own
    def method(instance, rng, *, which: int = 0, loud: bool = False):
        assert isinstance(which, int)
        assert loud
        return {"groups": [[0, 1]], "subscriptions": [[0], [0]] if which == 3 else [[], []]}

    assert yl.solve(MADE, "own", options={"which": "3", "loud": "yes"}).cost == 9
    with pytest.raises(ValueError, match="has no option 'wich': did you mean 'which'"):
        yl.solve(MADE, "own", options={"wich": 3})


def test_many_instances_in_turn():
    """The child keeps the last few instances; the parent must know which."""
    for idle in pool._idle:  # begin with a child that knows none
        idle.kill()
    several = [instance({**DOCUMENT, "rates": [1, k]}) for k in range(7)]
    for k in (0, 1, 2, 3, 4, 3, 0, 5, 6, 1, 6, 0, 2, 4):
        assert yl.solve(several[k], "random").cost == 3 * (1 + k)


def test_limits_of_years_are_limits():
    assert yl.solve(MADE, "random", time_limit=1e9).cost == 9


def script(tmp_path, text):
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(text))
    return path


def started(path, **more):
    environment = {**os.environ, "PYTHONPATH": str(command_line.ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *map(str, path)], env=environment, **pipes, **more)


UNGUARDED = f"""
    import yardline as yl
    from pathlib import Path

    Path("times").open("a").write("x")
    HERE = {PLAN!r}

    @yl.method("channelization", "mine")
    def mine(instance, rng):
        print("noise")
        return HERE

    made = yl.load("instance.json")
    print(yl.solve(made, "mine").cost, yl.solve(made, "mine", seed=1).cost)
"""


def test_an_unguarded_script_runs_once_and_prints_stay_out_of_stdout(tmp_path):
    yl.save(MADE, tmp_path / "instance.json")
    out, err = started([script(tmp_path, UNGUARDED)], cwd=tmp_path).communicate(timeout=60)
    assert out == "9.0 9.0\n", err
    assert "noise" in err
    assert (tmp_path / "times").read_text() == "x"


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def gone(pid, within):
    end = time.monotonic() + within
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(pid)


ENDLESS = f"""
    import os, sys, time
    import yardline as yl

    @yl.method("channelization", "endless")
    def endless(instance, rng):
        open("child", "w").write(str(os.getpid()))
        while True:
            time.sleep(0.01)

    yl.solve(yl.channelization.Channelization.from_document({DOCUMENT!r}), "endless", time_limit=300)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_child_ends_with_its_parent(tmp_path, how):
    parent = started([script(tmp_path, ENDLESS)], cwd=tmp_path)
    end = time.monotonic() + 30
    while not ((tmp_path / "child").exists() and (tmp_path / "child").read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    child = int((tmp_path / "child").read_text())
    assert alive(child)
    parent.send_signal(how)
    parent.communicate(timeout=10)
    assert gone(child, within=5)


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_ctrl_c_writes_what_was_found(tmp_path, more):
    large = yl.generate("channelization-random", seed=1, flows=40, users=40, groups=8, mode="unconstrained")
    yl.save(large, tmp_path / "large.json")
    words = ["-m", "yardline", "solve", "large.json", "-m", "exact", "-o", "plan.json", "--trace", "trace", *more]
    process = started([*words, "--time-limit", "300"], cwd=tmp_path)
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        lines = (tmp_path / "trace").read_text().splitlines() if (tmp_path / "trace").exists() else []
        if any(json.loads(line)["value"] is not None for line in lines):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    from yardline.instances.files import read_solution

    judged = yl.evaluate(large, read_solution(tmp_path / "plan.json", large))
    assert judged.valid
    if more:
        assert json.loads(out)["cost"] == pytest.approx(judged.cost)
        assert json.loads(out)["interrupted"] is True


COLD = f"""
    import yardline as yl

    instance = yl.channelization.Channelization.from_document({DOCUMENT!r})
    solved = yl.solve(instance, "flow-merge", time_limit=2)
    print(solved.status, solved.seconds < 2)
"""


def test_compiling_does_not_count(tmp_path, monkeypatch):
    # without what an earlier run has compiled, numba needs seconds before the method can do its milliseconds of work
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    done = started([script(tmp_path, COLD)], cwd=tmp_path)
    out, err = done.communicate(timeout=120)
    assert out == "feasible True\n", err
    assert any(tmp_path.rglob("*.nbc"))
