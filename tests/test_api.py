"""The front door in Python: results, gap rules, contradictions, auto."""

from __future__ import annotations

import dataclasses

import pytest
from channelization.strategies import instance

import yardline as yl
from yardline.models.method import Answer
from yardline.models.numbers import relative_gap
from yardline.results import gap_of, reconciled, status_of

# Two users, one group: both receive 3, sent 3: 9. Two groups: 1 + 2 received, 3 sent: 6.
DOCUMENT = {"rates": [1, 2], "wants": [[0], [1]], "groups": 1, "mode": "constrained", "hybrid": False}
PLAN = {"groups": [[0, 1]], "subscriptions": [[0], [0]]}


@pytest.fixture
def made():
    return instance(DOCUMENT)


def test_solve(made):
    solved = yl.solve(made, method="exact", seed=3, time_limit=20)
    assert (solved.problem, solved.instance, solved.method, solved.seed) == ("channelization", made.hash, "exact", 3)
    assert (solved.status, solved.cost, solved.bound, solved.gap) == ("optimal", 9, 9, 0)
    assert solved.solution.document()["groups"] == [[0, 1]]
    assert solved.terms["receive"] == 6
    assert 0 <= solved.seconds < 20
    assert {"yardline", "python", "highs", "numpy"} <= set(solved.versions)
    assert "nodes" in solved.options


def test_results_are_frozen(made):
    for result in (yl.solve(made, "random"), yl.bound(made, "lp"), yl.evaluate(made, PLAN)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            result.bound = 0


def test_a_heuristic_proves_nothing_unless_asked(made):
    assert yl.solve(made, "random").bound is None
    assert yl.solve(made, "random").gap is None
    with_bound = yl.solve(made, "random", bound=True)
    assert (with_bound.status, with_bound.bound, with_bound.gap) == ("optimal", 9, 0)


def test_certify(made):
    solved = yl.solve(made, "exact", certify=True)
    verified = yl.verify(made, solved.certificate)
    assert (verified.holds, verified.optimal, verified.bound) == (True, True, 9)
    heuristic = yl.solve(made, "random", certify=True)
    assert yl.verify(made, heuristic.certificate).holds


@pytest.mark.parametrize("method", ["exact", "random"])
def test_threads(made, method):
    for threads in (2, 1, 2):
        assert yl.solve(made, method, threads=threads, certify=True).cost == 9


def test_bound(made):
    bounded = yl.bound(made, method="lp")
    assert (bounded.status, bounded.method, bounded.certified) == ("bounded", "lp", True)
    assert 6 <= bounded.bound <= 9
    assert bounded.valid_because


def test_evaluate(made):
    judged = yl.evaluate(made, PLAN)
    assert (judged.valid, judged.cost, judged.bound, judged.gap) == (True, 9, None, None)
    assert yl.evaluate(made, PLAN, bound=True).gap == 0
    broken = yl.evaluate(made, {"groups": [[0]], "subscriptions": [[0], []]}, bound=True)
    assert not broken.valid
    assert broken.gap is None


def test_auto(made):
    assert yl.solve(made).method == "exact"
    large = yl.generate("channelization-random", flows=400, users=200, groups=10)
    solved = yl.solve(large, time_limit=5)
    assert (solved.method, solved.status) == ("portfolio", "feasible")
    assert yl.solve(large, "random").cost >= solved.cost


@pytest.mark.parametrize(("claimed", "fine"), [(9.0, True), (9 + 5e-6, True), (9.1, False)])
def test_a_bound_above_the_cost_fails_loudly(made, clean_registry, claimed, fine):
    plan = dict(PLAN)

    @yl.method("channelization", "liar")
    def liar(instance, rng):
        from yardline.models.channelization.data import ChannelizationPlan

        return Answer(solution=ChannelizationPlan.from_document(plan, instance), bound=claimed, valid_because="no")

    if fine:  # within 1e-6 relative it is reported as the cost
        solved = yl.solve(made, "liar")
        assert (solved.status, solved.bound, solved.gap) == ("optimal", 9, 0)
    else:
        with pytest.raises(yl.Contradiction, match=r"bound 9\.1 exceeds the cost 9\.0"):
            yl.solve(made, "liar")


def test_infeasible_with_a_valid_plan_is_a_contradiction(made, clean_registry):
    plan = dict(PLAN)

    @yl.method("channelization", "liar")
    def liar(instance, rng):
        from yardline.models.channelization.data import ChannelizationPlan

        return Answer(solution=ChannelizationPlan.from_document(plan, instance), infeasible="no")

    with pytest.raises(yl.Contradiction, match="infeasible and has a valid plan"):
        yl.solve(made, "liar")


def test_gap_rules():
    assert relative_gap(4, 3) == 0.25
    assert relative_gap(0, 0) == 0
    assert gap_of(4, None) is None
    assert gap_of(None, 3) is None
    assert reconciled(4, None, "") is None
    assert reconciled(4, float("-inf"), "") is None
    assert reconciled(None, 3, "") == 3
    assert status_of(4, None) == "feasible"
    assert status_of(1e6, 1e6 - 0.5) == "optimal"  # within 1e-6 relative
    assert status_of(1e6, 1e6 - 2) == "feasible"
    assert status_of(0, 0) == "optimal"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"method": "exat"}, "did you mean 'exact'"),
        ({"time_limit": -1}, "time limit is -1"),
        ({"time_limit": float("nan")}, "time limit is nan"),
        ({"time_limit": "5"}, "time limit is '5'"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"threads": 0}, "threads is 0"),
        ({"solver": "gurobi"}, "there is no solver 'gurobi'"),
        ({"method": "exact", "options": {"node": 3}}, "did you mean 'nodes'"),
    ],
)
def test_bad_calls(made, more, message):
    with pytest.raises(ValueError, match=message):
        yl.solve(made, **more)


def test_generate_is_reproducible():
    first, again, other = (yl.generate("channelization-random", seed=s, flows=20) for s in (1, 1, 2))
    assert first.hash == again.hash != other.hash
    assert first.meta["seed"] == 1
    assert first.meta["parameters"]["flows"] == 20


def test_random_workload_is_what_it_says():
    made = yl.generate("channelization-random", flows=100, users=50, groups=7)
    assert (made.n, made.m, made.groups) == (100, 50, 7)
    assert set(made.wants.sum(axis=1).tolist()) == {3}  # every user picks 3 % of the flows


def test_save_a_result_without_a_plan(tmp_path):
    solved = yl.solve(instance({**DOCUMENT, "groups": 0}))
    with pytest.raises(ValueError, match="there is no plan to save: the status is infeasible"):
        yl.save(solved, tmp_path / "plan.json")


def test_no_time_at_all(made):
    solved = yl.solve(made, "exact", time_limit=0)
    assert solved.status in ("unknown", "feasible", "optimal")
    assert solved.seconds < 2


@pytest.mark.parametrize("name", ["Channelization", "ChannelizationPlan", "load", "Unsuitable", "register_bound"])
def test_names_at_the_top(name):
    assert getattr(yl, name) is not None


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        yl.sovle  # noqa: B018
