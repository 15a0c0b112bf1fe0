"""A first-order method for linear programs whose point is only a guide: quick and rough where an exact optimum is not needed.

    min c'x   L <= A x <= U   l <= x <= u      (every column has finite bounds)

Primal-dual hybrid gradient on min over x, max over y of c'x + y'(b - A x), b the side of the row that y pays for:

    x' = clip(x - tau (c - A'y), l, u)               tau[j]   = 1 / (omega * sum over rows of |A[i,j]|)
    y' = y + sigma (b - A (2 x' - x)), projected     sigma[i] = omega / sum over columns of |A[i,j]|

Every `PERIOD` steps the better of the last point and the average is taken up (a restart) where its error has halved,
and omega, the weight between both spaces, moves to what the two have moved. Columns that stay at their lower bound with
a cost above what the rows pay for them sleep: steps cost what the awake ones do. At every check all columns are priced,
so the gap is that of the whole program. The value is no bound: it is computed in floating point at a point that breaks
rows a little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from yardline.models.checks import Indices, Vector
from yardline.models.program import Program

PERIOD = 100
"""Steps between checks."""

LONGEST = 1_000
"""Steps after which a restart is due even where the error has not halved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point that nearly satisfies the rows, and how nearly."""

    x: Vector
    value: float
    dual_value: float
    missing: float  # what rows miss, the largest, each row divided by its largest entry
    steps: int


@dataclass(slots=True)
class _Scaled:
    """The program with rows divided by their largest entry and costs by the largest."""

    A: csc_array
    cost: Vector
    low: Vector  # of rows
    high: Vector
    l: Vector  # of columns
    u: Vector
    unit: float  # of the cost
    tau: Vector  # steps of columns

    @classmethod
    def of(cls, program: Program) -> _Scaled:
        A = csr_array(program.matrix)
        largest = np.maximum.reduceat(np.abs(A.data), A.indptr[:-1])  # no row of ours is empty
        unit = float(np.abs(program.cost).max(initial=0.0)) or 1.0
        data = A.data / np.repeat(largest, np.diff(A.indptr))
        scaled = csc_array(csr_array((data, A.indices, A.indptr), shape=A.shape))
        tau = 1 / np.maximum(np.asarray(abs(scaled).sum(axis=0)), 1e-9)
        sides = (program.row_low / largest, program.row_high / largest)
        return cls(scaled, program.cost / unit, *sides, program.col_low, program.col_high, unit, tau)

    def missing(self, Ax: Vector) -> Vector:
        """What each row misses."""
        return np.maximum(0.0, np.maximum(self.low - Ax, Ax - self.high))

    def dual(self, y: Vector, reduced: Vector) -> float:
        """The value of the Lagrangian at its best x."""
        rows = np.where(y > 0, self.low, self.high)
        paid = float(y[y != 0] @ rows[y != 0])
        return paid + float(np.where(reduced > 0, reduced * self.l, reduced * self.u).sum())


def solve(
    program: Program,
    *,
    accuracy: float = 0.05,
    steps: int = 20_000,
    awake: Indices | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Point:
    """A point whose value is within `accuracy` of the dual one and whose rows miss at most as much, or the last one.

    awake: columns to begin with (all others sleep until they are priced); stop: asked at every check.
    """
    problem = _Scaled.of(program)
    state = _State(problem, np.arange(program.shape[1]) if awake is None else np.sort(awake))
    done = 0
    while done < steps:
        state.walk(PERIOD)
        done += PERIOD
        if state.checked() <= accuracy or stop():
            break
    x, value, dual, missing = state.best()
    return Point(x=x, value=value * problem.unit, dual_value=dual * problem.unit, missing=missing, steps=done)


class _State:
    """The walk: x of the columns that are awake, y of the rows, and what has been summed up since the last restart."""

    def __init__(self, problem: _Scaled, awake: Indices) -> None:
        self.problem, self.omega = problem, 1.0
        self.x, self.y = problem.l.copy(), np.zeros(problem.A.shape[0])
        self.started = (self.x.copy(), self.y.copy())
        self.error, self.since = np.inf, 0
        self._wake(awake)
        self._begin()

    def _wake(self, awake: Indices) -> None:
        """The awake part of the program, both ways round, with its steps."""
        p = self.problem
        part = p.A[:, awake]
        self.awake, self.A, self.At = awake, csr_array(part), csr_array(part.T)
        self.tau = p.tau[awake]
        self.sigma = 1 / np.maximum(np.asarray(abs(part).sum(axis=1)), 1e-9)
        self.cost, self.l, self.u = p.cost[awake], p.l[awake], p.u[awake]

    def _begin(self) -> None:
        self.sum_x, self.sum_y, self.count = np.zeros_like(self.x), np.zeros_like(self.y), 0

    def walk(self, steps: int) -> None:
        """So many steps of the awake columns."""
        from yardline.solvers import _walking

        p, x, sum_x = self.problem, self.x[self.awake], self.sum_x[self.awake]
        sides = (self.cost, self.l, self.u, p.low, p.high, self.tau / self.omega, self.sigma * self.omega)
        _walking.walk(steps, _parts(self.A), _parts(self.At), *sides, x, self.y, sum_x, self.sum_y)
        self.x[self.awake], self.sum_x[self.awake] = x, sum_x
        self.count += steps
        self.since += steps

    def checked(self) -> float:
        """The error of the better of point and average; restarts, wakes and puts to sleep."""
        here, mean = (self.x, self.y), (self.sum_x / self.count, self.sum_y / self.count)
        found = [self._measured(*point) for point in (here, mean)]
        k = int(found[1][0] < found[0][0])
        self.known, (error, _, _, _, reduced) = ((here, mean)[k], found[k][:4]), found[k]
        if error < 0.5 * self.error or self.since >= LONGEST:
            self._restarted((here, mean)[k], error)
        self._priced(reduced)
        return float(error)

    def _measured(self, x: Vector, y: Vector) -> tuple[float, float, float, float, Vector]:
        """Error, value, dual value, what rows miss, and the reduced costs of all columns."""
        p = self.problem
        reduced = p.cost - p.A.T @ y
        missing = float(p.missing(p.A @ x).max(initial=0.0))
        value, dual = float(p.cost @ x), p.dual(y, reduced)
        return max(missing, (value - dual) / max(abs(value), 1e-12)), value, dual, missing, reduced

    def _restarted(self, point: tuple[Vector, Vector], error: float) -> None:
        steps = (self.problem.tau, self.sigma)
        pairs = zip(point, self.started, steps, strict=True)
        moved = [float(np.linalg.norm((new - old) / np.sqrt(step))) for new, old, step in pairs]
        if min(moved) > 1e-12:
            self.omega = float(np.sqrt(self.omega * moved[1] / moved[0]))
        self.x, self.y, self.error, self.since = point[0].copy(), point[1].copy(), error, 0
        self.started = (self.x.copy(), self.y.copy())
        self._begin()

    def _priced(self, reduced: Vector) -> None:
        """Wake columns that rows pay for; those at their lower bound that rows do not pay for may sleep."""
        wanted: NDArray[np.bool_] = (reduced < 0) | (self.x > self.problem.l)
        fresh = np.setdiff1d(np.flatnonzero(wanted), self.awake, assume_unique=True)
        if len(fresh) or wanted.sum() < 0.5 * len(self.awake):
            self._wake(np.flatnonzero(wanted))

    def best(self) -> tuple[Vector, float, float, float]:
        """What the last check liked better."""
        (x, _), (_, value, dual, missing) = self.known
        return x, value, dual, missing


def _parts(matrix: csr_array) -> tuple[Indices, Indices, Vector]:
    return matrix.indptr, matrix.indices, matrix.data
