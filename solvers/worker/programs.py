"""A call to the worker that solves a program: what `solve_model` uses. Plain arrays travel, never a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from yardline.models.method import Run
from yardline.models.numbers import meets
from yardline.models.program import Program
from yardline.solvers import highs
from yardline.solvers.certificates.rational import ExactProgram, as_float
from yardline.solvers.certify import tree_certificate
from yardline.solvers.outcome import Stop
from yardline.solvers.programs import solve_program

TARGET = "yardline.solvers.worker.programs:serve"


def serve(payload: Mapping[str, Any], send: Callable[[str, object], None]) -> dict[str, Any]:
    """In the child: the best point, the bound that its certificate proves, and the certificate."""
    program: Program = payload["program"]
    send("started", None)
    highs.settle_threads(payload["run"]["threads"])
    run = Run(**payload["run"], listener=lambda finding: send("found", finding))
    result = solve_program(program, run=run, on_point=lambda _, value: run.report("point", value=value))
    if result.stop is Stop.INFEASIBLE or result.tree is None:
        return {"infeasible": result.stop is Stop.INFEASIBLE, "point": result.point, "value": result.value}
    document, exact_bound = tree_certificate(program, program, result.tree)
    proved = as_float(exact_bound)
    if result.point is not None and meets(proved, result.value) and ExactProgram(program).feasible(result.point):
        document["point"] = result.point.tolist()
    claimed = result.bound if math.isfinite(result.bound) else proved
    return {
        "infeasible": False,
        "point": result.point,
        "value": result.value,
        "bound": max(proved, claimed),
        "proved": proved,
        "certificate": document,
    }
