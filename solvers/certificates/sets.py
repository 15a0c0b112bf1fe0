"""The certificate `sets`: a least plan, whose cost the checker finds again by a recursion over sets of formats.

    {"kind": "sets", ..., "bound": "p/q", "plan": {...}}

With T the cost of sending and C of converting (PROBLEMS: weighted), and B, A, X sets of formats,

    H[i](B) = sum over children j of W[j](B), infinite unless B holds what i requests     (B: what i has in the end)
    V[i](A) = min(H[i](A), min over f not in A of min(C[i](e,f) for e in A) + V[i](A+f))  (A: what i has so far)
    W[j](B) = min over X in B of T[j](X) + V[j](X)                                        (X: what is sent to j)

and V[root]({source}) is the least cost of a plan: a node's conversions can be done one after the other, each making a format
that is not there yet. The checker recomputes all of it, in whole numbers (rounded down, see whole_costs.py): there is nothing
in the certificate that it trusts. It takes about as long as the search took.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from yardline.models import registry
from yardline.models.checks import Fields, Indices
from yardline.models.customization.data import Customization
from yardline.models.customization.subsets import Subsets, subsets, table
from yardline.models.instance import Instance
from yardline.models.numbers import OPTIMAL
from yardline.models.problem import problem_of
from yardline.models.program import Program
from yardline.solvers.certificates.rational import Refused
from yardline.solvers.certificates.verdict import Verdict, rational
from yardline.solvers.certificates.whole_costs import NEVER, bits_of_sum, on_grid, worth

KIND = "sets"
MOST_FORMATS = 20
SHARED_FORMATS = 12
"""Up to this many formats, leaves that are alike share one table."""

Steps = NDArray[np.uint8]


@dataclass(slots=True)
class Tables:
    """The steps that the recursion took: per node, which format to make next and which to leave out of a link."""

    least: int  # V[root]({source}), in units of 2**-bits
    bits: int
    made: dict[int, Steps] = field(default_factory=dict)
    left: dict[int, Steps] = field(default_factory=dict)


def recursion(
    instance: Customization, sets: Subsets, *, keep: bool = False, going: Callable[[], bool] = lambda: True
) -> Tables | None:
    """Walk the nodes from the leaves up; None where `going` says to stop."""
    from yardline.solvers.certificates import _sets

    walk, m = _Walk(instance, sets), len(sets.formats)
    result = Tables(0, walk.bits)
    waiting: dict[int, Indices] = {}  # H of nodes whose children have begun
    shared: dict[tuple[int, float, float], tuple[Indices, Steps, Steps]] = {}
    for i in sets.order.tolist():
        if not going():
            return None
        H = waiting.pop(i, None)
        key = (int(sets.wanted[i]), float(instance.node_weight[i]), float(instance.link_weight[i]))
        if H is None and i and key in shared:
            W, made, left = shared[key]
        else:
            W = _sets.idle(sets.wanted[i], m) if H is None else H
            made, left = np.empty(1 << m, dtype=np.uint8), np.empty(1 << m, dtype=np.uint8)
            _sets.convert(W, walk.cheapest(i), made)
            if i == 0:
                result.least = int(W[1 << sets.source])
            _sets.send(W, walk.tau[i], left)
            if H is None and m <= SHARED_FORMATS:
                shared[key] = W, made, left
        if keep:
            result.made[i], result.left[i] = made, left
        if i:
            j = int(instance.parent[i])
            if j not in waiting:
                waiting[j] = _sets.idle(sets.wanted[j], m)
            _sets.add(waiting[j], W)
    return result


class _Walk:
    """The costs on the grid, and the table of cheapest conversions of the node at hand."""

    def __init__(self, instance: Customization, sets: Subsets) -> None:
        nodes = sets.order
        self.instance, self.sets = instance, sets
        sent = float(instance.send_cost[nodes].sum())
        done = instance.beta * float(instance.node_weight[nodes].sum()) * float(instance.conversion_cost.sum())
        self.bits = bits_of_sum(sent + done)
        self.tau = on_grid(instance.send_cost[:, sets.formats], self.bits)
        self._weight: float | None = None
        self._table: Any = None

    def cheapest(self, i: int) -> Any:
        """The cheapest conversion from each set to each format at node i."""
        from yardline.solvers.certificates import _sets

        weight = float(self.instance.node_weight[i])
        if weight != self._weight:
            cost = on_grid((self.instance.beta * weight) * self.instance.conversion_cost, self.bits)
            self._weight, self._table = weight, _sets.cheapest(table(self.instance, self.sets, cost, NEVER))
        return self._table


@registry.certificate(KIND, summary="No shortcut: the whole recursion over sets was done again, in whole numbers.")
def check(about: Instance | Program, fields: Fields) -> Verdict:
    """Redo the recursion; it proves the least cost of all plans."""
    if not isinstance(about, Customization):
        raise Refused("it speaks about an instance of customization")
    claimed, plan = rational(fields.need("bound"), "bound"), fields.take("plan")
    fields.done()
    sets = subsets(about)
    if len(sets.formats) > MOST_FORMATS:
        raise Refused(f"there are {len(sets.formats)} formats that matter, and the recursion ends at {MOST_FORMATS}")
    found = recursion(about, sets)
    if found is None or found.least >= NEVER:
        raise Refused("it proves that there is no valid plan at all")
    bound = worth(found.least, found.bits)
    if bound < claimed:
        return Verdict(kind=KIND, holds=False, bound=bound, reason=f"it claims {claimed} but proves {bound}")
    return with_plan(KIND, about, bound, plan)


def with_plan(kind: str, instance: Instance, bound: Fraction, plan: object) -> Verdict:
    """Whether a bound meets the cost of the plan that a certificate carries; the bound alone where it carries none."""
    if plan is None:
        return Verdict(kind=kind, holds=True, bound=bound)
    problem = problem_of(instance)
    judgement = problem.evaluate(instance, problem.read_solution(Fields(plan, "plan").left, instance))
    if not judgement.valid:
        return Verdict(kind=kind, holds=False, bound=bound, reason=f"its plan breaks a rule: {judgement.violations[0]}")
    cost = Fraction(judgement.cost)
    optimal = bound >= cost - Fraction(OPTIMAL) * abs(cost)
    reason = "" if optimal else f"its plan costs {float(cost):g}, more than the bound: not a proof of optimality"
    return Verdict(kind=kind, holds=optimal, bound=min(bound, cost), optimal=optimal, reason=reason)
