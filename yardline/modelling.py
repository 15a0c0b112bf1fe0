"""Models of the user's own: any linear Pyomo model gets a value, a bound, the gap, a certificate; and files for other solvers."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from yardline.instances.files import whole_file
from yardline.models import checks
from yardline.models.instance import Instance
from yardline.models.problem import problem_of
from yardline.models.program import Program
from yardline.results import MethodFailed, Status, gap_of, reconciled, status_of
from yardline.solvers import lpfile, mps
from yardline.solvers.catalog import solver as solver_module
from yardline.solvers.compiled import Compiled, compiled
from yardline.solvers.worker.pool import worker
from yardline.solvers.worker.programs import TARGET

Format = Literal["mps", "lp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Modelled:
    """What `solve_model` found and proved, in the sense of the model (for a maximisation the bound is an upper one)."""

    status: Status
    value: float | None
    bound: float | None
    gap: float | None
    point: Mapping[str, float]
    certificate: Mapping[str, Any] | None  # about the model as a minimisation: see `export`
    certified_bound: float | None
    program: str  # the hash that the certificate is bound to
    seconds: float
    note: str = ""


def solve_model(
    model: Any,
    *,
    time_limit: float = 60,
    solver: str = "highs",
    threads: int = 1,
    seed: int = 0,
) -> Modelled:
    """Solve a Pyomo model and leave the best point in it."""
    ready = compiled(model)
    solver_module(solver)
    limit = checks.number(time_limit, "time limit")
    run = {
        "time_limit": limit,
        "seed": checks.integer(seed, "seed"),
        "solver": solver,
        "threads": checks.integer(threads, "threads", low=1),
        "certify": True,
    }
    with worker(threads) as mine:
        ended = mine.call(TARGET, {"program": ready.program, "run": run}, time_limit=limit)
    if ended.how == "interrupted":
        raise KeyboardInterrupt
    if ended.how in ("failed", "died"):
        raise MethodFailed(f"solving the model failed: {ended.error}", ended.traceback)
    return modelled(ready, ended.answer or {}, ended.seconds, ended.error)


def modelled(ready: Compiled, answer: Mapping[str, Any], seconds: float, note: str) -> Modelled:
    """What was found and proved, in the sense of the model; the point is left in it."""
    point = answer.get("point")
    sign = -1.0 if ready.maximise else 1.0
    if point is not None:
        ready.put(point)
    value = None if point is None else float(answer["value"])
    bound = reconciled(value, answer.get("bound"), "solve_model")
    status: Status = "unknown" if value is None else status_of(value, bound)
    proved = answer.get("proved")
    return Modelled(
        status="infeasible" if answer.get("infeasible") else status,
        value=None if value is None else sign * value,
        bound=None if bound is None else sign * bound,
        gap=gap_of(value, bound),
        point={} if point is None else dict(zip(ready.program.columns, point.tolist(), strict=True)),
        certificate=answer.get("certificate"),
        certified_bound=sign * proved if proved is not None and math.isfinite(proved) else None,
        program=ready.program.hash,
        seconds=seconds,
        note=note,
    )


def export(
    thing: Instance | Program | Any, path: str | os.PathLike[str], *, to: Format | None = None, relax: bool = False
) -> None:
    """The program of an instance, or of a Pyomo model (as a minimisation), as a file for any other solver."""
    ending = to or Path(path).suffix.lstrip(".")
    if ending not in ("mps", "lp"):
        checks.fail("format", ending, "mps or lp")
    program = program_behind(thing)
    text = mps.text(program, relax=relax) if ending == "mps" else lpfile.text(program, relax=relax)
    whole_file(path, text.encode())


def program_behind(thing: Instance | Program | Any) -> Program:
    """The program of an instance or a Pyomo model."""
    if isinstance(thing, Program):
        return thing
    if isinstance(thing, Instance):
        return problem_of(thing).assemble(thing)
    return compiled(thing).program
