"""Everything at once, on random tiny instances: bound <= optimum <= every method, and every certificate verifies."""

from __future__ import annotations

import json
import math

import in_process
import pytest
from channelization import brute_force
from channelization.strategies import documents, instance
from hypothesis import given, settings

from yardline.models import registry
from yardline.models.channelization.judge import evaluate
from yardline.models.method import Unsuitable
from yardline.solvers.certificates.verdict import verify

METHODS = [e.name for e in registry.entries("method", "channelization") if e.shipped]
BOUNDS = [e.name for e in registry.entries("bound", "channelization") if e.shipped]


def check_everything(document):
    made, best = instance(document), brute_force.optimum(document)
    for name in METHODS:
        try:
            answer = in_process.method(made, name, certify=name == "exact")
        except Unsuitable:
            continue
        check_answer(made, best, name, answer)
    for name in BOUNDS:
        answer = in_process.bound(made, name)
        assert (answer.infeasible is not None) == (best == math.inf), name
        if best < math.inf:
            assert answer.bound <= best * (1 + 1e-9), name
            assert answer.certificate is not None, name
            check_certificate(made, best, answer)


def check_answer(made, best, name, answer):
    if best == math.inf:
        assert answer.infeasible or not evaluate(made, answer.solution).valid, name
        return
    judged = evaluate(made, in_process.plan_of(answer))
    assert judged.valid, (name, judged.violations)
    assert judged.cost >= best * (1 - 1e-9) - 1e-12, name
    if answer.bound is not None:
        assert answer.bound <= best * (1 + 1e-6) + 1e-12, name
    if name == "exact":
        assert judged.cost == pytest.approx(best, rel=1e-9, abs=1e-12)
        assert check_certificate(made, best, answer).optimal


def check_certificate(made, best, answer):
    verdict = verify(made, json.loads(json.dumps(answer.certificate)))
    assert verdict.holds, verdict.reason
    assert float(verdict.bound) <= best * (1 + 1e-9) + 1e-12
    assert float(verdict.bound) >= answer.bound * (1 - 1e-6) - 1e-12
    return verdict


@settings(max_examples=80)
@given(documents())
def test_bound_optimum_methods_certificates(document):
    check_everything(document)


@pytest.mark.slow
@settings(max_examples=2500)
@given(documents())
def test_bound_optimum_methods_certificates_thousands(document):
    check_everything(document)


@settings(max_examples=30)
@given(documents(feasible=True))
def test_the_tree_meets_the_optimum(document):
    best = brute_force.optimum(document)
    assert in_process.bound(instance(document), "tree").bound == pytest.approx(best, rel=1e-6, abs=1e-9)
