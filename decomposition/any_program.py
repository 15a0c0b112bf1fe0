"""Relax and round for any program: what `yl.relax_round` runs for models that we never saw.

A user's `round(point, rng)` and `repair(point, rng)` take and return values by column name. Without them: every whole
column up or down with the probability of its fraction; then a small integer program around that point, in which columns
keep their value where the relaxation was whole already and elsewhere with even chance, or fewer where that is infeasible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import cloudpickle
import numpy as np
from numpy.random import Generator

from yardline.decomposition.relax_round import Attempt, Send, relaxed
from yardline.models.checks import Vector
from yardline.models.method import Run
from yardline.models.program import Program
from yardline.solvers import highs
from yardline.solvers.catalog import solver
from yardline.solvers.outcome import Stop, accepted

KEEP = (0.5, 0.2, 0.0)
"""Shares of the columns that keep their value in the repair, one attempt after the other."""

PATIENCE = 10.0
"""Seconds for the integer program of a repair."""

Step = Callable[[Mapping[str, float], Generator], Mapping[str, float] | None]


def relax(payload: Mapping[str, Any], send: Send) -> dict[str, Any]:
    """In a worker: the relaxation of a program and its certified bound."""
    send("started", None)
    highs.settle_threads(payload["run"]["threads"])
    run, program = Run(**payload["run"]), payload["program"]
    point, proved = relaxed(program, program, run)
    infeasible = point is None and _infeasible(program, run)
    return {"point": point, "proved": proved.bound, "certificate": proved.certificate, "infeasible": infeasible}


def _infeasible(program: Program, run: Run) -> bool:
    """Whether the solver finds no point of the relaxation."""
    outcome = solver(run.solver).solve(program, relax=True, time_limit=run.left(), threads=run.threads)
    return bool(outcome.stop is Stop.INFEASIBLE)


def attempt(shared: Mapping[str, Any], trial: int, rng: Generator) -> Attempt:
    """One trial: round, repair, and the point looked at again by us."""
    program: Program = shared["program"]
    found = _rounded(program, shared["point"], shared["round"], rng)
    fixed = _repaired(program, shared["point"], found, shared["repair"], rng)
    point = None if fixed is None else accepted(program, fixed, relax=False)
    if point is None:
        return Attempt(trial, broken=("repair" if fixed is None else "rows",))
    return Attempt(trial, program.value(point), point)


def _rounded(program: Program, point: Vector, given: bytes | None, rng: Generator) -> Vector:
    if given is not None:
        return _by_user(program, point, given, rng, "round")
    up = rng.random(len(point)) < point - np.floor(point)
    return np.where(program.integer, np.floor(point + 1e-9) + (up & (point % 1 > 1e-9)), point)


def _repaired(
    program: Program, relaxed_point: Vector, found: Vector, given: bytes | None, rng: Generator
) -> Vector | None:
    if given is not None:
        return _by_user(program, found, given, rng, "repair")
    settled = program.integer & (np.abs(relaxed_point - np.round(relaxed_point)) < 1e-6)
    inside = np.clip(np.round(found), np.ceil(program.col_low), np.floor(program.col_high))
    lot = rng.random(len(found))
    for share in KEEP:
        keep = program.integer & (settled if share else False) | program.integer & (lot < share)
        low, high = np.where(keep, inside, program.col_low), np.where(keep, inside, program.col_high)
        near = replace(program, col_low=low, col_high=high)
        outcome = highs.solve(near, time_limit=PATIENCE, mip_rel_gap=1e-3)
        if outcome.point is not None:
            return outcome.point
    return None


def _by_user(program: Program, point: Vector, given: bytes, rng: Generator, which: str) -> Vector:
    """A user's step: values by name in, values by name out; what is not named stays."""
    step: Step = cloudpickle.loads(given)
    values = dict(zip(program.columns, point.tolist(), strict=True))
    answer = step(dict(values), rng)
    if not isinstance(answer, Mapping):
        raise TypeError(f"{which} returned {type(answer).__name__}: expected values by column name")
    for name in answer:
        if name not in values:
            raise ValueError(
                f"{which} names column {name!r}: expected one of the model's, such as {next(iter(values))!r}"
            )
    return np.array([float(answer.get(name, value)) for name, value in values.items()])
