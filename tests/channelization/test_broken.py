"""Broken files, one per defect: the message names the file, the field and what was expected; the command line exits 2."""

from __future__ import annotations

from pathlib import Path

import command_line
import pytest

import yardline as yl

FOLDER = Path(__file__).parent / "broken"
FILES = sorted(path.name for path in FOLDER.iterdir())

EXPECTED = {  # file without its ending: field, then words of the expectation
    "rate-negative": ("rates[1]", "finite number >= 0"),
    "rate-nan": ("rates[1]", "finite number >= 0"),
    "rate-infinite": ("rates[1]", "finite number >= 0"),
    "rate-beyond-float": ("rates[1]", "finite number >= 0"),
    "rate-string": ("rates[1]", "a number"),
    "rate-boolean": ("rates[1]", "a number"),
    "rate-null": ("rates[1]", "a number"),
    "rates-object": ("rates", "a list"),
    "rates-string": ("rates", "a list"),
    **{f"{name}-missing": (name, "required") for name in ("rates", "wants", "groups", "mode", "hybrid", "problem")},
    "version-missing": ("yardline", "required"),
    "want-out-of-range": ("wants[0][1]", "index from 0 to 2"),
    "want-negative": ("wants[0][1]", "index from 0 to 2"),
    "want-twice": ("wants[0]", "each index once"),
    "want-fraction": ("wants[0][0]", "index from 0 to 2"),
    "want-huge": ("wants[0][0]", "index from 0 to 2"),
    "wants-flat": ("wants[0]", "a list"),
    "groups-negative": ("groups", "whole number >= 0"),
    "groups-fraction": ("groups", "whole number >= 0"),
    "groups-string": ("groups", "whole number >= 0"),
    "groups-huge": ("groups", "whole number >= 0"),
    "mode-unknown": ("mode", "constrained, unconstrained"),
    "hybrid-number": ("hybrid", "true or false"),
    "weight-negative": ("weights.receive", "finite number >= 0"),
    "weight-unknown": ("weights.recieve", "did you mean 'receive'"),
    "weights-list": ("weights", "an object"),
    "budget-negative": ("unicast_budget", "finite number >= 0"),
    "budget-string": ("unicast_budget", "number >= 0"),
    "receive-weight-short": ("receive_weight", "expected 2"),
    "receive-weight-ragged": ("receive_weight[1]", "expected 3"),
    "receive-weight-nan": ("receive_weight[1][1]", "finite number >= 0"),
    "send-weight-short": ("send_weight", "expected 3"),
    "field-unknown": ("rate", "did you mean 'rates'"),
    "field-twice": ("rates", "each field once"),
    "version-wrong": ("yardline", "format version 1"),
    "version-boolean": ("yardline", "format version 1"),
    "problem-unknown": ("problem", "did you mean 'channelization'"),
    "problem-number": ("problem", "a string"),
    "name-number": ("name", "a string"),
    "meta-list": ("meta", "an object"),
    "empty": ("", "Expecting value"),
    "list": ("the document", "an object"),
    "not-json": ("", "Expecting value"),
    "truncated": ("", "Unterminated string"),
    "trailing": ("", "Extra data"),
    "deeply-nested": ("", "nested too deeply"),
    "deeply-nested-field": ("", "nested too deeply"),
    "parquet-missing": ("rates.parquet", "nowhere.parquet"),
    "parquet-outside": ("rates.parquet", "inside the instance's folder"),
    "parquet-number": ("rates.parquet", "a string"),
    "not-utf8": ("", "utf-8"),
    "gzip-without-ending": ("", "utf-8"),
    "truncated-gzip": ("", "end"),
    "not-gzip": ("", "gzip"),
    "corrupt-gzip": ("", "decompressing"),
}


def test_every_file_has_an_expectation():
    assert sorted(name.partition(".")[0] for name in FILES) == sorted(EXPECTED)


@pytest.mark.parametrize("name", FILES)
def test_the_message_names_file_field_and_expectation(name):
    with pytest.raises(yl.BadFile) as caught:
        yl.load(FOLDER / name)
    message = str(caught.value)
    field, expected = EXPECTED[name.partition(".")[0]]
    assert message.startswith(f"{FOLDER / name}: ")
    assert field in message
    assert expected in message
    assert "\n" not in message
    assert len(message) < 400 + len(str(FOLDER))


@pytest.mark.parametrize("name", FILES)
def test_the_command_line_exits_2_with_one_line(name, monkeypatch, capsys):
    said = command_line.here(monkeypatch, capsys, "solve", FOLDER / name, "--json")
    assert said.code == 2
    assert command_line.is_one_line(said), said.err
    assert name in said.err


@pytest.mark.parametrize("command", ["bound", "evaluate", "verify"])
def test_every_command_that_reads_an_instance(command, monkeypatch, capsys):
    more = [FOLDER / "list.json"] if command in ("evaluate", "verify") else []
    said = command_line.here(monkeypatch, capsys, command, FOLDER / "rate-nan.json", *more)
    assert said.code == 2
    assert command_line.is_one_line(said)


@pytest.mark.parametrize("name", ["rate-nan.json", "deeply-nested.json", "truncated-gzip.json.gz"])
def test_in_a_process_of_its_own(name):
    said = command_line.outside("solve", FOLDER / name)
    assert said.code == 2
    assert command_line.is_one_line(said), said.err


def test_directory_and_missing_file(tmp_path, monkeypatch, capsys):
    for path in (tmp_path, tmp_path / "none.json", tmp_path / "none.json.gz", tmp_path / ("x" * 400)):
        said = command_line.here(monkeypatch, capsys, "solve", path)
        assert said.code == 2
        assert command_line.is_one_line(said)
        assert str(path) in said.err
