"""The options that commands share, each stated once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Instance = Annotated[
    str, typer.Argument(metavar="INSTANCE", help="An instance file, or the name of a shipped example.")
]
Method = Annotated[str, typer.Option("--method", "-m", help="Its name; `yardline methods` lists them.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]
TimeLimit = Annotated[float, typer.Option("--time-limit", metavar="SECONDS", help="Kept within 10 % plus 2 s.")]
Threads = Annotated[int, typer.Option("--threads", help="Threads of the solver.")]
Solver = Annotated[str, typer.Option("--solver", help="The solver to use; `yardline doctor` lists them.")]
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="K=V", help="An option of the method.")]
Out = Annotated[Path | None, typer.Option("-o", "--output", help="The file to write.")]
CertificateOut = Annotated[Path | None, typer.Option("--certificate", help="Where to write the certificate.")]
WithBound = Annotated[bool, typer.Option("--bound", help="Add the best bound in the time left.")]
Instances = Annotated[
    list[str],
    typer.Argument(
        metavar="INSTANCE...", help="Files, folders, workload specs (name:k=v,...:seeds=1-10), Parquet tables."
    ),
]
Master = Annotated[str, typer.Option("--master", help="Any Spark master.")]
Engine = Annotated[str, typer.Option("--engine", help="spark, or local: processes of this machine.")]
Conf = Annotated[list[str] | None, typer.Option("--conf", metavar="K=V", help="A setting of Spark.")]
Trace = Annotated[Path | None, typer.Option("--trace", help="Write JSON lines: seconds, bound, value, event.")]
Json = Annotated[bool, typer.Option("--json", help="Exactly one JSON document on stdout.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Say where errors come from.")]


def settings(given: list[str] | None, option: str = "--set") -> dict[str, str]:
    """`--set k=v` as a mapping."""
    result = {}
    for pair in given or []:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ValueError(f"{option} {pair}: expected name=value")
        result[name] = value
    return result


def writable(*paths: Path | None) -> None:
    """Refuse an output that cannot be written, before any work is done."""
    import os

    for path in paths:
        if path is None:
            continue
        folder = path.parent
        if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
            raise ValueError(f"{path}: cannot be written: expected a file name in a folder that exists and is writable")
