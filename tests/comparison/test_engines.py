"""The two engines: equal answers, and a method that misbehaves costs its own row, whichever way it does."""

from __future__ import annotations

import subprocess
import sys

import command_line
import pytest
from comparison import own_methods as own

import yardline as yl

pytestmark = [pytest.mark.usefixtures("clean_registry"), pytest.mark.xdist_group("spark")]

COLUMNS = ["instance", "name", "method", "seed", "status", "cost", "bound", "certified", "gap", "rule"]


def table(compared):
    frame = compared.pandas().sort_values(["instance", "method", "seed"])
    return frame[COLUMNS].reset_index(drop=True)


@pytest.fixture(params=["local", "spark"])
def engine(request):
    """How to run a comparison: on processes of this machine, or on the session of these tests."""
    if request.param == "local":
        return {"engine": "local"}
    return {"spark": request.getfixturevalue("spark")}


def test_both_engines_give_the_same_rows(files, spark):
    names = own.register(own.drawn, own.breaks_a_rule)
    call = {"methods": [*names, "random", "exact"], "bounds": ["lp", "tree"], "seeds": 3}
    here, there = yl.compare(files, engine="local", **call), yl.compare(files, spark=spark, **call)
    assert len(here.runs) == 3 * 4 * 3
    assert table(here).equals(table(there))
    assert here.pandas().query("method == 'drawn'").groupby("instance").cost.nunique().max() > 1  # seeds matter


# what each of them does -> the status and words of its row
WAYS = {
    own.raises: ("failed", "ZeroDivisionError: what was I thinking"),
    own.kills_itself: ("failed", "SIGKILL"),
    own.eats_memory: ("failed", "MemoryError"),
    own.prints: ("feasible", ""),
    own.forks: ("feasible", ""),
    own.exits: ("failed", "SystemExit: 3"),
    own.loops: ("unknown", "was stopped"),
    own.returns_garbage: ("failed", "TypeError"),
    own.returns_half: ("failed", "subscriptions"),
    own.breaks_a_rule: ("invalid", "delivery"),
}


def test_whatever_a_method_does_costs_its_own_row(engine, files):
    names = own.register(own.good, *WAYS)
    compared = yl.compare(files, names, ["lp"], time_limit=1.5, **engine)
    rows = compared.pandas()
    assert len(rows) == len(files) * len(names)
    assert not rows.duplicated(["instance", "method", "seed"]).any()
    for function, (status, words) in {**WAYS, own.good: ("feasible", "")}.items():
        mine = rows[rows.method == function.__name__.replace("_", "-")]
        assert set(mine.status) <= ({status, "optimal"} if status == "feasible" else {status}), mine[
            ["status", "error"]
        ]
        assert all(words in error for error in mine.error + mine.rule), mine.error.tolist()
    wins = {line["method"]: line["wins"] for line in compared.summary}
    assert wins["breaks-a-rule"] == 0  # it would be the cheapest
    assert compared.failed == sum(status == "failed" for status, _ in WAYS.values()) * len(files)


def test_a_forked_copy_never_answers_for_the_next_run(engine, files):
    names = own.register(own.forks, own.sleeps)
    rows = yl.compare(files, names, ["lp"], seeds=2, **engine).pandas()
    assert set(rows.status) <= {"feasible", "optimal"}
    assert (rows.groupby("instance").cost.nunique() == 1).all()  # both send everything to everybody


def test_a_worker_of_spark_that_dies_costs_the_run_that_killed_it(files, spark):
    names = own.register(own.good, own.kills_its_parent)
    rows = yl.compare(files[:2], names, ["lp"], seeds=2, spark=spark).pandas()
    assert len(rows) == 8
    assert set(rows[rows.method == "good"].status) <= {"feasible", "optimal"}
    killed = rows[rows.method == "kills-its-parent"]
    assert set(killed.status) == {"failed"}
    assert all(error.startswith("lost: ") for error in killed.error)


def test_frames(files, spark):
    compared = yl.compare(files, ["random"], ["lp"], spark=spark)
    frame = compared.spark()
    assert frame.sparkSession is spark
    assert {row.method for row in frame.collect()} == {"random"}
    assert frame.columns == list(compared.pandas().columns)


def test_a_session_that_was_stopped_is_refused(files):
    class Stopped:
        @property
        def sparkContext(self):
            raise RuntimeError("no longer there")

    with pytest.raises(yl.Unavailable, match="give one that runs"):
        yl.compare(files, ["random"], spark=Stopped())


SCRIPT = """
import yardline as yl
from heuristics import everything        # a module beside the script, which no worker has

@yl.method("channelization", "mine")
def mine(instance, rng):
    return everything(instance)

yl.method("channelization", "theirs")(everything_of_a_module := __import__("heuristics").theirs)
print(sorted({(row["method"], row["status"]) for row in yl.compare(FILES, ["mine", "theirs"], ["lp"], MORE).runs}))
"""
MODULE = """
def everything(instance):
    return {"groups": [list(range(instance.n))], "subscriptions": [[0]] * instance.m}

def theirs(instance, rng):
    return everything(instance)
"""


@pytest.mark.parametrize("more", ["engine='local'", pytest.param("master='local[2]'", marks=pytest.mark.slow)])
def test_functions_of_a_script_reach_the_workers(more, files, tmp_path):
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "heuristics.py").write_text(MODULE)
    text = SCRIPT.replace("FILES", repr([str(path) for path in files])).replace("MORE", more)
    (place / "script.py").write_text(text)
    done = subprocess.run(
        [sys.executable, str(place / "script.py")],
        **{"capture_output": True, "text": True, "timeout": 120, "cwd": tmp_path},
        env=command_line.environment(),
    )
    assert done.stdout == "[('mine', 'feasible'), ('theirs', 'feasible')]\n", done.stderr


def test_what_the_workers_imported_is_not_searched_for_garbage_after_every_job(files, spark):
    yl.compare(files, ["random"], ["lp"], spark=spark)
    frozen = spark.sparkContext.parallelize([0], 1).map(lambda _: __import__("gc").get_freeze_count()).collect()
    assert frozen[0] > 10_000  # objects: modules, functions, classes
