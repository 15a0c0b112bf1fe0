"""HiGHS through highspy: a Program in, an Outcome out. The only module that knows its statuses.

Traps that are taken care of here (tests/solvers/test_highs.py has a test for each):
- the objective of an LP is not a bound: bounds of relaxations come from the duals, in solvers/certificates;
- `mip_dual_bound` reads 0.0 when it means "none": it is read for MIPs with a usable status only;
- the number of threads cannot change inside a process: a second count is an error with a sentence;
- a refused option would be ignored silently: every return code is looked at;
- its tolerances are wider than ours: an optimum that breaks a row of whole columns is cut off and the run repeated;
- they are absolute, too: costs are handed over times a power of two (exact), the largest near 1000;
- `mip_rel_gap` defaults to 1e-4: set to 0 here; an LP's time limit is cumulative: each call has a fresh object.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from yardline.models.checks import Vector
from yardline.models.method import Unavailable
from yardline.models.numbers import OPTIMAL
from yardline.models.program import Program
from yardline.solvers.outcome import Outcome, Stop, accepted, broken

WRONG_VERSIONS = {"1.14.0": "its presolve returns wrong optima"}
MOST_CUT_ROUNDS = 100
_threads_of_this_process: list[int] = []

OnIncumbent = Callable[[Vector, float], None]
OnBound = Callable[[float], None]


@functools.cache
def version() -> str:
    """The version of HiGHS; refuses those known to be wrong."""
    import importlib.metadata

    found = importlib.metadata.version("highspy")
    if found in WRONG_VERSIONS:
        raise Unavailable(f"highspy {found} is not used ({WRONG_VERSIONS[found]}): pip install 'highspy!={found}'")
    return found


def fresh(*, threads: int | None = None, seed: int = 0, **options: Any) -> Any:
    """A silent Highs object with options that are known to have been taken."""
    version()
    import highspy

    highs = highspy.Highs()
    settings = {
        "output_flag": False,
        "threads": settle_threads(threads),
        "random_seed": seed,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
    }
    for name, value in {**settings, **options}.items():
        if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise ValueError(f"HiGHS {version()} does not take {name}={value!r}")
    return highs


def settle_threads(threads: int | None = None) -> int:
    """The thread count of this process (None: whatever it is, else 1); HiGHS fails obscurely on a second one."""
    if not _threads_of_this_process:
        _threads_of_this_process.append(threads or 1)
    if threads is not None and _threads_of_this_process[0] != threads:
        first = _threads_of_this_process[0]
        raise ValueError(f"HiGHS runs with {first} thread(s) in this process: {threads} need a process of their own")
    return _threads_of_this_process[0]


def cost_scale(program: Program) -> float:
    """The power of two that brings the largest cost near 1000, so that rates of 1e-9 or 1e12 are solved alike."""
    largest = float(np.abs(program.cost).max(initial=0.0))
    return 2.0 ** (10 - math.frexp(largest)[1]) if 0 < largest < math.inf else 1.0


def load(highs: Any, program: Program, *, relax: bool, implied: bool = False) -> None:
    """Hand a program over; columns whose wholeness is implied may be declared real (it helps HiGHS a lot)."""
    import highspy

    lp = highspy.HighsLp()
    rows, columns = program.shape
    lp.num_row_, lp.num_col_ = rows, columns
    scale = cost_scale(program)
    lp.offset_ = program.offset * scale
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = program.cost * scale, program.col_low, program.col_high
    lp.row_lower_, lp.row_upper_ = program.row_low, program.row_high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.num_row_, lp.a_matrix_.num_col_ = rows, columns
    lp.a_matrix_.start_ = program.matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = program.matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = program.matrix.data
    if not relax and program.integer.any():
        whole, real = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
        declared = program.integer if implied else program.integer & ~program.implied
        lp.integrality_ = [whole if flag else real for flag in declared]
    if highs.passModel(lp) == highspy.HighsStatus.kError:
        raise ValueError("HiGHS refused the program")


def solve(
    program: Program,
    *,
    relax: bool = False,
    time_limit: float = math.inf,
    threads: int | None = None,
    seed: int = 0,
    start: Vector | None = None,
    on_incumbent: OnIncumbent | None = None,
    on_bound: OnBound | None = None,
    **options: Any,
) -> Outcome:
    """Solve a program, or its relaxation, to optimality or to the time limit."""
    limits = {"time_limit": max(0.0, time_limit), "threads": threads, "seed": seed, **options}
    listeners, begun = (on_incumbent, on_bound), time.monotonic()
    outcome = _solve(program, limits, listeners, start, relax=relax, implied=False)
    if outcome.stop is Stop.ERROR and program.implied.any() and not relax:
        # columns without a cost may come out fractional and break a row when made whole: declare them all
        limits["time_limit"] = max(0.0, time_limit - (time.monotonic() - begun))
        return _solve(program, limits, listeners, start, relax=relax, implied=True)
    return outcome


def _solve(
    program: Program,
    limits: dict[str, Any],
    listeners: tuple[OnIncumbent | None, OnBound | None],
    start: Vector | None,
    *,
    relax: bool,
    implied: bool,
) -> Outcome:
    import highspy

    highs = fresh(**limits)
    load(highs, program, relax=relax, implied=implied)
    mip = not relax and bool(program.integer.any())
    if start is not None and mip:
        solution = highspy.HighsSolution()
        solution.col_value = start.tolist()
        highs.setSolution(solution)
    if mip:
        _listen(highs, program, *listeners)
    begun = time.monotonic()
    status = highs.run()
    for _ in range(MOST_CUT_ROUNDS if mip else 0):
        if not _cut_off(highs, program):
            break
        highs.setOptionValue("time_limit", max(0.0, limits["time_limit"] - (time.monotonic() - begun)))
        status = highs.run()
    if mip:
        highs.disableCallbacks()
    return _outcome(highs, program, status, mip=mip)


def _cut_off(highs: Any, program: Program) -> bool:
    """Forbid an optimum that breaks a row within HiGHS' tolerance; whether there was one, and it could be.

    Where a 0/1 point breaks a'x <= u, so does every point that is no smaller at a > 0 and no larger at a < 0: a cover cut.
    """
    import highspy

    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return False
    point = program.rounded(np.array(highs.getSolution().col_value))
    cuts = 0
    for row in broken(program, point).tolist():
        span = slice(program.matrix.indptr[row], program.matrix.indptr[row + 1])
        columns, values = program.matrix.indices[span], program.matrix.data[span]
        if ((program.col_low[columns] < 0) | (program.col_high[columns] > 1)).any():
            continue
        over = program.matrix[[row]] @ point > program.row_high[row]
        pushing = columns[(values > 0) == (point[columns] > 0.5) if over[0] else (values < 0) == (point[columns] > 0.5)]
        signs = np.where(point[pushing] > 0.5, -1.0, 1.0)
        highs.addRow(1.0 - float((signs < 0).sum()), highspy.kHighsInf, len(pushing), pushing.astype(np.int32), signs)
        cuts += 1
    return cuts > 0


def relaxation(highs: Any, program: Program) -> Outcome:
    """The outcome of a relaxation that the caller has loaded and run (a search that moves column bounds)."""
    return _outcome(highs, program, None, mip=False)


def _listen(highs: Any, program: Program, on_incumbent: OnIncumbent | None, on_bound: OnBound | None) -> None:
    """Incumbents and bounds as they come."""

    def improved(event: Any) -> None:
        point = accepted(program, np.array(event.data_out.mip_solution), relax=False)
        if point is not None and on_incumbent is not None:
            on_incumbent(point, program.value(point))

    def logged(event: Any) -> None:
        bound = event.data_out.mip_dual_bound / cost_scale(program)
        if on_bound is not None and math.isfinite(bound) and bound != 0.0:
            on_bound(bound)

    if on_incumbent is not None:
        highs.cbMipImprovingSolution.subscribe(improved)
    if on_bound is not None:
        highs.cbMipLogging.subscribe(logged)


def _outcome(highs: Any, program: Program, status: Any, *, mip: bool) -> Outcome:
    import highspy

    model = highs.getModelStatus()
    kinds = highspy.HighsModelStatus
    stops = {
        kinds.kOptimal: Stop.OPTIMAL,
        kinds.kModelEmpty: Stop.OPTIMAL,
        kinds.kInfeasible: Stop.INFEASIBLE,
        kinds.kUnboundedOrInfeasible: Stop.INFEASIBLE,  # all columns are bounded
        kinds.kTimeLimit: Stop.TIME_LIMIT,
        kinds.kIterationLimit: Stop.LIMIT,
        kinds.kSolutionLimit: Stop.LIMIT,
        kinds.kInterrupt: Stop.LIMIT,
        kinds.kObjectiveBound: Stop.LIMIT,
    }
    failed = status == highspy.HighsStatus.kError
    stop = Stop.ERROR if failed else stops.get(model, Stop.ERROR)
    info, solver = highs.getInfo(), f"highs {highs.version()}"
    if model == kinds.kModelEmpty:
        return _empty(program, solver)
    if stop is Stop.ERROR:
        return Outcome(stop=stop, solver=f"{solver}: {highs.modelStatusToString(model)}")
    solution = highs.getSolution()
    point = accepted(program, np.array(solution.col_value), relax=not mip) if solution.value_valid else None
    value = math.inf if point is None else program.value(point)
    if stop is Stop.OPTIMAL and point is None:
        return Outcome(stop=Stop.ERROR, solver=f"{solver}: its point breaks a row")
    bound = _mip_bound(info, stop, value, cost_scale(program)) if mip else -math.inf
    duals = np.array(solution.row_dual) / cost_scale(program) if not mip and solution.dual_valid else None
    ray = _ray(highs) if not mip and stop is Stop.INFEASIBLE else None
    return Outcome(stop=stop, value=value, bound=bound, point=point, duals=duals, ray=ray, solver=solver)


def _mip_bound(info: Any, stop: Stop, value: float, scale: float) -> float:
    """What the MIP proved; a bound within the tolerance above the value is the value."""
    if stop is Stop.INFEASIBLE:
        return -math.inf
    bound = info.mip_dual_bound / scale
    if not math.isfinite(bound) or (bound == 0.0 and stop is not Stop.OPTIMAL and info.mip_node_count < 1):
        return -math.inf
    above = bound > value + OPTIMAL * max(1.0, abs(value))
    return float(bound if above else min(bound, value))  # far above: Outcome refuses it loudly


def _empty(program: Program, solver: str) -> Outcome:
    """A program without columns and rows: its value is its offset."""
    point = np.zeros(0)
    duals = np.zeros(program.shape[0])
    return Outcome(
        stop=Stop.OPTIMAL, value=program.offset, bound=program.offset, point=point, duals=duals, solver=solver
    )


def _ray(highs: Any) -> Vector | None:
    """A Farkas multiplier per row, if HiGHS has one."""
    _, exists, values = highs.getDualRay()
    return np.array(values) if exists else None
