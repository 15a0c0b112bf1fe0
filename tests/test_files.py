"""Files: round trips, duplicate fields, whole or not at all, tables beside the document."""

from __future__ import annotations

import gzip
import json
import os

import pytest
from channelization.strategies import documents, instance
from hypothesis import given, settings

import yardline as yl
from yardline.instances import files, tables

DOCUMENT = {"rates": [1, 2], "wants": [[0], [1]], "groups": 1, "mode": "constrained", "hybrid": False}
HEAD = {"yardline": 1, "problem": "channelization"}


@settings(max_examples=40)
@given(document=documents())
@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_instances_come_back_the_same(tmp_path_factory, ending, document):
    path = tmp_path_factory.mktemp("round") / f"instance{ending}"
    made = instance({**document, "name": "naïve", "meta": {"seed": 1, "deep": {"a": [None]}}})
    yl.save(made, path)
    back = yl.load(path)
    assert (back.hash, back.name, dict(back.meta)) == (made.hash, "naïve", {"seed": 1, "deep": {"a": [None]}})


def test_gz_is_packed_and_reproducible(tmp_path):
    yl.save(instance(DOCUMENT), tmp_path / "a.json.gz")
    yl.save(instance(DOCUMENT), tmp_path / "b.json.gz")
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert json.loads(gzip.decompress((tmp_path / "a.json.gz").read_bytes()))["rates"] == [1, 2]


@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_plans_come_back_the_same(tmp_path, ending):
    made = instance(DOCUMENT)
    solved = yl.solve(made, "exact", seed=5)
    path = tmp_path / f"plan{ending}"
    yl.save(solved, path)
    document = files.read_document(path)
    assert document["instance"] == made.hash
    assert (document["method"], document["seed"], document["yardline"]) == ("exact", 5, 1)
    assert files.read_solution(path, made).document() == solved.solution.document()


def test_a_plan_by_hand_needs_only_problem_and_plan(tmp_path):
    made = instance(DOCUMENT)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"problem": "channelization", "groups": [[0, 1]], "subscriptions": [[0], [0]]}))
    assert yl.evaluate(made, files.read_solution(path, made)).cost == 9  # both receive 3, sent 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instance": "0" * 64}, "plan for another instance"),
        ({"problem": "overlay"}, "plan for another problem"),
        ({"yardline": 2}, "expected format version 1"),
        ({"costs": 9}, "costs is not a known field"),
    ],
)
def test_plans_that_do_not_belong(tmp_path, change, message):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({**HEAD, "groups": [[0, 1]], "subscriptions": [[0], [0]], **change}))
    with pytest.raises(yl.BadFile, match=message):
        files.read_solution(path, instance(DOCUMENT))


def test_duplicate_keys_at_any_depth(tmp_path):
    path = tmp_path / "twice.json"
    text = json.dumps({**HEAD, **DOCUMENT, "weights": {"send": 1}})
    path.write_text(text.replace('"send": 1', '"send": 1, "send": 2'))
    with pytest.raises(yl.BadFile, match="send is given twice"):
        yl.load(path)


def test_a_failing_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "instance.json"
    path.write_text("old")

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(yl.BadFile, match="No space left on device"):
        yl.save(instance(DOCUMENT), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["instance.json"]  # and nothing beside it


def test_what_json_cannot_hold_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        files.write_document({"x": float("nan")}, tmp_path / "x.json")
    assert os.listdir(tmp_path) == []


def test_a_written_file_has_the_usual_rights(tmp_path):
    (tmp_path / "plain").write_text("")
    files.write_document({}, tmp_path / "ours.json")
    assert (tmp_path / "ours.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


def with_tables(folder, **columns):
    document = {**HEAD, **DOCUMENT}
    for name, values in columns.items():
        tables.write(folder / f"{name}.parquet", {name: values})
        document[name] = {"parquet": f"{name}.parquet"}
    (folder / "instance.json").write_text(json.dumps(document))
    return folder / "instance.json"


def test_tables_beside_the_document(tmp_path):
    path = with_tables(tmp_path, rates=[1.0, 2.0], wants=[[0], [1]], send_weight=[1, 1])
    assert yl.load(path).hash == instance(DOCUMENT).hash


def test_sets_of_different_sizes_in_a_table(tmp_path):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"wants": [[0], [], [1, 0]]}), tmp_path / "wants.parquet")
    (tmp_path / "i.json").write_text(json.dumps({**HEAD, **DOCUMENT, "wants": {"parquet": "wants.parquet"}}))
    assert yl.load(tmp_path / "i.json").hash == instance({**DOCUMENT, "wants": [[0], [], [0, 1]]}).hash


def test_a_table_of_the_wrong_shape_is_refused(tmp_path):
    with pytest.raises(yl.BadFile, match="rates is"):
        yl.load(with_tables(tmp_path, rates=[[1.0, 2.0], [3.0, 4.0]]))


def test_a_table_outside_the_folder_is_refused(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    tables.write(tmp_path / "rates.parquet", {"rates": [1.0, 2.0]})
    (inner / "link.parquet").symlink_to(tmp_path / "rates.parquet")
    for name in ("../rates.parquet", str(tmp_path / "rates.parquet"), "link.parquet"):
        (inner / "i.json").write_text(json.dumps({**HEAD, **DOCUMENT, "rates": {"parquet": name}}))
        with pytest.raises(yl.BadFile, match="a file inside the instance's folder"):
            yl.load(inner / "i.json")


def test_a_table_that_is_none(tmp_path):
    (tmp_path / "rates.parquet").write_text("not a table")
    (tmp_path / "i.json").write_text(json.dumps({**HEAD, **DOCUMENT, "rates": {"parquet": "rates.parquet"}}))
    with pytest.raises(yl.BadFile, match=r"i\.json: .*rates\.parquet"):
        yl.load(tmp_path / "i.json")
