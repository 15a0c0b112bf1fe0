"""Local search: never worse than its start, always valid, the same for the same seed."""

import math

import in_process
import numpy as np
import pytest
from assignment.brute_force import least_cost
from assignment.helpers import read
from assignment.strategies import documents
from hypothesis import given, settings

import yardline as yl
from yardline.models.assignment import limits
from yardline.models.assignment.judge import evaluate
from yardline.models.assignment.load import caps_of
from yardline.solvers.heuristics.assignment.greedy_offline import greedy_offline
from yardline.solvers.heuristics.assignment.people import parcels
from yardline.solvers.heuristics.assignment.search import Search, dice_of


@settings(max_examples=80)
@given(documents())
def test_valid_wherever_a_plan_exists(document):
    instance, best = read(document), least_cost(document)
    answer = in_process.method(instance, "local-search", rounds=50)
    assert (answer.infeasible is not None) == (best == math.inf)
    if best < math.inf:
        judgement = evaluate(instance, in_process.plan_of(answer))
        assert judgement.valid
        assert judgement.cost >= best - 1e-9
        loads = np.bincount(in_process.plan_of(answer).leaf, minlength=instance.n)[instance.leaves]
        assert (loads <= caps_of(instance, "max")).all()


@pytest.mark.parametrize("parameters", [{}, {"levels": 2, "degree": 5}, {"alpha": 6}, {"dimensions": 3}])
def test_the_books_are_right_after_every_round(parameters):
    """Costs, lists and loads agree with the judge while rounds are kept and taken back."""
    instance = yl.generate("assignment-3", seed=3, subscribers=400, brokers=12, beta_max=2, **parameters)
    rng = np.random.default_rng(1)
    search = Search.of(instance, greedy_offline(instance, rng, load="max"), caps_of(instance, "max"))
    dice = dice_of(rng)
    first, hot = search.cost, 0.01 * search.unit
    for _ in range(60):
        search.rounds(5, dice, hot=hot)
        judgement = evaluate(instance, search.plan())
        assert judgement.valid, judgement.violations[:3]
        if "alpha" not in parameters:  # beyond four boxes growth is counted box by box
            assert judgement.cost == pytest.approx(search.cost)
        assert np.bincount(search.where, minlength=len(instance.leaves)).tolist() == search.seats.loads.tolist()
    assert search.cost < first


def test_same_seed_same_plan():
    instance = yl.generate("assignment-2", seed=3, subscribers=300, brokers=8)
    one, two = (in_process.method(instance, "local-search", rounds=40, seed=7).solution for _ in range(2))
    assert one.leaf.tolist() == two.leaf.tolist()
    assert evaluate(instance, one).cost < evaluate(instance, greedy_offline(instance, np.random.default_rng(0))).cost


@pytest.mark.parametrize("most", [0, 25])
def test_moves_are_counted(most):
    """No more subscribers than allowed end up elsewhere, whatever rounds do on the way."""
    instance = yl.generate("assignment-2", seed=3, subscribers=2000, brokers=8)
    rng = np.random.default_rng(1)
    start = greedy_offline(instance, rng, load="max")
    search = Search.of(instance, start, caps_of(instance, "max"))
    assert len(search.people.of) < instance.m / 2  # identical subscribers move together
    search.rounds(300, dice_of(rng), hot=0.1 * search.unit, moves=most)
    assert search.moved == (search.plan().leaf != start.leaf).sum() <= most
    assert evaluate(instance, search.plan()).valid


def test_bundles_of_equals_stand_for_everybody():
    instance = yl.generate("assignment-2", seed=3, subscribers=500, brokers=8)
    leaf = np.zeros(instance.m, dtype=np.int64)
    people, kinds, where, parcel = parcels(instance, leaf, 7)
    assert people.many.sum() == instance.m
    assert people.many.max() <= 7
    assert (where == 0).all()
    assert (people.low[parcel] == instance.low).all()
    assert (people.high[parcel] == instance.high).all()
    assert (people.of[parcel] == limits.candidates(instance).of).all()
    assert (kinds.low[kinds.of] == people.low).all()
    assert (kinds.high[kinds.of] == people.high).all()
    assert len(kinds.low) == len(np.unique(np.concatenate([instance.low, instance.high], axis=1), axis=0))
