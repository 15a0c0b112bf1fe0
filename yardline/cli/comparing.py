"""The commands `compare` and `reproduce`."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from yardline.cli import options as o
from yardline.cli.output import number, show, table
from yardline.comparison.table import counted

if TYPE_CHECKING:
    from yardline.comparison.compare import Comparison
    from yardline.comparison.progress import Progress
    from yardline.experiments.running import Reproduced


def compare(
    instances: o.Instances,
    methods: Annotated[
        str | None,
        typer.Option("--methods", help="Names, with commas, or name:option=value; all without it."),
    ] = None,
    bounds: Annotated[
        str | None, typer.Option("--bounds", help="Names, with commas; the best in the same time.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="Runs of each method on each instance.")] = 1,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A folder: runs.parquet; goes on if stopped.")
    ] = None,
    time_limit: o.TimeLimit = 60.0,
    solver: o.Solver = "highs",
    engine: o.Engine = "spark",
    master: o.Master = "local[*]",
    conf: o.Conf = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan only.")] = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """Every method on every instance, on Spark, with certified gaps."""
    import yardline as yl

    check_engine(engine)
    live = Live(quiet)
    compared = yl.compare(
        instances,
        None if methods is None else methods.split(","),
        None if bounds is None else bounds.split(","),
        seeds=seeds,
        time_limit=time_limit,
        solver=solver,
        out=output,
        engine=engine,
        master=master,
        conf=o.settings(conf, "--conf"),
        dry_run=dry_run,
        listener=live.hear,
    )
    live.close()
    complain(compared)
    if dry_run:
        _show_plan(compared, as_json)
        return 0
    _show(compared, as_json)
    return exit_code(compared)


def reproduce(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="`yardline methods` lists them.")],
    scale: Annotated[str, typer.Option("--scale", help="small or paper.")] = "small",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A folder: runs, points.csv, claims.json; goes on if stopped.")
    ] = None,
    set_: o.Settings = None,
    solver: o.Solver = "highs",
    engine: o.Engine = "spark",
    master: o.Master = "local[*]",
    conf: o.Conf = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """One table or figure of a paper: its runs, the points of the figure, the verdict on each claim."""
    import yardline as yl

    check_engine(engine)
    live = Live(quiet)
    made = yl.reproduce(
        experiment,
        scale,
        out=output,
        engine=engine,
        master=master,
        conf=o.settings(conf, "--conf"),
        solver=solver,
        options=o.settings(set_),
        listener=live.hear,
    )
    live.close()
    if made.comparison is not None:
        complain(made.comparison)
    _show_experiment(made, as_json)
    return 0 if made.comparison is None else exit_code(made.comparison)


def _show_experiment(made: Reproduced, as_json: bool) -> None:
    if as_json:
        show(made.document(), [], True)
        return
    described = made.experiment
    header = (described.x, described.series, "count", f"mean {described.y}", "least", "largest")
    rows = [[value if isinstance(value, str) else number(value) for value in point.values()] for point in made.points]
    table(f"{made.name} ({made.scale}): {described.title}", header, rows)
    if made.comparison is not None and made.comparison.left:
        print(f"of what is there: {_left(made.comparison)}")
    for claim, verdict in zip(described.claims, made.verdicts, strict=True):
        print(f"{'held' if verdict.held else 'did not hold'}: {claim.words} ({verdict.numbers})")
    if made.out is not None:
        runs = "" if made.comparison is None else "runs.parquet, "
        print(f"written: {made.out}/{runs}points.csv, claims.json")


def check_engine(engine: str) -> None:
    """Refuse an engine that does not exist."""
    if engine not in ("spark", "local"):
        raise ValueError(f"--engine {engine}: expected spark or local")


def complain(compared: Comparison) -> None:
    """What went wrong, on stderr, a line each."""
    for words in (*compared.broken, *compared.refuted, *filter(None, [compared.stopped])):
        print(f"yardline: {words}", file=sys.stderr)


def exit_code(compared: Comparison) -> int:
    """Of a comparison: what is worst about it."""
    if compared.interrupted:
        return 130
    if compared.refuted:
        return 70
    if all(row["status"] == "unsuitable" for row in compared.runs):
        return 2
    return 1 if compared.failed or compared.broken or compared.stopped else 0


def _show_plan(compared: Comparison, as_json: bool) -> None:
    document = {"planned": compared.planned, "left": sum(line["left"] for line in compared.plan)}
    if as_json:
        show({**document, "plan": compared.plan}, [], True)
        return
    rows = [[str(value) for value in line.values()] for line in compared.plan]
    table("What would be done", ("problem", "kind", "name", "instances", "runs", "left"), rows)
    print(f"{document['planned']} runs and bounds, {document['left']} of them left to do")


def _show(compared: Comparison, as_json: bool) -> None:
    if as_json:
        show(compared.document(), [], True)
        return
    print(compared)
    if compared.out is not None:
        print(f"\nrows: {compared.out}/runs.parquet")
    if compared.left:
        print(_left(compared))


def _left(compared: Comparison) -> str:
    """What was not done, and whether what was done is kept."""
    words = f"{counted(compared.left, 'run')} not done"
    return words + (": the same command goes on with them" if compared.out is not None else " (-o DIR keeps what was)")


class Live:
    """Runs done, running, failed, and the time still to go: a live line on a terminal, a line now and then in a log."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.live, self.last = quiet, sys.stderr.isatty(), 0.0

    def hear(self, progress: Progress) -> None:
        """Show how far it is."""
        if self.quiet or (
            time.monotonic() - self.last < (0.1 if self.live else 5.0) and progress.done < progress.total
        ):
            return
        self.last = time.monotonic()
        if self.live:  # as wide as the terminal at most: a line that wraps cannot be taken back
            width = shutil.get_terminal_size().columns - 1
            print(
                f"\r\x1b[2K{bar(progress.done, progress.total)} {line(progress)}"[: width + 5], end="", file=sys.stderr
            )
            sys.stderr.flush()
        else:
            print(line(progress), file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the terminal tidy."""
        if self.live and not self.quiet:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


def bar(done: int, total: int, width: int = 16) -> str:
    """How far it is, at a glance.

    >>> bar(5, 20)
    '[####............]'
    """
    filled = width * done // max(1, total)
    return f"[{'#' * filled}{'.' * (width - filled)}]"


def line(progress: Progress) -> str:
    """How far it is, in words."""
    counts = f"{progress.done}/{progress.total} done, {progress.running} running, {progress.failed} failed"
    left = "" if progress.left is None else f", {clock(progress.left)} to go"
    return f"{counts}, {clock(progress.seconds)}{left}  {progress.event}"


def clock(seconds: float) -> str:
    """A time for people.

    >>> clock(7), clock(151), clock(7322)
    ('7 s', '2 min 31 s', '2 h 02 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"
