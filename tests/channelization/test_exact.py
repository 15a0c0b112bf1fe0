"""The integer program against enumeration: solver, relaxation, encode and decode."""

from __future__ import annotations

import math

import in_process
import numpy as np
import pytest
from channelization import brute_force
from channelization.strategies import documents, instance, near_a_budget, plan, plans
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from yardline.models.channelization import judge
from yardline.models.channelization.assembly import assemble, decode, encode
from yardline.solvers import highs
from yardline.solvers.certificates.rational import ExactProgram
from yardline.solvers.outcome import Stop


def check_exact(document):
    best = brute_force.optimum(document)
    made = instance(document)
    answer = in_process.method(made, "exact")
    if best == math.inf:
        assert answer.infeasible
        assert answer.solution is None
        return
    judged = judge.evaluate(made, in_process.plan_of(answer))
    assert judged.valid, judged.violations
    assert judged.cost == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert answer.bound == pytest.approx(best, rel=1e-6, abs=1e-9)


@settings(max_examples=120)
@given(documents())
def test_exact_equals_enumeration(document):
    check_exact(document)


@settings(max_examples=150)
@given(near_a_budget())
def test_exact_equals_enumeration_near_a_budget(document):
    check_exact(document)


@pytest.mark.slow
@settings(max_examples=3000)
@given(documents())
def test_exact_equals_enumeration_thousands(document):
    check_exact(document)


@settings(max_examples=60)
@given(documents(feasible=True))
def test_relaxation_is_below_the_optimum(document):
    outcome = highs.solve(assemble(instance(document)), relax=True)
    assert outcome.stop is Stop.OPTIMAL
    assert outcome.value <= brute_force.optimum(document) + 1e-6


@settings(max_examples=150)
@given(documents(), st.data())
def test_encoded_plan_is_a_point_that_costs_no_more(document, data):
    made = instance(document)
    drawn = data.draw(plans(document))
    assume(brute_force.valid(document, drawn))
    useful = [g for g in drawn["groups"] if set(g) & set(made.wanted.tolist())]
    assume(len(useful) <= made.most_groups)
    program = assemble(made)
    point = encode(made, program, plan(drawn, made))
    exact = ExactProgram(program)
    assert exact.feasible(point)
    assert float(exact.value(point)) <= brute_force.cost(document, drawn) + 1e-9


@settings(max_examples=80)
@given(documents(feasible=True))
def test_decode_and_encode_meet(document):
    """The optimal point decodes to a plan of the same cost, and that plan encodes to a feasible point of that cost."""
    made = instance(document)
    program = assemble(made)
    outcome = highs.solve(program)
    found = decode(made, program.chosen(outcome.point))
    cost = judge.evaluate(made, found).cost
    assert cost == pytest.approx(outcome.value, rel=1e-9, abs=1e-9)
    back = encode(made, program, found)
    assert ExactProgram(program).feasible(back)
    assert program.value(back) == pytest.approx(cost, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("mode", ["constrained", "unconstrained"])
def test_constrained_relaxation_is_worth_something(mode):
    # Ten users, each wants one of ten flows of rate 1, one group: all receive all, 10 * 10 + 10 = 110.
    document = {"rates": [1] * 10, "wants": [[i] for i in range(10)], "groups": 1, "mode": mode, "hybrid": False}
    found = highs.solve(assemble(instance(document)), relax=True).value
    perfect = 20.0  # each receives its own, each is sent once
    if mode == "constrained":  # the representatives form is there for that
        assert found > 1.5 * perfect
    assert found <= 110 + 1e-6


def test_budget_that_is_missed_by_less_than_the_solvers_tolerance():
    # Unicast of both costs 0.1 * 2 * 2 = 0.4 but takes 2 units of a budget of 2 - 1e-7: one of them must be multicast,
    # 1 received + 1 sent + 0.2 = 2.2.
    document = {
        **{"rates": [1, 1], "wants": [[0], [1]], "groups": 1, "mode": "constrained", "hybrid": True},
        **{"weights": {"unicast": 0.1}, "unicast_budget": 2 - 1e-7},
    }
    assert brute_force.optimum(document) == pytest.approx(2.2)
    check_exact(document)


@pytest.mark.parametrize("power", [-60, -40, 40, 60])
def test_rates_of_any_magnitude(power):
    rates = [float(np.ldexp(r, power)) for r in (1, 2, 3)]
    wants = [[0], [1], [0, 1], [1, 2]]
    check_exact({"rates": rates, "wants": wants, "groups": 2, "mode": "constrained", "hybrid": True})
