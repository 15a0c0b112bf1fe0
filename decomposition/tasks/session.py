"""One Spark session per command: quiet, on the loopback, with a Java that is found or comes along."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from yardline.decomposition.tasks.java import Java, find

LAUNCHER = """#!/bin/sh
# Spark asks for a module that the bundled runtime does not have and does not need: everything else is passed on.
n=$#
while [ "$n" -gt 0 ]; do a=$1; shift; n=$((n-1))
  [ "$a" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$a"; done
exec "{java}" "$@"
"""

QUIET = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark: %m%n
logger.heartbeat.name = org.apache.spark.executor.Executor
logger.heartbeat.level = off
logger.tasks.name = org.apache.spark.scheduler
logger.tasks.level = off
logger.shutdown.name = org.apache.spark.util.ShutdownHookManager
logger.shutdown.level = off
"""


def session(master: str = "local[*]", *, app: str = "yardline") -> Any:
    """The Spark session of this process; started when first needed, then reused."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    _environment(find())
    builder = SparkSession.builder.master(master).appName(app)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1" if _loopback(master) else None,
        "spark.driver.bindAddress": "127.0.0.1" if _loopback(master) else None,
        "spark.python.worker.reuse": "true",
        "spark.sql.shuffle.partitions": "8",
        "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
    }
    for name, value in settings.items():
        if value is not None:
            builder = builder.config(name, value)
    return builder.getOrCreate()


def _loopback(master: str) -> bool:
    """Whether driver and workers are on this machine."""
    return master.startswith("local") or "127.0.0.1" in master or "localhost" in master


def _environment(java: Java) -> None:
    """What Spark reads from the environment; what the user has set stays."""
    home = cache_folder()
    os.environ["JAVA_HOME"] = str(_bundled_home(java, home) if java.bundled else java.executable.resolve().parents[1])
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if "SPARK_CONF_DIR" not in os.environ:
        _whole(home / "conf" / "log4j2.properties", QUIET, executable=False)
        os.environ["SPARK_CONF_DIR"] = str(home / "conf")


def cache_folder() -> Path:
    """A folder of ours that lasts."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(base) / "yardline"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"yardline-{os.getuid()}"
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _bundled_home(java: Java, home: Path) -> Path:
    """A JAVA_HOME whose `bin/java` starts the bundled runtime without the argument that it cannot take."""
    launcher = home / f"java-{java.version}" / "bin" / "java"
    _whole(launcher, LAUNCHER.replace("{java}", str(java.executable)), executable=True)
    return launcher.parents[1]


def _whole(path: Path, text: str, *, executable: bool) -> None:
    """A small file, written at once and only if it changed: several commands may start at the same time."""
    if path.is_file() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w") as stream:
        stream.write(text)
    os.chmod(temporary, 0o755 if executable else 0o644)
    os.replace(temporary, path)
