"""One Spark session per command: quiet, on the loopback, with a Java that is found or comes along."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from yardline.decomposition.tasks.java import Java, find
from yardline.models.method import Unavailable

LAUNCHER = """#!/bin/sh
# Spark asks for a module that it does not need here: the bundled runtime lacks it, others warn about it. The rest is passed on.
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
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
logger.python.name = org.apache.spark.api.python
logger.python.level = off
logger.heartbeat.name = org.apache.spark.executor
logger.heartbeat.level = off
logger.tasks.name = org.apache.spark.scheduler
logger.tasks.level = off
logger.shutdown.name = org.apache.spark.util
logger.shutdown.level = off
"""
"""Failures of tasks come back as results; what Spark has to say about them again is left out."""


def session(master: str = "local[*]", *, app: str = "yardline", conf: Mapping[str, str] | None = None) -> Any:
    """The Spark session of this process; started when first needed, then reused. `conf`: further Spark settings."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    loopback = _loopback(master)
    _environment(find(), loopback)
    builder = SparkSession.builder.master(master).appName(app)
    for name, value in {**_settings(loopback), **(conf or {})}.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        words = " ".join(str(error).split())[:300]
        raise Unavailable(f"Spark did not start on {master}: {words}") from None


def _settings(loopback: bool) -> dict[str, str]:
    """Quiet, and on the loopback where driver and workers are on this machine."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.python.worker.reuse": "true",
        "spark.sql.shuffle.partitions": "8",
        "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
        "spark.task.maxFailures": "4",
    }
    if loopback:
        settings |= dict.fromkeys(("spark.driver.host", "spark.driver.bindAddress"), "127.0.0.1")
        settings["spark.executorEnv.PYTHONPATH"] = os.pathsep.join(_own_path())
    return settings


def _own_path() -> list[str]:
    """Where this process imports from beside its installation: workers on this machine shall find the same."""
    installed = {sys.prefix, sys.base_prefix}
    folders = [str(Path(entry or ".").resolve()) for entry in sys.path]
    return [f for f in folders if Path(f).is_dir() and not any(Path(f).is_relative_to(p) for p in installed)]


def _loopback(master: str) -> bool:
    """Whether driver and workers are on this machine."""
    return master.startswith("local") or "127.0.0.1" in master or "localhost" in master


def _environment(java: Java, loopback: bool) -> None:
    """What Spark reads from the environment; what the user has set stays."""
    home = cache_folder()
    os.environ["JAVA_HOME"] = str(java_home(java))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if loopback:  # elsewhere the workers must be able to reach us
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if not {"SPARK_CONF_DIR", "SPARK_HOME"} & set(os.environ):  # a Spark of the user's own has settings of its own
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


def java_home(java: Java | None = None) -> Path:
    """A JAVA_HOME whose `bin/java` starts the runtime without the one argument; a folder for each runtime."""
    java, home = java or find(), cache_folder()
    mark = hashlib.sha256(str(java.executable).encode()).hexdigest()[:8]
    launcher = home / f"java-{java.version}-{mark}" / "bin" / "java"
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
