"""Why a solver stopped, what it holds, what it proved."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np

from yardline.models.checks import Indices, Vector
from yardline.models.numbers import OPTIMAL
from yardline.models.program import Program

FEASIBILITY = 1e-6
"""By how much a solver's point may break a row before we refuse it."""


class Stop(enum.Enum):
    """Why a solver stopped."""

    OPTIMAL = "optimal"  # it claims a proof
    INFEASIBLE = "infeasible"  # it claims that there is no point
    TIME_LIMIT = "time limit"  # never to be read as optimal
    LIMIT = "another limit"  # nodes, iterations, interrupted by us
    ERROR = "error"  # it failed, or says nothing that can be used


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Why a solver stopped, what it found, what it proved (minimisation)."""

    stop: Stop
    value: float = math.inf  # objective of a point re-checked by us; inf if none
    bound: float = -math.inf  # what the solver says it proved; -inf if nothing
    point: Vector | None = None
    duals: Vector | None = None  # a multiplier per row, of a relaxation
    ray: Vector | None = None  # a Farkas multiplier per row, where infeasible
    solver: str = ""

    def __post_init__(self) -> None:
        if not self.bound <= self.value + OPTIMAL * max(1.0, abs(self.value)):  # NaN too
            raise ValueError(
                f"bound {self.bound} exceeds value {self.value} from {self.solver!r}. "
                "Re-check feasibility of the point and the objective sense."
            )


def accepted(program: Program, point: Vector, *, relax: bool) -> Vector | None:
    """The point with integer columns made whole, if it holds in every row; else None."""
    tidy = np.clip(point if relax else program.rounded(point), program.col_low, program.col_high)
    scale = max(1.0, float(np.abs(program.matrix.data).max(initial=0.0)))
    if program.violation(tidy) > FEASIBILITY * scale or (not relax and len(broken(program, tidy))):
        return None
    return tidy


def broken(program: Program, point: Vector) -> Indices:
    """Rows of whole columns that a whole point breaks by more than the rounding of their sums.

    A solver forgives 1e-6 there; the statement of a problem forgives less (a budget 1e-9), and that is in the row already.
    """
    whole = np.asarray(abs(program.matrix) @ (~program.integer).astype(np.float64)) == 0
    activity, noise = program.matrix @ point, 1e-14 * (abs(program.matrix) @ np.abs(point))
    return np.flatnonzero(whole & ((activity < program.row_low - noise) | (activity > program.row_high + noise)))
