"""What a comparison says on a terminal: its table, its progress, what is left."""

from __future__ import annotations

import io
import os
import re

import pytest
from comparison import own_methods as own

import yardline as yl
from yardline.cli.comparing import Live
from yardline.comparison.progress import Progress

pytestmark = pytest.mark.usefixtures("clean_registry")

AT_WORK = Progress(done=5, total=20, running=2, failed=1, seconds=61.0, left=183.0, event="x" * 200)


def test_the_table_fits_80_columns_and_says_what_went_wrong(files):
    names = own.register(own.good, own.raises, own.breaks_a_rule)
    text = repr(yl.compare(files, [*names, "exact"], ["lp"], engine="local"))
    lines = text.splitlines()
    assert lines[0] == "channelization: 3 instances, 3 with a certified bound"
    assert lines[1].split() == ["method", "valid", "mean", "gap", "worst", "gap", "wins", "optimal", "seconds"]
    assert max(map(len, lines[:-1])) <= 80
    by_method = {line.split()[0]: line for line in lines[3:7]}
    assert re.fullmatch(r"exact +3/3 +0 % +0 % +3 +3 +\S+", by_method["exact"])
    assert by_method["raises"].endswith("  3 failed")
    assert re.fullmatch(r"breaks-a-rule +0/3 +- +- +0 +0 +\S+  3 invalid", by_method["breaks-a-rule"])
    assert lines[-1].startswith("failed: raises, 3 runs: method raises failed: ZeroDivisionError")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_never_wraps_and_leaves_nothing_behind(monkeypatch):
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((70, 24)))
    live = Live(quiet=False)
    live.hear(AT_WORK)
    shown = terminal.getvalue().removeprefix("\r\x1b[2K")
    assert len(shown) == 69
    assert shown.startswith("[####............] 5/20 done, 2 running, 1 failed, 1 min 01 s")
    live.close()
    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_progress_in_a_log_is_a_line_now_and_then_and_nothing_with_q(monkeypatch):
    monkeypatch.setattr("sys.stderr", log := io.StringIO())
    live = Live(quiet=False)
    live.hear(AT_WORK)
    live.hear(AT_WORK)
    live.close()
    (line,) = log.getvalue().splitlines()
    assert line.startswith("5/20 done, 2 running, 1 failed, 1 min 01 s, 3 min 03 s to go")
    Live(quiet=True).hear(AT_WORK)
    assert log.getvalue().count("\n") == 1


def test_the_start_is_seen_and_does_not_count_in_the_estimate(files):
    told = []
    yl.compare(files, ["random"], ["lp"], engine="local", listener=told.append)
    assert (told[0].event, told[0].done, told[0].total, told[0].left) == ("starting the first runs", 0, 6, None)
    assert told[-1].left == 0
