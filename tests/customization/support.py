"""What the tests of customization share: a small instance worked by hand, and shortcuts through the package."""

from __future__ import annotations

import math
from typing import Any

from yardline.models.customization import assembly
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.judge import evaluate
from yardline.models.judgement import Judgement
from yardline.models.program import Program
from yardline.solvers import highs
from yardline.solvers.outcome import Stop


def chain() -> dict[str, Any]:
    """Root 0 - node 1 - nodes 2 and 3; a large source format 0, a small format 1, a tiny format 2.

    Best plan, by hand: the root makes 1 (5) and sends it to node 1 (2), which sends it on to node 2 (2), makes 2 of it
    (3) and sends that to node 3 (1): 13. Making 2 at node 3 costs 2 + 3 instead of 3 + 1, making it at the root costs 1
    more on the first link: 14 each.
    """
    return {
        "parent": [None, 0, 1, 1],
        "requests": [[], [], [1], [2]],
        "formats": [{"name": n, "transmission": t} for n, t in (("raw", 10), ("small", 2), ("tiny", 1))],
        "conversions": [{"from": f, "to": g, "cost": c} for f, g, c in ((0, 1, 5), (1, 2, 3), (0, 2, 9))],
        "source": 0,
    }


def best_plan() -> dict[str, Any]:
    """The best plan of the chain, cost 13."""
    return {"sends": [[], [1], [1], [2]], "converts": [[[0, 1]], [[1, 2]], [], []]}


def read(document: dict[str, Any]) -> Customization:
    return Customization.from_document(document)


def judged(document: dict[str, Any], plan: dict[str, Any]) -> Judgement:
    instance = read(document)
    return evaluate(instance, CustomizationPlan.from_document(plan, instance))


def optimum(program: Program, *, relax: bool = False) -> float:
    """By HiGHS; infinite where there is no point."""
    outcome = highs.solve(program, relax=relax)
    if outcome.stop is Stop.INFEASIBLE:
        return math.inf
    assert outcome.stop is Stop.OPTIMAL
    return outcome.value


def best(document: dict[str, Any]) -> float:
    return optimum(assembly.assemble(read(document)))


def solved(document: dict[str, Any]) -> tuple[Customization, Program, CustomizationPlan]:
    """An instance, its program and the plan of the program's best point."""
    instance = read(document)
    program = assembly.assemble(instance)
    point = highs.solve(program).point
    assert point is not None
    return instance, program, assembly.decode(instance, program.chosen(point))
