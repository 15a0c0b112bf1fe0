"""The certificate `parts`: the instance split, a bound for each part, their sum.

    {"kind": "parts", ..., "bound": "p/q", "split": [part, ...],         as models/<problem>/splitting.py reads it
     "shares": [[[i, j, number], ...] per part],                         what a part charges for the decision x[i,j]
     "parts": [{"program": <hash>, "bits": 40, "bound": "p/q", "step": ..., "nodes": [...]}, ...]}     a `tree` each

Why the sum holds: restricted to a part, a plan is a point of the part's program, whose cost is that part of the plan's cost
which is the part's own, plus share * x. Over all parts the own costs add up to no more than the plan's cost without what it
pays for x, and the shares to no more than that: sum over parts of share[i,j] <= budget[i,j], checked here in rationals
(x >= 0, so less than the budget is allowed). Whatever the shares are, the sum is a bound.
"""

from __future__ import annotations

import importlib
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

from yardline.models import checks, registry
from yardline.models.checks import Fields, Vector
from yardline.models.instance import Instance
from yardline.models.program import Program
from yardline.solvers.certificates.rational import Refused
from yardline.solvers.certificates.tree import check_program
from yardline.solvers.certificates.verdict import Verdict, rational

KIND = "parts"


def splitting(instance: Instance) -> ModuleType:
    """How instances of a problem fall into parts."""
    try:
        return importlib.import_module(f"yardline.models.{instance.problem}.splitting")
    except ModuleNotFoundError:
        raise ValueError(f"instances of {instance.problem} do not fall into parts") from None


@registry.certificate(KIND, summary="The instance split, a tree for each part, the sum; rechecked in rationals.")
def check(about: Instance | Program, fields: Fields) -> Verdict:
    """Recompute what all parts prove, and add up."""
    if isinstance(about, Program):
        raise ValueError("kind is parts: expected a certificate of an instance, not of a program")
    into = splitting(about)
    claimed = rational(fields.need("bound"), "bound")
    split = into.parts(about, checks.listing(fields.need("split"), "split"))
    given = checks.listing(fields.need("shares"), "shares", length=len(split), of="parts")
    proofs = checks.listing(fields.need("parts"), "parts", length=len(split), of="parts")
    fields.done()
    budget = into.budget(about)
    shares = [_share(rows, f"shares[{p}]", budget.shape) for p, rows in enumerate(given)]
    _within(shares, budget)
    total = Fraction(0)
    for p, (part, share) in enumerate(zip(split, shares, strict=True)):
        total += _part(into, about, part, share, Fields(proofs[p], f"parts[{p}]"))
    holds = total >= claimed
    reason = "" if holds else f"it claims {claimed} but proves {total}"
    return Verdict(kind=KIND, holds=holds, bound=total, reason=reason)


def _share(rows: Any, field: str, shape: tuple[int, ...]) -> Vector:
    """A part's shares as a table, 0 where nothing is given."""
    result, seen = np.zeros(shape), np.zeros(shape, dtype=bool)
    for r, row in enumerate(checks.listing(rows, field)):
        i, j, value = checks.listing(row, f"{field}[{r}]", length=3, of="numbers")
        place = (
            checks.integer(i, f"{field}[{r}][0]", high=shape[0] - 1),
            checks.integer(j, f"{field}[{r}][1]", high=shape[1] - 1),
        )
        if seen[place]:
            raise ValueError(f"{field} names {list(place)} twice: expected each decision once")
        seen[place] = True
        result[place] = checks.number(value, f"{field}[{r}][2]", low=-float("inf"))
    return result


def _within(shares: list[Vector], budget: Vector) -> None:
    """The shares of all parts together stay within the budget, exactly."""
    used = np.zeros(budget.shape, dtype=bool)
    for share in shares:
        used |= share != 0
    for i, j in np.argwhere(used).tolist():
        total = sum((Fraction(float(share[i, j])) for share in shares), Fraction(0))
        if total > Fraction(float(budget[i, j])):
            raise Refused(f"the parts charge more for decision [{i}, {j}] than it costs")


def _part(into: ModuleType, about: Instance, part: Any, share: Vector, fields: Fields) -> Fraction:
    """What one part proves; refused where it charges for a decision that its program does not have."""
    program, columns = into.program(about, part, share)
    if ((share != 0) & (columns < 0)).any():
        raise Refused(f"{fields.where} charges for a decision that it does not make")
    proved, claimed = check_program(program, fields)
    fields.done()
    if proved < claimed:
        raise Refused(f"{fields.where} claims {claimed} but proves {proved}")
    return proved
