"""Certificates: bounds by hand, and what no certificate may ever do: prove more than the optimum."""

from __future__ import annotations

import copy
import json
import time
from fractions import Fraction

import in_process
import pytest
from channelization import brute_force
from channelization.strategies import documents, instance
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import binary_programs, cover, multipliers, optimum, program

from yardline.models.program import INF
from yardline.solvers.certificates.rational import ExactProgram, Refused, as_float, common_step, rounded_up
from yardline.solvers.certificates.tree import tree_bound
from yardline.solvers.certificates.verdict import verify

ONE = 2**40  # multipliers are integers over this
# Three users want {0}, {1}, {0,1}; one group: all get 3, sent once: 12. Two groups: 1 + 2 + 3 received, 3 sent: 9.
DOCUMENT = {"rates": [1, 2], "wants": [[0], [1], [0, 1]], "groups": 1, "mode": "constrained", "hybrid": False}
# An odd cycle, whose relaxation is below its optimum: the proof needs branchings.
CYCLE = {
    **{"rates": [4, 4, 4, 1], "wants": [[0, 1], [1, 2], [0, 2], [3]], "groups": 2, "mode": "constrained"},
    **{"hybrid": True, "weights": {"unicast": 0.75}, "unicast_budget": 9},
}


def test_duals_by_hand():
    exact = ExactProgram(cover())
    # A half for each row: 3 * 1/2, and every reduced cost is 1 - 1/2 - 1/2 = 0.
    assert exact.bound([(r, ONE // 2) for r in range(3)]) == Fraction(3, 2)
    # One for the first row alone: 1, reduced costs 0, 0, 1, at their lower bounds.
    assert exact.bound([(0, ONE)]) == 1
    # Too much: 2 for each row is 6, reduced costs 1 - 4 = -3 each at the upper bound 1: 6 - 9.
    assert exact.bound([(r, 2 * ONE) for r in range(3)]) == -3
    assert exact.bound([]) == 0
    # Narrowed: with x0 = 0 rows 0 and 2 need x1 and x2: multipliers 1, 0, 1 prove 2.
    assert exact.bound([(0, ONE), (2, ONE)], narrowed={0: (0, 0)}) == 2


def test_a_multiplier_of_a_side_without_a_limit_is_refused():
    with pytest.raises(Refused, match=r"row r\(0\) has no upper limit"):
        ExactProgram(cover()).bound([(0, -1)])


def test_a_ray_by_hand():
    # x0 + x1 >= 3 with x <= 1: the multiplier 1 proves 3 - 2 = 1 > 0, so there is no point.
    assert ExactProgram(program([1, 1], [([1, 1], 3, INF)])).bound([(0, ONE)], ray=True) == 1


def test_a_tree_by_hand():
    half = [[r, ONE // 2] for r in range(3)]
    nodes = [
        {"branch": 0, "at": 0, "below": 1, "above": 2},
        {"duals": [[0, ONE], [2, ONE]]},  # x0 = 0: 2
        {"duals": [[1, ONE], [0, 0]]},  # x0 = 1: 1 (itself) + 1 (row 1)
    ]
    assert tree_bound(ExactProgram(cover()), nodes, 40) == 2
    assert tree_bound(ExactProgram(cover()), [{"duals": half}], 40) == Fraction(3, 2)


@settings(max_examples=200)
@given(binary_programs(), st.data())
def test_any_multipliers_at_all_prove_no_more_than_the_optimum(drawn, data):
    duals = data.draw(multipliers(drawn))
    try:
        proved = ExactProgram(drawn).bound(duals)
    except Refused:
        return
    assert proved <= optimum(drawn)


@settings(max_examples=150)
@given(binary_programs(), st.data())
def test_any_ray_at_all_proves_infeasible_only_what_is(drawn, data):
    duals = data.draw(multipliers(drawn))
    try:
        proved = ExactProgram(drawn).bound(duals, ray=True)
    except Refused:
        return
    assert proved <= 0 or optimum(drawn) == float("inf")


@pytest.mark.parametrize("document", [DOCUMENT, CYCLE])
@pytest.mark.parametrize("kind", ["lp", "tree", "exact"])
def test_ours_verify(document, kind):
    made = instance(document)
    answer = in_process.method(made, "exact", certify=True) if kind == "exact" else in_process.bound(made, kind)
    verdict = verify(made, json.loads(json.dumps(answer.certificate)))
    best = brute_force.optimum(document)
    assert verdict.holds, verdict.reason
    assert verdict.bound <= best
    assert as_float(verdict.bound) >= answer.bound - 1e-12
    assert verdict.optimal is (kind == "exact")
    if kind != "lp":
        assert verdict.bound == Fraction(best)


def numbers_in(thing, path=()):
    """Where a document holds a number, or a number in words."""
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield from numbers_in(value, (*path, key))
    elif isinstance(thing, list):
        for position, value in enumerate(thing):
            yield from numbers_in(value, (*path, position))
    elif (isinstance(thing, int) and not isinstance(thing, bool)) or path in (("bound",), ("step",)):
        yield path


def altered(document, path, value):
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value(inner[path[-1]])
    return document


CHANGES = {
    "more": lambda v: v + 1 if isinstance(v, int) else str(Fraction(v) + 1 if v else 1),
    "less": lambda v: v - 1 if isinstance(v, int) else str(Fraction(v or 1) / 2),
    "twice": lambda v: v * 2 if isinstance(v, int) else str(Fraction(v or 1) * 2),
    "huge": lambda v: 10**30 if isinstance(v, int) else "1" + "0" * 30,
    "negative": lambda v: -v if isinstance(v, int) else "-" + (v or "1"),
    "zero": lambda v: 0 if isinstance(v, int) else "0",
}


@pytest.mark.parametrize("change", sorted(CHANGES))
@pytest.mark.parametrize("document", [DOCUMENT, CYCLE])
def test_every_altered_number_never_proves_more_than_the_optimum(document, change):
    made, best = instance(document), brute_force.optimum(document)
    certificate = in_process.method(made, "exact", certify=True).certificate
    places = list(numbers_in(dict(certificate)))
    assert len(places) > 10
    for path in places:
        wrong = altered(certificate, path, CHANGES[change])
        try:
            verdict = verify(made, wrong)
        except ValueError:
            continue
        assert not verdict.holds or verdict.bound <= best, path


@settings(max_examples=40)
@given(documents(feasible=True), documents(feasible=True))
def test_certificates_of_other_instances_are_refused(document, other):
    made, another = instance(document), instance(other)
    certificate = in_process.bound(made, "lp").certificate
    verdict = verify(another, certificate)
    assert verdict.holds is (made.hash == another.hash)
    if made.hash != another.hash:
        assert "another instance" in verdict.reason
        borrowed = verify(another, {**certificate, "instance": another.hash})  # relabelled
        assert not borrowed.holds or borrowed.bound <= brute_force.optimum(other)


def lp_certificate():
    return dict(in_process.bound(instance(DOCUMENT), "lp").certificate)


DUALS = {"duals": []}
MALFORMED = {
    "no nodes": {"nodes": []},
    "nodes an object": {"nodes": {}},
    "a node a number": {"nodes": [3]},
    "cycle": {"nodes": [{"branch": 0, "at": 0, "below": 0, "above": 1}, DUALS]},
    "child twice": {"nodes": [{"branch": 0, "at": 0, "below": 1, "above": 1}, DUALS]},
    "child of two": {
        "nodes": [
            {"branch": 0, "at": 0, "below": 1, "above": 2},
            {"branch": 1, "at": 0, "below": 2, "above": 3},
            DUALS,
            DUALS,
        ]
    },
    "child beyond": {"nodes": [{"branch": 0, "at": 0, "below": 1, "above": 9}, DUALS]},
    "column beyond": {"nodes": [{"branch": 10**6, "at": 0, "below": 1, "above": 2}, DUALS, DUALS]},
    "at a fraction": {"nodes": [{"branch": 0, "at": 0.5, "below": 1, "above": 2}, DUALS, DUALS]},
    "one side": {"nodes": [{"branch": 0, "at": 0, "below": 1}, DUALS]},
    "leaf without": {"nodes": [{}]},
    "leaf with both": {"nodes": [{"duals": [], "ray": []}]},
    "row beyond": {"nodes": [{"duals": [[10**6, 1]]}]},
    "row huge": {"nodes": [{"duals": [[10**400, 1]]}]},
    "row negative": {"nodes": [{"duals": [[-1, 1]]}]},
    "dual a fraction": {"nodes": [{"duals": [[0, 0.5]]}]},
    "dual a boolean": {"nodes": [{"duals": [[0, True]]}]},
    "dual alone": {"nodes": [{"duals": [[0]]}]},
    "duals a number": {"nodes": [{"duals": 3}]},
    "huge bits": {"bits": 10**9},
    "bits beyond float": {"bits": 10**400},
    "negative bits": {"bits": -1},
    "bound 1/0": {"bound": "1/0"},
    "bound 1e999999": {"bound": "1e999999"},
    "bound a number": {"bound": 12},
    "bound of digits": {"bound": "9" * 100_000},
    "bound of words": {"bound": "twelve"},
    "step 1/0": {"step": "1/0"},
    "step a number": {"step": 1},
    "plan a list": {"plan": []},
    "plan of nothing": {"plan": {}},
    "unknown field": {"proof": 1},
    "unknown kind": {"kind": "faith"},
    "kind a number": {"kind": 1},
    "version": {"yardline": 2},
    "version true": {"yardline": True},
    "program a number": {"program": 3},
}


@pytest.mark.parametrize("name", sorted(MALFORMED))
def test_malformed_is_a_value_error_quickly(name):
    begun = time.monotonic()
    with pytest.raises(ValueError, match=r".") as caught:
        verify(instance(DOCUMENT), {**lp_certificate(), **MALFORMED[name]})
    assert not isinstance(caught.value, Refused)
    assert len(str(caught.value)) < 300
    assert time.monotonic() - begun < 2


@pytest.mark.parametrize("field", ["yardline", "kind", "problem", "instance", "program", "bits", "bound", "nodes"])
def test_missing_fields(field):
    certificate = lp_certificate()
    del certificate[field]
    with pytest.raises(ValueError, match=f"{field} is missing"):
        verify(instance(DOCUMENT), certificate)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"program": "0" * 64}, "another formulation"),
        ({"bound": "13"}, "it claims 13 but proves 12"),
        ({"step": "0"}, "not all costs are whole multiples of 0"),
        ({"step": "-1"}, "not all costs are whole multiples of -1"),
        ({"step": "5"}, "not all costs are whole multiples of 5"),
        ({"nodes": [{"ray": []}]}, "its ray proves nothing"),
        ({"nodes": [{"duals": [[0, 10**4000]]}]}, "it claims 12 but proves"),
        ({"plan": {"groups": [], "subscriptions": [[], [], []]}}, "its plan breaks a rule"),
    ],
)
def test_refused_with_a_reason(change, reason):
    verdict = verify(instance(DOCUMENT), {**lp_certificate(), **change})
    assert not verdict.holds
    assert not verdict.optimal
    assert reason in verdict.reason


def test_a_plan_dearer_than_the_bound_is_no_proof():
    # Two groups allowed: the optimum is 9. One group costs 12, and is no proof of anything.
    made = instance({**DOCUMENT, "groups": 2})
    certificate = dict(in_process.method(made, "exact", certify=True).certificate)
    assert verify(made, certificate).optimal
    certificate["plan"] = {"groups": [[0, 1]], "subscriptions": [[0], [0], [0]]}
    verdict = verify(made, certificate)
    assert not verdict.holds
    assert not verdict.optimal
    assert "costs 12" in verdict.reason


def test_step():
    # Costs 1, 1, 1: multiples of 1, so 3/2 may be called 2; with an offset of 1/4 it is 7/4 -> 9/4.
    assert common_step(cover()) == 1
    assert rounded_up(Fraction(3, 2), Fraction(0), Fraction(1)) == 2
    assert rounded_up(Fraction(7, 4), Fraction(1, 4), Fraction(1)) == Fraction(9, 4)
    assert rounded_up(Fraction(2), Fraction(0), Fraction(1)) == 2
    assert common_step(program([6, 4, 0], [])) == 2
    assert common_step(program([0.5, 0.75], [])) == Fraction(1, 4)
    assert common_step(program([6, 4], [], integer=False)) is None
    assert common_step(program([0, 0], [])) is None


def test_step_that_divides_lets_the_bound_be_rounded_up():
    made = instance(DOCUMENT)
    certificate = lp_certificate()
    certificate["nodes"] = [{"duals": [[row, y * 9 // 10] for row, y in certificate["nodes"][0]["duals"]]}]
    weak = verify(made, {**certificate, "bound": "0"})
    assert weak.holds
    assert weak.bound.denominator > 1
    strong = verify(made, {**certificate, "bound": "0", "step": "1"})
    assert strong.bound == -(-weak.bound.numerator // weak.bound.denominator)


@pytest.mark.parametrize(
    "exact", [Fraction(1, 3), Fraction(10**400), Fraction(-1, 3), Fraction(-(10**400)), Fraction(3)]
)
def test_as_float_never_exceeds(exact):
    value = as_float(exact)
    assert value == float("-inf") or Fraction(value) <= exact
