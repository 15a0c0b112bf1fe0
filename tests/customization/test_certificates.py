"""Certificates of customization: altered ones never prove more than the optimum; reductions and branchings are checked."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import in_process
import numpy as np
import pytest
from customization.brute_force import least_cost
from customization.strategies import instances
from customization.support import chain, read
from hypothesis import given, settings
from hypothesis import strategies as st

import yardline as yl
from yardline.solvers.certificates.verdict import verify


def proof(instance: Any, by: str) -> dict[str, Any]:
    answer = in_process.method(instance, "exact", certify=True, by=by)
    document: dict[str, Any] = json.loads(json.dumps(answer.certificate))
    return document


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a document holds whole numbers."""
    if isinstance(value, dict):
        return [place for key, inner in value.items() for place in places(inner, (*path, key))]
    if isinstance(value, list):
        return [place for key, inner in enumerate(value) for place in places(inner, (*path, key))]
    return [path] if type(value) is int else []


def altered(document: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    result = copy.deepcopy(document)
    *path, last = rng.choice(places(result))
    inner: Any = result
    for key in path:
        inner = inner[key]
    inner[last] = rng.choice([inner[last] * 10 + 1, inner[last] + 1, max(0, inner[last] - 1), 0, 2**59])
    return result


@settings(max_examples=60)
@given(instances(), st.randoms(use_true_random=False))
def test_altered_ones_never_prove_more(document: dict[str, Any], rng: random.Random) -> None:
    best, instance = least_cost(document), read(document)
    if best == float("inf"):
        return
    for by in ("cuts", "sets"):
        honest = proof(instance, by)
        honest.pop("plan", None)
        for _ in range(5):
            try:
                verdict = verify(instance, altered(honest, rng))
            except ValueError:
                continue
            assert not verdict.holds or float(verdict.bound or 0) <= best * (1 + 1e-9) + 1e-9


@pytest.fixture(scope="module")
def bundles() -> tuple[Any, dict[str, Any]]:
    """The lines of the Fano plane: relaxation 74, optimum 82, so the proof has to branch."""
    instance = yl.load("customization-bundles")
    return instance, proof(instance, "cuts")


def test_a_proof_that_branches(bundles: tuple[Any, dict[str, Any]]) -> None:
    instance, document = bundles
    assert {"branch", "fix", "duals"} <= {next(iter(node)) for node in document["nodes"]}
    verdict = verify(instance, document)
    assert verdict.optimal
    assert verdict.bound == 82


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: d.update(bound="83"), "it claims 83 but proves 82"),
        (lambda d: d.update(step="3"), "not all costs are whole multiples of 3"),
        (lambda d: d.update(cutoff=None), "drops arcs, but there is no cutoff"),
        (lambda d: d.update(bits=200), "too fine"),
        (lambda d: d["plan"]["converts"].__setitem__(0, []), "its plan breaks a rule"),
    ],
)
def test_what_is_refused(bundles: tuple[Any, dict[str, Any]], change: Any, reason: str) -> None:
    instance, document = bundles
    wrong = copy.deepcopy(document)
    change(wrong)
    verdict = verify(instance, wrong)
    assert not verdict.holds
    assert reason in verdict.reason


@pytest.mark.parametrize("name", ["from", "to"])
def test_distances_that_are_too_large_are_refused(bundles: tuple[Any, dict[str, Any]], name: str) -> None:
    instance, document = bundles
    wrong = copy.deepcopy(document)
    fix = next(node for node in wrong["nodes"] if "fix" in node)
    fix[name] = [value + 2**50 for value in fix[name]]
    assert not verify(instance, wrong).holds


def test_a_branch_on_what_every_plan_reaches_is_refused(bundles: tuple[Any, dict[str, Any]]) -> None:
    instance, document = bundles
    wrong = copy.deepcopy(document)
    branch = next(node for node in wrong["nodes"] if "branch" in node)
    branch["branch"] = 0  # (root, source)
    assert not verify(instance, wrong).holds


def test_sets_prove_nothing_by_themselves() -> None:
    """The checker recomputes: a certificate that claims too much is refused, one for another instance as well."""
    instance = read(chain())
    document = {"yardline": 1, "kind": "sets", "problem": "customization", "instance": instance.hash, "bound": "13"}
    assert verify(instance, document).bound == 13
    assert not verify(instance, document | {"bound": "14"}).holds
    other = read(chain() | {"alpha": 2})
    assert not verify(other, document).holds


def test_numbers_of_every_size() -> None:
    for scale in (1e-200, 1e-9, 1 / 3, 1e15, 1e200):
        document = chain() | {"alpha": scale, "beta": scale}
        instance = read(document)
        for by in ("cuts", "sets"):
            verdict = verify(instance, proof(instance, by))
            assert verdict.optimal, (scale, by, verdict.reason)
            assert float(verdict.bound or 0) == pytest.approx(13 * scale, rel=1e-9)


@pytest.mark.parametrize("formats", [12, 24])
def test_both_ways_agree_on_larger_instances(formats: int) -> None:
    instance = yl.generate("customization-random", seed=3, brokers=12, formats=formats, density=0.3)
    by_cuts = in_process.method(instance, "exact", certify=True, by="cuts")
    assert verify(instance, by_cuts.certificate or {}).optimal
    if formats == 12:
        assert in_process.method(instance, "exact", by="sets").bound == by_cuts.bound


def test_steiner_trees_of_random_graphs_both_ways() -> None:
    rng = np.random.default_rng(5)
    for _ in range(10):
        n = 12
        pairs = [(u, v) for u in range(n) for v in range(n) if u != v and rng.random() < 0.3]
        pairs = sorted({*pairs, *((v, v + 1) for v in range(n - 1))})
        document = {
            "parent": [None],
            "requests": [sorted(rng.choice(n, 5, replace=False).tolist())],
            "formats": [{"name": str(f), "transmission": 0} for f in range(n)],
            "conversions": [{"from": u, "to": v, "cost": int(rng.integers(1, 10))} for u, v in pairs],
            "source": 0,
            "alpha": 0,
        }
        instance = read(document)
        sets, cuts = (in_process.method(instance, "exact", certify=True, by=by) for by in ("sets", "cuts"))
        assert sets.bound == pytest.approx(cuts.bound)
        assert verify(instance, json.loads(json.dumps(cuts.certificate))).optimal
