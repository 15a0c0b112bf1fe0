"""The integer program against the brute force, both of them against the judge."""

import math

import pytest
from assignment.brute_force import least_cost
from assignment.helpers import PROBLEM, optimum, read, two_brokers
from assignment.strategies import documents
from hypothesis import HealthCheck, given, settings

from yardline.models.assignment.feasibility import why_infeasible
from yardline.models.assignment.judge import evaluate
from yardline.solvers import highs
from yardline.solvers.branching import prove

COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


def compare(document: dict) -> None:
    """Program, relaxation, judge, encoding, feasibility and tree of proof against the brute force."""
    best, instance = least_cost(document), read(document)
    program = PROBLEM.assemble(instance)
    outcome = highs.solve(program)
    assert (why_infeasible(instance) is None) == (best < math.inf)
    assert outcome.value == pytest.approx(best, rel=1e-9, abs=1e-9)
    if best == math.inf:
        return
    assert highs.solve(program, relax=True).value <= best + 1e-7 * max(1, best)
    plan = PROBLEM.decode(instance, program.chosen(outcome.point))
    judgement = evaluate(instance, plan)
    assert judgement.valid
    assert judgement.cost == pytest.approx(best, rel=1e-9, abs=1e-9)
    point = PROBLEM.encode(instance, program, plan)
    assert program.violation(point) == 0
    assert program.value(point) <= judgement.cost + 1e-9
    again = evaluate(instance, PROBLEM.decode(instance, program.chosen(point)))
    assert again.valid
    assert again.cost == pytest.approx(best, rel=1e-9, abs=1e-9)
    tree = prove(program, cutoff=best, seconds_left=lambda: 20.0)
    assert tree.finished
    assert len(tree.nodes) < 300


@settings(max_examples=120, **COMMON)
@given(documents(containment="rectangle"))
def test_rectangle_equals_brute_force(document):
    compare(document)


@settings(max_examples=60, **COMMON)
@given(documents(containment="union", dimensions=(1,)))
def test_union_on_a_line_equals_brute_force(document):
    compare(document)


@settings(max_examples=40, **COMMON)
@given(documents(containment="union", dimensions=(2,)))
def test_union_in_the_plane_equals_brute_force(document):
    compare(document)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents())
def test_many_equal_brute_force(document):
    compare(document)


def test_two_interests_share_a_broker_or_not():
    # One box each: alone [0, 1] and [3, 5] measure 1 + 2 = 3; together [0, 5] measures 5.
    assert optimum(two_brokers()) == pytest.approx(3)
    # One broker and one box: [0, 5]; with two boxes 1 + 2 = 3 again.
    one = {"brokers__at": [[1, 0]], "brokers__parent": [-1]}
    assert optimum(two_brokers(**one)) == pytest.approx(5)
    assert optimum(two_brokers(**one, brokers__filter_complexity=2)) == pytest.approx(3)


def test_inner_brokers_pay_too():
    # A chain of two brokers, two boxes below, one above: 1 + 2 below, [0, 5] above: 8. Two boxes above: 3 + 3.
    chain = {"brokers__at": [[1, 0], [1, 0]], "brokers__parent": [-1, 0]}
    assert optimum(two_brokers(**chain, brokers__filter_complexity=[1, 2])) == pytest.approx(8)
    assert optimum(two_brokers(**chain, brokers__filter_complexity=2)) == pytest.approx(6)
    # One box below: [0, 5] there, and above it as well.
    assert optimum(two_brokers(**chain, brokers__filter_complexity=[2, 1])) == pytest.approx(10)


def test_union_may_beat_rectangle():
    # Strip [0,8]x[0,1], and two pillars at its ends, [0,1]x[0,3] and [7,8]x[-2,1]; one broker, two boxes.
    # union: [0,1]x[0,3] with the rest of the strip and the other pillar in [1,8]x[-2,1]: 3 + 21 = 24,
    #   the same mirrored: [0,7]x[0,3] + [7,8]x[-2,1] = 21 + 3 = 24.
    # rectangle: the strip must lie in one box: with the left pillar [0,8]x[0,3] = 24, and the right one adds
    #   [7,8]x[-2,0] = 2: 26; with the right pillar likewise 26.
    document = two_brokers(
        brokers__at=[[1, 0]],
        brokers__parent=[-1],
        brokers__filter_complexity=2,
        subscribers={"at": [[2, 0]] * 3, "low": [[0, 0], [0, 0], [7, -2]], "high": [[8, 1], [1, 3], [8, 1]]},
    )
    assert optimum(document) == pytest.approx(26)
    assert optimum({**document, "containment": "union"}) == pytest.approx(24)


def test_zero_width_interests_cost_nothing_but_must_be_covered():
    # Points at 1 and 4 on one broker with one box: [1, 4]; with two boxes two points of measure 0.
    document = two_brokers(
        brokers__at=[[1, 0]],
        brokers__parent=[-1],
        subscribers={"at": [[2, 0]] * 2, "low": [[1], [4]], "high": [[1], [4]]},
    )
    for containment in ("rectangle", "union"):
        assert optimum({**document, "containment": containment}) == pytest.approx(3)
        document["brokers"]["filter_complexity"] = 2
        assert optimum({**document, "containment": containment}) == 0
        document["brokers"]["filter_complexity"] = 1


def test_density_counts_mass():
    # [0, 5] over a grid of mass 6 on [0, 2] and 0 on [2, 4]: one broker, one box over [0, 5] has all 6;
    # two brokers: [0, 1] has half of the 6, [3, 5] none.
    density = {"edges": [[0, 2, 4]], "mass": [6, 0]}
    document = two_brokers(density=density)
    assert optimum(document) == pytest.approx(3)
    assert optimum(two_brokers(density=density, brokers__at=[[1, 0]], brokers__parent=[-1])) == pytest.approx(6)
