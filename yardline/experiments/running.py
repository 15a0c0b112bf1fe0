"""Running an experiment: through `compare`, so that it can be stopped and gone on with. A folder then holds

runs.parquet, bounds.parquet   every run and every bound, unless the experiment brings a table of its own
points.csv                     the points of the figure: x, series, count, mean, least, largest; beside costs the bound, and the
                               fractional value (no bound) of methods that report one as their `indicator`
claims.json                    each claim with its verdict and the numbers
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from yardline.comparison.compare import Comparison, EngineName, compare
from yardline.comparison.progress import Progress
from yardline.experiments.description import SCALES, Experiment, Row, Scale, Verdict
from yardline.instances.files import whole_file
from yardline.models import checks, registry

VALID = ("optimal", "feasible")
COLUMNS = ("x", "series", "count", "mean", "least", "largest")
BESIDE = {"bound": "certified bound", "indicator": "indicator (no bound)"}
"""Columns that stand beside costs, and what their series are called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """What an experiment came to."""

    name: str
    scale: str
    experiment: Experiment
    comparison: Comparison | None  # None: a table of its own
    points: tuple[dict[str, Any], ...]
    verdicts: tuple[Verdict, ...]  # one per claim
    out: str | None

    def document(self) -> dict[str, Any]:
        """The JSON output of `reproduce`."""
        claims = [
            {"claim": claim.words, "held": verdict.held, "numbers": verdict.numbers}
            for claim, verdict in zip(self.experiment.claims, self.verdicts, strict=True)
        ]
        compared = self.comparison
        counts = {"runs": len(compared.runs) if compared else 0, "failed": compared.failed if compared else 0}
        counts["left"] = compared.left if compared else 0  # verdicts of half an experiment say so
        head = {"experiment": self.name, "scale": self.scale, **counts}
        return {**head, "claims": claims, "points": list(self.points), "out": self.out}


def described(name: str, scale: str, options: Mapping[str, Any] | None = None) -> Experiment:
    """An experiment by its name, with its own options."""
    if scale not in SCALES:
        raise ValueError(f"--scale {scale}: expected {' or '.join(SCALES)}")
    known = {entry.name: entry for entry in registry.entries("experiment")}
    if name not in known:
        raise ValueError(f"there is no experiment {name!r}: {checks.nearest(name, known)}")
    experiment: Experiment = known[name].function(scale, **known[name].settings(options or {}))
    return experiment


def reproduce(
    name: str,
    scale: Scale = "small",
    *,
    out: str | os.PathLike[str] | None = None,
    engine: EngineName = "spark",
    master: str = "local[*]",
    spark: Any = None,
    conf: Mapping[str, str] | None = None,
    solver: str = "highs",
    options: Mapping[str, Any] | None = None,
    listener: Callable[[Progress], None] | None = None,
) -> Reproduced:
    """Run an experiment, or go on with it; its points and the verdict on each of its claims."""
    experiment = described(name, scale, options)
    compared = (
        None
        if experiment.rows is not None
        else compare(
            experiment.specs(),
            experiment.methods,
            experiment.bounds,
            seeds=experiment.seeds,
            time_limit=experiment.time_limit,
            solver=solver,
            out=out,
            engine=engine,
            master=master,
            spark=spark,
            conf=conf,
            listener=listener,
        )
    )
    rows = experiment.rows() if experiment.rows is not None else _rows(experiment, compared)
    made = Reproduced(
        name=name,
        scale=scale,
        experiment=experiment,
        comparison=compared,
        points=tuple(points(experiment, rows)),
        verdicts=tuple(claim.check(rows) for claim in experiment.claims),
        out=None if out is None else str(out),
    )
    if out is not None:
        _write(Path(out), made)
    return made


def _rows(experiment: Experiment, compared: Comparison | None) -> Sequence[Row]:
    if compared is None:
        return ()
    runs, charge = compared.runs, experiment.overhead
    if charge is not None:
        runs = tuple({**run, "cost": run["cost"] + charge(run)} if run["status"] in VALID else run for run in runs)
    rows = with_parameters(runs)
    return by_bound(rows, compared.bounds) if experiment.series == "by_bound" else rows


def by_bound(rows: Sequence[Row], bounds: Sequence[Row]) -> list[dict[str, Any]]:
    """Each valid plan once for each bound on its instance, `over_bound` over that bound."""
    found = []
    for row in rows:
        for bound in bounds:
            if bound["instance"] == row["instance"] and bound["bound"] is not None and row["status"] in VALID:
                over = {"bound": bound["bound"], "over_bound": _over(row["cost"], bound["bound"])}
                found.append({**row, **over, "by_bound": f"{row['method']} over {bound['method']}"})
    return found


def with_parameters(runs: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows with the parameters of their workload, the terms of the judge, `over_best` and `over_bound` beside the rest."""
    least: dict[str, float] = {}
    for row in runs:
        if row["status"] in VALID:
            least[row["instance"]] = min(row["cost"], least.get(row["instance"], row["cost"]))
    found = []
    for row in runs:
        drawn = json.loads(row.get("parameters") or "{}")
        terms = json.loads(row.get("terms") or "{}")
        valid = row["status"] in VALID
        over = {
            "over_best": _over(row["cost"], least[row["instance"]]) if valid else None,
            "over_bound": _over(row["cost"], row["bound"]) if valid else None,
        }
        found.append({**terms, **drawn.get("parameters", {}), "workload": drawn.get("workload", ""), **over, **row})
    return found


def _over(cost: float, reference: float | None) -> float | None:
    """How far a cost is above another, relatively."""
    if reference is None or (cost and not reference):
        return None
    return cost / reference - 1 if reference else 0.0


def points(experiment: Experiment, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The points of the figure; only valid plans count."""
    groups: dict[tuple[Any, Any], list[float]] = {}
    for row in [*rows, *_beside(experiment, rows)]:
        if row.get("status", VALID[0]) in VALID and row.get(experiment.y) is not None:
            groups.setdefault((row.get(experiment.x), row.get(experiment.series)), []).append(float(row[experiment.y]))
    return [
        dict(zip(COLUMNS, (x, line, len(ys), statistics.fmean(ys), min(ys), max(ys)), strict=True))
        for (x, line), ys in sorted(groups.items(), key=lambda item: (str(item[0][1]), _order(item[0][0])))
    ]


def _beside(experiment: Experiment, rows: Sequence[Row]) -> list[Row]:
    """Beside costs: rows of the same instances that have the bound, or the indicator, for a cost."""
    if experiment.y != "cost" or experiment.series != "method":
        return []
    found: dict[tuple[Any, str], Row] = {}
    for row, (column, series) in itertools.product(rows, BESIDE.items()):
        if row.get(column) is not None and (column != "bound" or row.get("certified")):
            once = (row.get("instance"), series)
            found.setdefault(once, {**row, "status": VALID[0], "cost": row[column], "method": series})
    return list(found.values())


def _order(x: Any) -> tuple[bool, float, str]:
    number = isinstance(x, (int, float))
    return (not number, float(x) if number else 0.0, str(x))


def _write(folder: Path, made: Reproduced) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([made.experiment.x, made.experiment.series, *COLUMNS[2:]])
    writer.writerows([point[name] for name in COLUMNS] for point in made.points)
    whole_file(folder / "points.csv", text.getvalue().encode())
    document = {name: value for name, value in made.document().items() if name not in ("points", "out")}
    head = {"title": made.experiment.title, "x": made.experiment.x, "y": made.experiment.y}
    whole_file(folder / "claims.json", (json.dumps({**head, **document}, indent=2) + "\n").encode())
