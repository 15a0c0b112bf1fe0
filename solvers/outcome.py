"""Why a solver stopped, what it holds, what it proved."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np

from yardline.models.checks import Vector
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
    return tidy if program.violation(tidy) <= FEASIBILITY * scale else None
