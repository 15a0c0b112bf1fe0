"""CBC, the binary that comes with PuLP (or a `cbc` on the PATH), behind the same contract as HiGHS.

Traps that are taken care of here (tests/solvers/test_highs.py runs both solvers):
- its status line is read, not an exit code or PuLP's word, which says "Optimal" at a time limit;
- its preprocessing is off: with it, 2.10.3 calls 1 the optimum of min 2y - x with 0 <= 3x - y <= 2, which is 0;
- without it, it crashes on some infeasible programs: then, and only then, its preprocessing is asked whether they are;
- gaps are set to 0, and the point that it prints is checked by us;
- a missing binary is one clear sentence.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from yardline.models.checks import Vector
from yardline.models.method import Unavailable
from yardline.models.numbers import OPTIMAL
from yardline.models.program import Program
from yardline.solvers import mps
from yardline.solvers.highs import OnBound, OnIncumbent, cost_scale
from yardline.solvers.outcome import Outcome, Stop, accepted

CRASHED = "its process crashed"


@cache
def binary() -> str:
    """The executable: the one bundled with PuLP, else one on the PATH."""
    import pulp

    bundled = Path(pulp.apis.coin_api.pulp_cbc_path)
    if bundled.is_file() and os.access(bundled, os.X_OK):
        return str(bundled)
    found = shutil.which("cbc")
    if found is None:
        raise Unavailable("CBC is not there: PuLP brings none for this platform; install `cbc` and put it on the PATH")
    return found


@cache
def version() -> str:
    """The version of CBC."""
    said = subprocess.run([binary(), "-stop"], capture_output=True, text=True, timeout=30).stdout
    match = re.search(r"Version:\s*(\S+)", said)
    return match[1] if match else "unknown"


def solve(
    program: Program,
    *,
    relax: bool = False,
    time_limit: float = math.inf,
    threads: int = 1,
    seed: int = 0,
    start: Vector | None = None,
    on_incumbent: OnIncumbent | None = None,
    on_bound: OnBound | None = None,
) -> Outcome:
    """Solve a program, or its relaxation, to optimality or to the time limit. What it finds is told at its end."""
    if program.shape[1] == 0:
        return _without_columns(program)
    with tempfile.TemporaryDirectory(prefix="yardline-cbc-") as folder:
        model, answer = Path(folder) / "model.mps", Path(folder) / "answer.txt"
        scale = cost_scale(program)  # its tolerances are absolute, too
        scaled = replace(program, cost=program.cost * scale, offset=program.offset * scale)
        model.write_text(mps.text(scaled, names=False, relax=relax))
        command = [binary(), str(model), *_options(time_limit, threads, seed)]
        if start is not None and not relax:
            command += ["-mipstart", str(_start_file(Path(folder), start))]
        command += ["-initialSolve" if relax else "-solve", "-printingOptions", "all", "-solution", str(answer)]
        said = _run(command, time_limit)
        if CRASHED in said and not relax:
            # so it does on some infeasible programs; with preprocessing it can tell, and is believed in nothing else
            again = _run([*command[:2], "-preprocess", "on", *command[command.index("-solve") :]], time_limit)
            infeasible = _stop(again, _first_line(answer)) is Stop.INFEASIBLE
            return Outcome(stop=Stop.INFEASIBLE if infeasible else Stop.ERROR, solver=f"cbc {version()}: {CRASHED}")
        outcome = _outcome(program, said, answer, relax=relax)
    if outcome.point is not None and on_incumbent is not None and not relax:
        on_incumbent(outcome.point, outcome.value)
    if math.isfinite(outcome.bound) and on_bound is not None:
        on_bound(outcome.bound)
    return outcome


def _options(time_limit: float, threads: int, seed: int) -> list[str]:
    options = ["-ratioGap", "0", "-allowableGap", "0", "-randomSeed", str(seed), "-randomCbcSeed", str(seed)]
    options += ["-timeMode", "elapsed", "-preprocess", "off"]
    if math.isfinite(time_limit):
        options += ["-seconds", f"{max(0.01, time_limit):.3f}"]
    return options + (["-threads", str(threads)] if threads > 1 else [])


def _start_file(folder: Path, start: Vector) -> Path:
    path = folder / "start.txt"
    lines = [f"{j} c{j} {value:.17g} 0" for j, value in enumerate(start.tolist())]
    path.write_text("Feasible - objective value 0\n" + "\n".join(lines) + "\n")
    return path


def _run(command: list[str], time_limit: float) -> str:
    """What CBC says; it is ended if it does not end by itself."""
    patience = None if math.isinf(time_limit) else 1.05 * time_limit + 5.0
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as expired:
        return (expired.stdout or b"").decode(errors="replace") + "\nyardline: ended at its limit\n"
    return done.stdout if done.returncode >= 0 else f"{done.stdout}\n{CRASHED}"


def _first_line(answer: Path) -> str:
    return answer.read_text().partition("\n")[0] if answer.is_file() else ""


def _outcome(program: Program, said: str, answer: Path, *, relax: bool) -> Outcome:
    solver = f"cbc {version()}"
    lines = answer.read_text().splitlines() if answer.is_file() else []
    stop = _stop(said, lines[0] if lines else "")
    if stop in (Stop.ERROR, Stop.INFEASIBLE):
        words = "" if stop is Stop.INFEASIBLE else f": {said.strip().splitlines()[-1] if said.strip() else 'no answer'}"
        return Outcome(stop=stop, solver=solver + words)
    values, duals = _solution(lines[1:], program.shape)
    point = accepted(program, values, relax=relax) if lines else None
    if stop is Stop.OPTIMAL and point is None:
        return Outcome(stop=Stop.ERROR, solver=f"{solver}: its point breaks a row")
    value = math.inf if point is None else program.value(point)
    if relax:
        return Outcome(stop=stop, value=value, point=point, duals=duals / cost_scale(program), solver=solver)
    bound = _bound(program, said, stop, value)
    return Outcome(stop=stop, value=value, bound=bound, point=point, solver=solver)


def _stop(said: str, first: str) -> Stop:
    """Why it stopped, from its own words."""
    both = f"{said}\n{first}".lower()
    if first.lower().startswith("optimal") and "stopped on" not in both:
        return Stop.OPTIMAL
    if "infeasible" in first.lower() or "problem is infeasible" in both or "proven infeasible" in both:
        return Stop.INFEASIBLE
    if "stopped on time" in both or "ended at its limit" in both or "stopped on" in first.lower():
        return Stop.TIME_LIMIT
    return Stop.ERROR


def _solution(lines: list[str], shape: tuple[int, int]) -> tuple[Vector, Vector]:
    """Values of the columns and duals of the rows, from lines `[**] number name value dual`."""
    rows, columns = shape
    values, duals = np.zeros(columns), np.zeros(rows)
    for line in lines:
        words = line.replace("**", " ").split()
        if len(words) == 4 and words[1][1:].isdigit():
            position = int(words[1][1:])
            if words[1][0] == "c" and position < columns:
                values[position] = float(words[2])
            elif words[1][0] == "r" and position < rows:
                duals[position] = float(words[3])
    return values, duals


def _bound(program: Program, said: str, stop: Stop, value: float) -> float:
    """What the search proved: its value where it finished, else the bound that it prints."""
    if stop is Stop.OPTIMAL:
        return value
    match = re.search(r"Lower bound:\s*(\S+)", said)
    if match is None:
        return -math.inf
    bound = float(match[1])
    slack = 5e-4 * max(1.0, abs(bound))  # it prints three digits after the point
    bound = (bound - slack) / cost_scale(program)
    return bound if bound > value + OPTIMAL * max(1.0, abs(value)) else min(bound, value)


def _without_columns(program: Program) -> Outcome:
    """CBC cannot read a program without columns; its value is its offset."""
    empty = np.zeros(0)
    if program.violation(empty) > 0:
        return Outcome(stop=Stop.INFEASIBLE, solver=f"cbc {version()}")
    duals = np.zeros(program.shape[0])
    value = program.offset
    return Outcome(stop=Stop.OPTIMAL, value=value, bound=value, point=empty, duals=duals, solver=f"cbc {version()}")
