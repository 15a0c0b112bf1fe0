"""A standalone cluster of two workers on the loopback, one of them killed in mid-run: all rows arrive, each once."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import command_line
import pandas as pd
import pyspark
import pytest
from comparison.test_store import started, wait_for_rows

from yardline.decomposition.tasks import session

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def cluster(folder, workers=2):
    """The address of a master and the processes of its workers."""
    home, port = Path(pyspark.__file__).parent, free_port()
    environment = {
        **command_line.environment(),
        "SPARK_HOME": str(home),
        "JAVA_HOME": str(session.java_home()),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder),
    }

    def start(*words):
        command = [str(home / "bin" / "spark-class"), *map(str, words)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
        return subprocess.Popen(command, env=environment, cwd=folder, **quiet)

    address = f"spark://127.0.0.1:{port}"
    place = ("--host", "127.0.0.1", "--port", port, "--webui-port", free_port())
    processes = [start("org.apache.spark.deploy.master.Master", *place)]
    time.sleep(4)
    worker = ("org.apache.spark.deploy.worker.Worker", "-c", 1, "-m", "1g", "--host", "127.0.0.1")
    processes += [start(*worker, "--webui-port", free_port(), address) for _ in range(workers)]
    try:
        yield address, processes[1:]
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def children(pid):
    """All processes below one."""
    out = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in out.splitlines()]
    found, layer = [], [pid]
    while layer:
        layer = [child for child, parent in pairs if parent in layer]
        found += layer
    return found


def test_a_worker_is_killed_in_mid_run(files, tmp_path):
    out = tmp_path / "out"
    with cluster(tmp_path) as (address, workers):
        process = started(files, out, "--master", address, "--conf", "spark.executor.memory=512m")
        wait_for_rows(out, 6, seconds=120)
        for pid in [*children(workers[0].pid), workers[0].pid]:  # the machine goes down, executor and all
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    rows = pd.read_parquet(out / "runs.parquet")
    assert len(rows) == 24
    assert not rows.duplicated(["instance", "method", "seed"]).any()
    assert set(rows.status) <= {"feasible", "optimal"}, rows.error.tolist()
