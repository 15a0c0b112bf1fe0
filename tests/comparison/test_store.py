"""Rows on disk: kept whatever happens, never twice, gone on with; broken input and folders; what is refuted."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time

import command_line
import pandas as pd
import pytest
from command_line import here
from comparison import own_methods as own

import yardline as yl
from yardline.comparison import store as stores
from yardline.comparison.plan import Settings

pytestmark = pytest.mark.usefixtures("clean_registry")


def compare(files, methods=("random",), bounds=("lp",), **more):
    return yl.compare(files, methods, bounds, engine="local", **more)


def rows_in(folder):
    return pd.read_parquet(folder / "runs.parquet")


def test_the_same_call_repeats_nothing(files, tmp_path):
    out, events = tmp_path / "out", []
    first = compare(files, seeds=2, out=out)
    again = compare(files, seeds=2, out=out, listener=events.append)
    assert events == []
    assert first.rows == again.rows
    more = compare(files, ("random", "flow-merge"), seeds=2, out=out, listener=events.append)
    assert len(more.runs) == len(rows_in(out)) == 12
    assert max(event.done for event in events) == more.planned == 15


def test_a_changed_function_is_run_again(files, tmp_path):
    out = tmp_path / "out"
    yl.method("channelization", "mine")(own.good)
    before = compare(files, ["mine"], out=out)
    assert compare(files, ["mine"], out=out).rows == before.rows
    yl.method("channelization", "mine")(own.breaks_a_rule)
    after = compare(files, ["mine"], out=out)
    assert {row["status"] for row in after.runs} == {"invalid"}
    assert len(rows_in(out)) == 3


def test_a_journal_is_read_even_if_its_last_line_is_half(files, tmp_path):
    out = tmp_path / "out"
    whole = compare(files, seeds=2, out=out)
    rows = rows_in(out).to_dict("records")
    (out / "runs.parquet").unlink()
    lines = [json.dumps(["method", row]) for row in rows]
    (out / "journal.jsonl").write_text("\n".join(lines[:4]) + "\n" + lines[4][:50])
    events = []
    again = compare(files, seeds=2, out=out, listener=events.append)
    assert [row["cost"] for row in again.rows] == [row["cost"] for row in whole.rows]
    assert (
        next(event.done for event in events if not event.event.startswith("starting")) == whole.planned - 1
    )  # two were left
    assert (out / "journal.jsonl").read_text() == ""


def test_lost_runs_are_tried_again(files, tmp_path):
    out = tmp_path / "out"
    store = stores.Store(out, Settings())
    store.begin([])
    store.add("method", {"instance": "x", "method": "m", "seed": 0, "status": "failed", "error": "lost: a worker"})
    store.add("method", {"instance": "y", "method": "m", "seed": 0, "status": "failed", "error": "it raised"})
    store.flush()
    store.close()
    again = stores.Store(out, Settings())
    assert [again.has(f"method|{name}|m|0", "") for name in "xy"] == [False, True]
    again.close()


def test_broken_instances_have_a_row_that_says_why(files, tmp_path, monkeypatch, capsys):
    bad = tmp_path / "bad.json"
    bad.write_text('{"yardline": 1, "problem": "overlay"}')
    out = tmp_path / "out"
    words = ("--methods", "random", "--bounds", "lp", "--engine", "local", "-q", "--json", "-o", out)
    said = here(monkeypatch, capsys, "compare", *files, bad, "nowhere.json", *words)
    assert said.code == 1
    assert (said.document["runs"], said.document["failed"], len(said.document["broken"])) == (3, 0, 2)
    rows = rows_in(out).set_index("name")
    assert rows.loc[str(bad), "status"] == "broken"
    assert "generate is missing" in rows.loc[str(bad), "error"]
    assert "no such file" in rows.loc["nowhere.json", "error"]
    assert len(rows) == 5
    assert here(monkeypatch, capsys, "compare", bad, *words[:-2]).code == 2  # nothing could be run
    shutil.copy(files[0], bad)  # repaired: its broken row goes
    assert here(monkeypatch, capsys, "compare", *files, bad, *words).code == 0
    assert set(rows_in(out).status) <= {"feasible", "optimal"}


def test_exit_codes_of_failures(files, monkeypatch, capsys):
    own.register(own.raises)
    words = ("--engine", "local", "-q", "--json", "--bounds", "lp")
    assert here(monkeypatch, capsys, "compare", *files, "--methods", "raises", *words).code == 1
    said = here(monkeypatch, capsys, "compare", *files, "--methods", "rises", *words)
    assert said.code == 2
    assert "did you mean 'raises'" in said.err


@pytest.mark.parametrize("where", ["/proc/out", "/dev/full/out", "hdfs://somewhere/out"])
def test_a_folder_that_cannot_be_written_is_refused_before_any_work(where, files, monkeypatch, capsys):
    monkeypatch.setattr("yardline.comparison.compare._read", None)  # nothing may be read before
    said = here(monkeypatch, capsys, "compare", *files, "--methods", "random", "-o", where)
    assert said.code == 2
    assert command_line.is_one_line(said)
    assert where.split("/")[1] in said.err or where in said.err


def test_a_full_disk_is_refused_before_any_work(files, tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    said = here(monkeypatch, capsys, "compare", *files, "--methods", "random", "-o", tmp_path / "out")
    assert (said.code, command_line.is_one_line(said)) == (2, True)
    assert "No space left" in said.err


def test_a_disk_that_fills_up_keeps_what_was_written(files, tmp_path, monkeypatch):
    out = tmp_path / "out"
    compare(files[:1], out=out)
    add, seen = stores.Store.add, []

    def filling(self, kind, row):
        if len(seen) >= 2:
            raise stores.BadFile(f"{out}: No space left on device")
        seen.append(row)
        add(self, kind, row)

    monkeypatch.setattr(stores.Store, "add", filling)
    with pytest.raises(stores.BadFile, match="No space"):
        compare(files, out=out)
    monkeypatch.undo()
    events = []
    assert len(compare(files, out=out, listener=events.append).runs) == 3
    assert events[-1].done == events[-1].total == 6
    assert (
        len({event.done for event in events if not event.event.startswith("starting")}) == 2
    )  # six, less two, less two


def test_another_comparison_in_the_same_folder_is_refused(files, tmp_path):
    store = stores.Store(tmp_path / "out", Settings())
    with pytest.raises(ValueError, match="another comparison is writing to it"):
        compare(files, out=tmp_path / "out")
    store.close()
    compare(files, out=tmp_path / "out")
    with pytest.raises(ValueError, match="the same settings"):
        compare(files, out=tmp_path / "out", time_limit=7)


def test_a_bound_that_a_plan_refutes_counts_for_nobody(files, monkeypatch, capsys):
    own.register(own.boasts)
    compared = compare(files, ["boasts", "exact"])
    assert len(compared.refuted) == 3
    assert all("exceeds the cost" in words for words in compared.refuted)
    assert all(row["status"] == "optimal" for row in compared.runs if row["method"] == "exact")
    assert all(row["gap"] > 0.01 for row in compared.runs if row["method"] == "boasts")
    words = ("--methods", "boasts,exact", "--bounds", "lp", "--engine", "local", "-q")
    said = here(monkeypatch, capsys, "compare", *files, *words)
    assert (said.code, "exceeds the cost" in said.err) == (70, True)


def test_the_plan(files, tmp_path, monkeypatch, capsys):
    words = ("--methods", "random,flow-merge", "--seeds", 5, "--dry-run", "-o", tmp_path / "out")
    said = here(monkeypatch, capsys, "compare", *files, *words, "--json")
    assert said.document["planned"] == said.document["left"] == 3 * 2 * 5 + 3
    assert {
        "problem": "channelization",
        "kind": "method",
        "name": "random",
        "instances": 3,
        "runs": 15,
        "left": 15,
    } in (said.document["plan"])
    assert not (tmp_path / "out").exists()


def test_methods_with_options(monkeypatch, capsys):
    words = ("--engine", "local", "-q", "--json", "--bounds", "lp")
    names = "random,greedy:heaviest_first=true:wiring=mst"
    said = here(monkeypatch, capsys, "compare", "overlay-tree", "--methods", names, *words)
    assert {line["method"] for line in said.document["rows"]} == set(names.split(","))
    for wrong in ("greedy:heavy=true", "greedy:heaviest_first=perhaps", "greedy:wiring", "auto:x=1"):
        said = here(monkeypatch, capsys, "compare", "overlay-tree", "--methods", wrong, *words)
        assert (said.code, command_line.is_one_line(said)) == (2, True), said.err


def test_workload_specs_and_tables(files, tmp_path):
    table = tmp_path / "many.parquet"
    texts = [path.read_text() for path in files] + ["[]"]
    pd.DataFrame({"name": ["a", "b", None, "bad"], "instance": texts}).to_parquet(table)
    (tmp_path / "torn.parquet").write_bytes(b"PAR1 and no more")
    spec = "channelization-random:flows=6,users=4:seeds=1-3"
    compared = compare([spec, table, tmp_path / "torn.parquet"])
    assert len(compared.runs) == 6
    assert len(compared.broken) == 2
    assert {row["name"] for row in compared.rows if row["status"] == "broken"} == {
        "bad",
        str(tmp_path / "torn.parquet"),
    }


@pytest.mark.parametrize("seeds", ["5-1", "1-", "one", "-3"])
def test_seeds_that_are_none_are_an_error(seeds):
    with pytest.raises(ValueError, match=f"seeds={seeds} is not understood"):
        compare([f"channelization-random:seeds={seeds}"])


SLOW_SCRIPT = """
import sys, yardline as yl
from comparison import own_methods as own
own.register(own.sleeps)
import yardline.cli
sys.argv = ["yardline", "compare", *FILES, "--methods", "sleeps", "--bounds", "lp", "--seeds", "8", "-o", OUT, *MORE]
yardline.cli.main()
"""


def started(files, out, *more):
    text = SLOW_SCRIPT.replace("FILES", repr([str(path) for path in files]))
    text = text.replace("OUT", repr(str(out))).replace("MORE", repr(list(more)))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    return subprocess.Popen([sys.executable, "-c", text], env=command_line.environment(), **pipes)


def wait_for_rows(out, count, seconds=90):
    """Until so many results are in the journal or the table."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        journal = (out / "journal.jsonl").read_text().count("\n") if (out / "journal.jsonl").exists() else 0
        table = len(rows_in(out)) if (out / "runs.parquet").exists() else 0
        if journal + table >= count:
            return
        time.sleep(0.2)
    raise AssertionError("no rows came")


ENGINES = [
    pytest.param(("--engine", "local"), id="local"),
    pytest.param(("--master", "local[2]"), id="spark", marks=[pytest.mark.slow, pytest.mark.xdist_group("spark")]),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_and_gone_on_with(how, engine, files, tmp_path):
    out = tmp_path / "out"
    process = started(files, out, *engine)
    wait_for_rows(out, 7)
    if how == signal.SIGINT:
        import os

        os.killpg(process.pid, how)  # as a terminal does
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130, err
        assert "Traceback" not in err
    else:
        process.kill()
        process.communicate(timeout=30)
    time.sleep(1)  # what was running ends with its parent
    store = stores.Store(out, Settings())
    kept = {key: row["seconds"] for key, row in store.runs.items()}
    store.close()
    assert 3 <= len(kept) < 24
    process = started(files, out, *engine)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    rows = rows_in(out)
    assert len(rows) == 24
    assert not rows.duplicated(["instance", "method", "seed"]).any()
    now = {f"method|{r.instance}|{r.method}|{r.seed}": r.seconds for r in rows.itertuples()}
    assert all(now[key] == seconds for key, seconds in kept.items())  # nothing was repeated
