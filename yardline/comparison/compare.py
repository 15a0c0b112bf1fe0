"""`compare`: every method on every instance with every seed; one best bound per instance; results as they come."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from yardline.comparison.plan import Job, Settings, jobs, overview
from yardline.comparison.progress import Progress, Watch
from yardline.comparison.rows import tasks_of
from yardline.comparison.sources import Known, Shelf, expand
from yardline.comparison.store import BROKEN, LOST, RUN_COLUMNS, Store, broken_row
from yardline.comparison.summary import summary
from yardline.comparison.table import counted, text
from yardline.decomposition.tasks.local import LocalEngine
from yardline.decomposition.tasks.session import session
from yardline.decomposition.tasks.spark import SparkEngine
from yardline.decomposition.tasks.task import Engine, EngineStopped, Result
from yardline.models import checks
from yardline.solvers.catalog import solver as solver_module

EngineName = Literal["spark", "local"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The rows of a comparison, and the summary per method."""

    rows: tuple[dict[str, Any], ...]  # of runs, and of instances that could not be read
    out: str | None
    bounds: tuple[dict[str, Any], ...] = ()  # one or more per instance: what they prove, why, and how that was checked
    interrupted: bool = False
    stopped: str = ""  # why Spark went away before the end
    refuted: tuple[str, ...] = ()  # bounds that a judged plan contradicts: the worst bug there can be
    planned: int = 0
    plan: list[dict[str, Any]] = field(default_factory=list)
    summary: list[dict[str, Any]] = field(default_factory=list)
    session: Any = None  # the Spark session that was used, if any

    @property
    def runs(self) -> tuple[dict[str, Any], ...]:
        """The rows of runs."""
        return tuple(row for row in self.rows if row["status"] != BROKEN)

    @property
    def broken(self) -> tuple[str, ...]:
        """Instances that could not be read, and why."""
        return tuple(row["error"] for row in self.rows if row["status"] == BROKEN)

    @property
    def failed(self) -> int:
        """Runs that failed."""
        return sum(row["status"] == "failed" for row in self.rows)

    @property
    def left(self) -> int:
        """Runs and bounds that were not done: it was interrupted, or stopped."""
        return self.planned - len(self.runs) - len(self.bounds)

    def pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(
            [{name: row.get(name) for name in RUN_COLUMNS} for row in self.rows], columns=[*RUN_COLUMNS]
        )

    def spark(self, spark: Any = None) -> Any:
        """The rows as a Spark DataFrame."""
        from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType, StructField, StructType

        kinds = {"string": StringType(), "int64": LongType(), "double": DoubleType(), "bool": BooleanType()}
        schema = StructType([StructField(name, kinds[kind]) for name, kind in RUN_COLUMNS.items()])
        rows = [tuple(row.get(name) for name in RUN_COLUMNS) for row in self.rows]
        return (spark or self.session or session()).createDataFrame(rows, schema)

    def __repr__(self) -> str:
        """The table, as it is seen in a notebook."""
        return text(self.summary, self.runs, self.bounds) if self.summary else f"{counted(len(self.runs), 'run')}"

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
    conf: Mapping[str, str] | None = None,
    dry_run: bool = False,
    listener: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Every method on every instance with every seed; the same call with the same `out` goes on where it was stopped.

    spark: the session that you already have; without one, a session of our own on `master` with the Spark settings `conf`.
    """
    solver_module(solver)
    checks.integer(seeds, "seeds", low=1)
    settings = Settings(time_limit=checks.number(time_limit, "time limit"), solver=solver)
    given = [instances] if isinstance(instances, (str, os.PathLike)) else list(instances)
    store = Store(None if out is None or (dry_run and not Path(out).exists()) else Path(out), settings)
    start = _Start(engine, lambda: spark or session(master, conf=conf))
    try:
        return _compare(given, _list(methods), _list(bounds), seeds, store, start, dry_run, listener)
    finally:
        store.close()


def _list(names: Iterable[str] | None) -> list[str] | None:
    """Names, also where one is given alone."""
    return [names] if isinstance(names, str) else None if names is None else list(names)


@dataclass(slots=True)
class _Start:
    """The engine, started when it is needed: most errors are found before."""

    name: EngineName
    session: Callable[[], Any]
    used: Any = None

    def spark(self) -> Any:
        self.used = self.used or self.session()
        return self.used

    def engine(self) -> Engine:
        return LocalEngine() if self.name == "local" else SparkEngine(self.spark())


def _compare(
    given: list[Any],
    methods: list[str] | None,
    bounds: list[str] | None,
    seeds: int,
    store: Store,
    start: _Start,
    dry_run: bool,
    listener: Callable[[Progress], None] | None,
) -> Comparison:
    shelf, known, broken = _read(given, start.spark, store.settings)
    planned = jobs(known, methods, bounds, seeds)
    left = [job for job in planned if not store.has(job.key, job.code)]
    plan = overview(planned, {job.key for job in planned} - {job.key for job in left})
    out = None if store.folder is None else str(store.folder)
    if dry_run:
        return Comparison(rows=tuple(broken), out=out, planned=len(planned), plan=plan)
    store.begin(broken)
    interrupted, stopped = False, ""
    if left:
        watch = Watch(listener, len(planned), len(left))
        watch.starting("Spark" if start.name == "spark" and start.used is None else "the first runs")
        watch.engine = start.engine()
        interrupted, stopped = _run(left, watch.engine, shelf, store, watch)
    store.dirty = True
    store.flush()
    rows = [store.runs[job.key] for job in planned if job.key in store.runs]
    rows.sort(key=lambda row: (row["problem"], row["name"], row["instance"], row["method"], row["seed"]))
    return Comparison(
        rows=(*rows, *broken),
        bounds=tuple(store.bounds[job.key] for job in planned if job.key in store.bounds),
        out=out,
        interrupted=interrupted,
        stopped=stopped,
        refuted=tuple(store.refuted),
        planned=len(planned),
        plan=plan,
        summary=summary(rows),
        session=start.used,
    )


def _read(
    given: list[Any], spark: Callable[[], Any], settings: Settings
) -> tuple[Shelf, list[Known], list[dict[str, Any]]]:
    """All instances that can be read; a row for each of the others that says why it cannot."""
    shelf, known, broken = Shelf(), [], []
    for source in expand(given, spark):
        try:
            known.append(shelf.add(source))
        except (ValueError, OSError) as error:
            broken.append(broken_row(source.name, " ".join(str(error).split()), settings))
    return shelf, known, broken


def _run(left: list[Job], engine: Engine, shelf: Shelf, store: Store, watch: Watch) -> tuple[bool, str]:
    """Run what is left; whether it was interrupted, and why it stopped. What was finished is kept whatever happens."""
    by_key = {job.key: job for job in left}
    results = engine.run(tasks_of(left, store.settings), shelf)
    try:
        with watch:
            for result in results:
                job = by_key[result.key]
                row = _row(job, result, store.settings)
                store.add(job.kind, row)
                watch.hear(f"{job.instance.name} {job.name} {row['status']}", failed=row["status"] == "failed")
    except KeyboardInterrupt:
        return True, ""
    except EngineStopped as error:
        return False, str(error)
    finally:
        results.close()  # type: ignore[attr-defined]
    return False, ""


def _row(job: Job, result: Result, settings: Settings) -> dict[str, Any]:
    """The row of a job: what its task made of it, or why that failed."""
    head = {
        "instance": job.instance.hash,
        "name": job.instance.name,
        "problem": job.instance.problem,
        "method": job.name,
        "seed": job.seed,
        "code": job.code,
        "parameters": job.instance.parameters,
        **settings.document(),
    }
    if result.ok:
        return {**head, **result.value}
    nothing = dict.fromkeys(("cost", "own_bound", "bound"))
    error = (LOST if result.lost else "") + result.error
    return {**head, **nothing, "status": "failed", "certified": False, "error": error, "seconds": result.seconds}
