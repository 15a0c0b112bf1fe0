"""The program against brute force: exact = enumeration, relaxation below, judge and encode/decode agree."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from overlay import brute_force
from overlay.solving import solved
from overlay.tiny import any_overlay

from yardline.models.overlay.assembly import assemble, decode, encode, size
from yardline.models.overlay.data import Overlay
from yardline.models.overlay.feasibility import why_infeasible
from yardline.models.overlay.judge import evaluate

QUICK = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
LONG = settings(deadline=None, max_examples=2000, suppress_health_check=list(HealthCheck))


def check_program(document: dict[str, Any]) -> None:
    instance, best = Overlay.from_document(document), brute_force.optimum(document)
    program = assemble(instance)
    value, point = solved(program)
    assert value == pytest.approx(best, rel=1e-7, abs=1e-7)
    assert solved(program, relax=True)[0] <= best + 1e-7 * max(1.0, best) or best == math.inf
    assert (why_infeasible(instance) is None) == (best < math.inf)
    if point is not None:
        check_plan(instance, program, point, best)


def check_plan(instance: Overlay, program: Any, point: Any, best: float) -> None:
    plan = decode(instance, program.chosen(point))
    judgement = evaluate(instance, plan)
    assert judgement.violations == ()
    assert judgement.cost == pytest.approx(best, rel=1e-9, abs=1e-9)
    back = encode(instance, program, plan)
    assert program.violation(back) <= 1e-9
    assert program.value(back) == pytest.approx(best, rel=1e-9, abs=1e-9)


@QUICK
@given(any_overlay("mesh"))
def test_mesh_is_brute_force(document: dict[str, Any]) -> None:
    check_program(document)


@QUICK
@given(any_overlay("tree"))
def test_tree_is_brute_force(document: dict[str, Any]) -> None:
    check_program(document)


@pytest.mark.slow
@LONG
@given(any_overlay())
def test_many_are_brute_force(document: dict[str, Any]) -> None:
    check_program(document)


@QUICK
@given(any_overlay())
def test_size_is_no_less_than_the_columns(document: dict[str, Any]) -> None:
    # estimated without merging parties and without dropping links; a user without any broker still has a column
    instance = Overlay.from_document(document)
    links = instance.B * (instance.B - 1) // 2
    assert assemble(instance).shape[1] <= size(instance) + links
