"""A script with a Spark session of its own, as a user would write it: nothing of Spark's set-up has been done for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.xdist_group("spark")

SCRIPT = """
import yardline as yl
from pyspark.sql import SparkSession

@yl.method("channelization", "mine")
def mine(instance, rng):
    return {"groups": [list(range(instance.n))], "subscriptions": [[0]] * instance.m}

spark = SparkSession.builder.master("local[2]").getOrCreate()
compared = yl.compare(["channelization-shared"], ["mine", "random"], ["lp"], seeds=2, spark=spark)
print(sorted({row["status"] for row in compared.runs}), len(compared.runs), compared.stopped)
"""


def said(tmp_path, **environment):
    """What the script says, run by the Python of these tests, which need not be the `python3` of the PATH."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    unset = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK", "PYTHONPATH"))
    }
    here = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env={**unset, **environment}, capture_output=True, text=True
    )
    assert here.returncode == 0, here.stderr[-2000:]
    return here.stdout.strip().splitlines()[-1]


def other_python(tmp_path):
    """A `python3` without yardline: the one that this environment was made from."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys._base_executable)
    return tmp_path / "bin"


def test_the_workers_are_of_the_python_that_asks(tmp_path):
    path = f"{other_python(tmp_path)}{os.pathsep}{os.environ['PATH']}"
    assert said(tmp_path, PATH=path) == "['feasible'] 4"


@pytest.mark.slow
def test_workers_without_yardline_are_one_clear_sentence(tmp_path):
    words = said(tmp_path, PYSPARK_PYTHON=str(other_python(tmp_path) / "python3"))
    assert words.startswith("[] 0 Spark's workers run ")
    assert "PYSPARK_PYTHON" in words
