"""`compare`: every method on every instance with every seed; one best bound per instance; results as they come."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from yardline.comparison.plan import Job, Settings, jobs
from yardline.comparison.rows import task_of
from yardline.comparison.sources import Known, Shelf, expand
from yardline.comparison.store import RUN_COLUMNS, Store, with_bounds
from yardline.comparison.summary import summary
from yardline.decomposition.tasks.local import LocalEngine
from yardline.decomposition.tasks.session import session
from yardline.decomposition.tasks.spark import SparkEngine
from yardline.decomposition.tasks.task import Engine, Result
from yardline.models import checks
from yardline.solvers.catalog import solver as solver_module

EngineName = Literal["spark", "local"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a comparison is."""

    done: int
    total: int
    failed: int
    seconds: float
    event: str

    @property
    def left(self) -> float | None:
        """Seconds still to go, if it goes on like this."""
        return self.seconds / self.done * (self.total - self.done) if self.done else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The rows of a comparison, and the summary per method."""

    runs: tuple[dict[str, Any], ...]
    broken: tuple[str, ...]  # instances that could not be read, and why
    out: str | None
    interrupted: bool = False
    planned: int = 0
    summary: list[dict[str, Any]] = field(default_factory=list)
    session: Any = None  # the Spark session that was used, if any

    @property
    def failed(self) -> int:
        """Runs that failed."""
        return sum(row["status"] == "failed" for row in self.runs)

    def pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(
            [{name: row.get(name) for name in RUN_COLUMNS} for row in self.runs], columns=[*RUN_COLUMNS]
        )

    def spark(self, spark: Any = None) -> Any:
        """The rows as a Spark DataFrame."""
        from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType, StructField, StructType

        kinds = {"string": StringType(), "int64": LongType(), "double": DoubleType(), "bool": BooleanType()}
        schema = StructType([StructField(name, kinds[kind]) for name, kind in RUN_COLUMNS.items()])
        rows = [tuple(row.get(name) for name in RUN_COLUMNS) for row in self.runs]
        return (spark or self.session or session()).createDataFrame(rows, schema)

    def document(self) -> dict[str, Any]:
        """The JSON output of `compare`."""
        counts = {"runs": len(self.runs), "failed": self.failed}
        return {**counts, "rows": self.summary, "broken": list(self.broken), "out": self.out}


def compare(
    instances: Iterable[Any],
    methods: Iterable[str] | None = None,
    bounds: Iterable[str] | None = None,
    *,
    seeds: int = 1,
    time_limit: float = 60,
    solver: str = "highs",
    out: str | os.PathLike[str] | None = None,
    engine: EngineName = "spark",
    master: str = "local[*]",
    spark: Any = None,
    dry_run: bool = False,
    listener: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Every method on every instance with every seed; the same call with the same `out` goes on where it was stopped."""
    solver_module(solver)
    settings = Settings(time_limit=checks.number(time_limit, "time limit"), solver=solver)
    given = [instances] if isinstance(instances, (str, os.PathLike)) else list(instances)
    shelf, known, broken = _read(given, lambda: spark or session(master))
    planned = jobs(known, methods, bounds, seeds)
    if dry_run or not known:
        return Comparison(runs=(), broken=tuple(broken), out=None, planned=len(planned))
    store = Store(None if out is None else Path(out), settings)
    left = [job for job in planned if job.key not in store.runs and job.key not in store.bounds]
    interrupted, used = False, spark
    if left:
        runner: Engine
        if engine == "local":
            runner = LocalEngine()
        else:
            used = spark or session(master)
            runner = SparkEngine(used)
        interrupted = _run(left, runner, shelf, store, settings, len(planned), listener)
    with_bounds(store.runs, store.bounds)
    keys = {job.key for job in planned if job.kind == "method"}
    rows = tuple(row for key, row in store.runs.items() if key in keys)
    return Comparison(
        runs=rows,
        broken=tuple(broken),
        out=None if out is None else str(out),
        interrupted=interrupted,
        planned=len(planned),
        summary=summary(rows),
        session=used,
    )


def _read(given: list[Any], spark: Callable[[], Any]) -> tuple[Shelf, list[Known], list[str]]:
    """All instances that can be read, and why the others cannot."""
    shelf, known, broken = Shelf(), [], []
    for source in expand(given, spark):
        try:
            known.append(shelf.add(source))
        except (ValueError, OSError) as error:
            broken.append(" ".join(str(error).split()))
    return shelf, known, broken


def _run(
    left: list[Job],
    engine: Engine,
    shelf: Shelf,
    store: Store,
    settings: Settings,
    total: int,
    listener: Callable[[Progress], None] | None,
) -> bool:
    """Run what is left; whether it was interrupted. What was finished is kept whatever happens."""
    begun, failed = time.monotonic(), 0
    by_key = {job.key: job for job in left}
    results = engine.run([task_of(job, settings) for job in left], shelf)
    try:
        for count, result in enumerate(results, start=1):
            job = by_key[result.key]
            row = _row(job, result, settings)
            failed += row["status"] == "failed"
            store.add(job.kind, row)
            if listener is not None:
                done = total - len(left) + count
                event = f"{job.instance.name} {job.name} {row['status']}"
                listener(Progress(done=done, total=total, failed=failed, seconds=time.monotonic() - begun, event=event))
    except KeyboardInterrupt:
        results.close()  # type: ignore[attr-defined]
        return True
    finally:
        store.flush()
    return False


def _row(job: Job, result: Result, settings: Settings) -> dict[str, Any]:
    """The row of a job: what its task made of it, or why that failed."""
    head = {
        "instance": job.instance.hash,
        "name": job.instance.name,
        "problem": job.instance.problem,
        "method": job.name,
        "seed": job.seed,
        **settings.document(),
    }
    if result.ok:
        return {**head, **result.value}
    return {
        **head,
        "status": "failed",
        "cost": None,
        "own_bound": None,
        "error": result.error,
        "seconds": result.seconds,
    }
