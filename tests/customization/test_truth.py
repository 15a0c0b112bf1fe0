"""Everything that is registered for customization, against brute force: bound <= optimum <= plan, and certificates hold."""

from __future__ import annotations

import json
import math
from typing import Any

import in_process
import pytest
from customization.brute_force import least_cost
from customization.strategies import instances
from customization.support import read
from hypothesis import given, settings

from yardline.models import registry
from yardline.models.customization.data import Customization
from yardline.models.customization.judge import evaluate
from yardline.models.method import Answer, Unsuitable
from yardline.solvers.certificates.verdict import verify

METHODS = [e.name for e in registry.entries("method", "customization") if e.shipped]
BOUNDS = [e.name for e in registry.entries("bound", "customization") if e.shipped]
PROVING = [("auto", "potentials sets"), ("sets", "potentials sets"), ("cuts", "potentials"), ("program", "tree")]


def check_certificate(made: Customization, best: float, answer: Answer) -> Any:
    verdict = verify(made, json.loads(json.dumps(answer.certificate)))
    assert verdict.holds, verdict.reason
    assert verdict.bound is not None
    assert float(verdict.bound) <= best * (1 + 1e-9) + 1e-12
    assert answer.bound is not None
    assert float(verdict.bound) >= answer.bound * (1 - 1e-6) - 1e-12
    return verdict


def check_everything(document: dict[str, Any]) -> None:
    made, best = read(document), least_cost(document)
    for name in METHODS:
        try:
            answer = in_process.method(made, name)
        except Unsuitable:
            continue
        if best == math.inf:
            assert answer.infeasible, name
            continue
        judged = evaluate(made, in_process.plan_of(answer))
        assert judged.valid, (name, judged.violations)
        assert judged.cost >= best * (1 - 1e-9) - 1e-12, name
        assert answer.bound is None or answer.bound <= best * (1 + 1e-6) + 1e-12, name
        if name in ("exact", "optimal-paper"):
            assert judged.cost == pytest.approx(best, rel=1e-9, abs=1e-12), name
    for name in BOUNDS:
        answer = in_process.bound(made, name, certify=True)
        assert (answer.infeasible is not None) == (best == math.inf), name
        if best < math.inf:
            assert answer.bound is not None
            assert answer.bound <= best * (1 + 1e-9) + 1e-12, name
            if answer.certificate is not None:
                check_certificate(made, best, answer)


def check_proofs(document: dict[str, Any]) -> None:
    made, best = read(document), least_cost(document)
    if best == math.inf:
        return
    for by, kinds in PROVING:
        answer = in_process.method(made, "exact", certify=True, by=by)
        assert evaluate(made, in_process.plan_of(answer)).cost == pytest.approx(best, rel=1e-9, abs=1e-12), by
        assert answer.certificate is not None
        assert answer.certificate["kind"] in kinds, by
        assert check_certificate(made, best, answer).optimal, by


@settings(max_examples=60)
@given(instances())
def test_bound_optimum_methods(document: dict[str, Any]) -> None:
    check_everything(document)


@settings(max_examples=60)
@given(instances())
def test_proofs_of_optimality(document: dict[str, Any]) -> None:
    check_proofs(document)


@pytest.mark.slow
@settings(max_examples=10_000)
@given(instances())
def test_ten_thousand(document: dict[str, Any]) -> None:
    check_everything(document)


@pytest.mark.slow
@settings(max_examples=2_000)
@given(instances())
def test_thousands_of_proofs(document: dict[str, Any]) -> None:
    check_proofs(document)


def test_certified_bounds_are_certified() -> None:
    assert {"paper", "dual-ascent", "cuts", "best", "lp", "tree"} <= set(BOUNDS)
    document = {
        "parent": [None, 0],
        "requests": [[], [1]],
        "formats": [{"name": "a", "transmission": 4}, {"name": "b", "transmission": 1}],
        "conversions": [{"from": 0, "to": 1, "cost": 2}],
        "source": 0,
    }
    made = read(document)  # make b at the root (2), send it (1)
    for name in ("dual-ascent", "cuts", "best"):
        answer = in_process.bound(made, name, certify=True)
        assert answer.bound == 3
        assert check_certificate(made, 3, answer).bound == 3
