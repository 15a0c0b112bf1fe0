"""Everything at once, on random tiny instances of every problem, against brute force.

For every method and every bound that is registered: bound <= optimum <= every valid plan; `exact` is the optimum and its
proof verifies; every certificate verifies, none for another instance, and none that was altered proves more than the optimum.
`make test-all` draws 2,500 instances of each problem.
"""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import in_process
import pytest
from assignment import brute_force as assignment_truth
from assignment.strategies import documents as assignments
from channelization import brute_force as channelization_truth
from channelization.strategies import documents as channelizations
from customization import brute_force as customization_truth
from customization.strategies import instances as customizations
from hypothesis import given, settings
from hypothesis import strategies as st
from overlay import brute_force as overlay_truth
from overlay.tiny import any_overlay

from yardline.instances.files import instance_of
from yardline.models import registry
from yardline.models.method import Unsuitable
from yardline.models.problem import problem_names, problem_of
from yardline.solvers.certificates.verdict import verify


class Truth(NamedTuple):
    """Tiny documents of a problem, and their optimum by enumeration."""

    documents: st.SearchStrategy[dict[str, Any]]
    optimum: Callable[[dict[str, Any]], float]


TRUTH = {
    "assignment": Truth(assignments(), assignment_truth.least_cost),
    "channelization": Truth(channelizations(), channelization_truth.optimum),
    "customization": Truth(customizations(), customization_truth.least_cost),
    "overlay": Truth(any_overlay(), overlay_truth.optimum),
}


def test_every_problem_has_its_truth():
    assert set(TRUTH) == set(problem_names())


def made_of(problem: str, document: dict[str, Any]):
    return instance_of({"yardline": 1, "problem": problem, **{k: v for k, v in document.items() if k not in HEAD}})


HEAD = ("yardline", "problem")


def check_everything(problem: str, document: dict[str, Any], seed: int) -> None:
    made, best = made_of(problem, document), TRUTH[problem].optimum(document)
    assert (problem_of(made).why_infeasible(made) is not None) == (best == math.inf)
    for entry in registry.entries("method", problem):
        try:
            answer = in_process.method(made, entry.name, seed=seed, certify=entry.name == "exact")
        except Unsuitable:
            continue
        check_answer(made, best, entry.name, answer)
    for entry in registry.entries("bound", problem):
        try:
            answer = in_process.bound(made, entry.name, seed=seed)
        except Unsuitable:
            continue
        check_bound(made, best, entry.name, answer, random.Random(seed))


def check_answer(made, best, name, answer):
    judged = None if answer.solution is None else problem_of(made).evaluate(made, answer.solution)
    if best == math.inf:
        assert answer.infeasible or judged is None or not judged.valid, name
        return
    assert answer.infeasible is None, name
    if answer.bound is not None:
        assert answer.bound <= best * (1 + 1e-6) + 1e-12, name
    if judged is not None and judged.valid:
        assert judged.cost >= best * (1 - 1e-9) - 1e-12, name
    if name == "exact":
        assert judged is not None
        assert judged.valid, judged.violations
        assert judged.cost == pytest.approx(best, rel=1e-9, abs=1e-12)
        assert check_certificate(made, best, answer).optimal


def check_bound(made, best, name, answer, rng):
    if best == math.inf or answer.bound is None:
        return
    assert answer.bound <= best * (1 + 1e-9) + 1e-12, name
    if answer.certificate is None:
        return
    check_certificate(made, best, answer)
    assert not verify(made, {**answer.certificate, "instance": "0" * 64}).holds
    for factor in (10, 1000, -1):
        check_altered(made, best, altered(answer.certificate, factor, rng))


def check_certificate(made, best, answer):
    verdict = verify(made, json.loads(json.dumps(answer.certificate)))
    assert verdict.holds, verdict.reason
    assert float(verdict.bound) <= best * (1 + 1e-9) + 1e-12
    if not verdict.optimal:
        assert float(verdict.bound) >= answer.bound * (1 - 1e-6) - 1e-12
    return verdict


def altered(certificate, factor, rng):
    """The certificate with one of its whole numbers changed."""
    document = json.loads(json.dumps(certificate))
    places = list(numbers(document))
    if places:
        holder, key = rng.choice(places)
        holder[key] = holder[key] * factor + 1
    return document


def numbers(node):
    """Where whole numbers stand in a document."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        if type(value) is int:
            yield node, key
        else:
            yield from numbers(value)


def check_altered(made, best, document):
    try:
        verdict = verify(made, copy.deepcopy(document))
    except ValueError:
        return  # malformed
    if verdict.holds:
        assert float(verdict.bound) <= best * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("problem", sorted(TRUTH))
@settings(max_examples=40)
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_bounds_optimum_methods_certificates(problem, data, seed):
    check_everything(problem, data.draw(TRUTH[problem].documents), seed)


@pytest.mark.slow
@pytest.mark.parametrize("problem", sorted(TRUTH))
@settings(max_examples=2500)
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_bounds_optimum_methods_certificates_thousands(problem, data, seed):
    check_everything(problem, data.draw(TRUTH[problem].documents), seed)
