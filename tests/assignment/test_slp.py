"""SLP in its pieces, and as a whole."""

import itertools
import math
from dataclasses import replace

import in_process
import numpy as np
import pytest
from assignment.brute_force import least_cost
from assignment.helpers import read
from assignment.strategies import documents
from hypothesis import given, settings
from hypothesis import strategies as st

import yardline as yl
from yardline.decomposition.assignment.boxes import filter_gen, lengthwise, shrunk
from yardline.decomposition.assignment.coreset import _balanced
from yardline.decomposition.assignment.formulation import build
from yardline.decomposition.assignment.lprelax import Sample, choices, fits, program_of, relaxed, rounded
from yardline.decomposition.assignment.methods import slp
from yardline.decomposition.assignment.placing import left_out
from yardline.decomposition.assignment.settings import Settings, part_of
from yardline.models.assignment.judge import evaluate
from yardline.models.method import Run
from yardline.solvers.compiled import compiled
from yardline.solvers.heuristics.assignment.greedy_offline import greedy_offline

DEFAULTS = Settings.of(slp.__kwdefaults__)


@pytest.fixture
def sample():
    """Thirty subscribers of the workload, six leaves below three brokers."""
    instance = yl.generate("assignment-3", seed=4, subscribers=30, brokers=6)
    rng = np.random.default_rng(0)
    may = rng.random((30, 6)) < 0.5
    may[:, 0] |= ~may.any(axis=1)
    low, high = filter_gen(rng, instance.at, instance.low, instance.high, supers=12, overlap=0.5)
    made = Sample(
        low=instance.low,
        high=instance.high,
        weight=np.where(np.arange(30) < 20, 1.5, 0.0),
        may=may,
        below=np.array([0, 0, 1, 1, 2, 2]),
        alpha=np.array([1, 2, 3]),
        cap=np.full(6, 12.0),
    )
    return made, choices(rng, instance, made, low, high)


def test_arrays_and_pyomo_state_the_same(sample):
    ours, theirs = program_of(*sample), compiled(build(*sample)).program
    assert ours.shape == theirs.shape
    column = {name: j for j, name in enumerate(theirs.columns)}
    row = {name: r for r, name in enumerate(theirs.rows)}
    across, down = [column[name] for name in ours.columns], [row[name] for name in ours.rows]
    assert np.allclose(ours.cost, theirs.cost[across])
    assert np.allclose(ours.matrix.toarray(), theirs.matrix.toarray()[down][:, across])
    assert np.allclose(ours.row_low, theirs.row_low[down])
    assert np.allclose(ours.row_high, theirs.row_high[down])


def test_rounding_covers_the_sample(sample):
    made, choice = sample
    y = relaxed(program_of(made, choice), made, choice, DEFAULTS, Run(time_limit=20), 0.0)
    assert y is not None
    for seed in range(5):
        taken = rounded(np.random.default_rng(seed), made, choice, y, 20)
        assert (choice.holds[taken].sum(axis=0) > 0).all()
    # with y = 0 nothing is ever drawn: everybody is covered by the box with the largest y all the same
    assert (choice.holds[rounded(np.random.default_rng(0), made, choice, 0 * y, 1)].sum(axis=0) > 0).all()


boxes = st.lists(st.tuples(*[st.integers(0, 20), st.integers(0, 6)] * 2), min_size=1, max_size=12)


@settings(max_examples=100)
@given(boxes)
def test_every_enclosing_box_has_a_candidate_of_little_more(rows):
    """Lemma 2: around any set of interests of positive sides there is a candidate at most 4^d times as large."""
    low = np.array([[r[0], r[2]] for r in rows], dtype=float)
    high = low + np.array([[max(1, r[1]), max(1, r[3])] for r in rows])
    rng = np.random.default_rng(0)
    a, c = filter_gen(rng, np.zeros((len(low), 1)), low, high, supers=len(low), overlap=0.5)
    for size in range(1, min(4, len(low)) + 1):
        for group in itertools.islice(itertools.combinations(range(len(low)), size), 40):
            lo, hi = low[list(group)].min(axis=0), high[list(group)].max(axis=0)
            around = ((a <= lo) & (c >= hi)).all(axis=1)
            assert around.any()
            assert np.prod(c[around] - a[around], axis=1).min() <= 16 * np.prod(hi - lo) + 1e-9


def test_intervals_and_shrinking_by_hand():
    # Lengths 1 and 2 in [0, 6]: l = 2 holds those of length 1, l = 4 and 8 all; scanned from the left and shrunk.
    J = lengthwise(np.array([0.0, 4.0, 4.0]), np.array([1.0, 5.0, 6.0]), 0.5)
    assert [0.0, 1.0] in J.tolist()
    assert [4.0, 6.0] in J.tolist()
    assert [0.0, 6.0] in J.tolist()
    low, high = shrunk(np.array([[0.0], [2.0]]), np.array([[9.0], [3.0]]), np.array([[1.0]]), np.array([[2.0]]))
    assert (low.tolist(), high.tolist()) == ([[1.0]], [[2.0]])


@settings(max_examples=40)
@given(documents())
def test_valid_wherever_a_plan_exists(document):
    instance, best = read(document), least_cost(document)
    for name, options in (
        ("slp", {"finish": 20}),
        ("slp", {"finish": 0, "sample": "paper"}),
        ("slp-leaves", {"finish": 0}),
    ):
        answer = in_process.method(instance, name, **options)
        assert (answer.infeasible is not None) == (best == math.inf), name
        if best < math.inf:
            judgement = evaluate(instance, in_process.plan_of(answer))
            assert judgement.valid, (name, judgement.violations)
            assert judgement.cost >= best - 1e-9


@pytest.mark.parametrize("parameters", [{"brokers": 8}, {"brokers": 14, "levels": 2, "degree": 4, "beta_max": 2.5}])
def test_no_worse_than_greedy_and_the_same_again(parameters):
    instance = yl.generate("assignment-3", seed=5, subscribers=600, **parameters)
    one, two = (in_process.method(instance, "slp", seed=3, finish=1_500) for _ in range(2))
    judgement = evaluate(instance, in_process.plan_of(one))
    assert judgement.valid
    assert judgement.cost <= 1.05 * evaluate(instance, greedy_offline(instance, np.random.default_rng(0))).cost
    assert one.solution.leaf.tolist() == two.solution.leaf.tolist()
    assert "indicator" in one.note
    assert one.numbers["indicator"] > 0


def test_the_same_leaves_in_this_process_and_in_others():
    instance = yl.generate("assignment-3", seed=5, subscribers=300, brokers=12, levels=2, degree=3, beta_max=2.5)
    assert len(np.unique(instance.parent)) > 2  # several inner brokers: tasks
    runs = [Run(time_limit=600, engine=engine) for engine in ("here", "local")]
    one, two = (slp(instance, np.random.default_rng(1), run=run, finish=0) for run in runs)
    assert one.solution.leaf.tolist() == two.solution.leaf.tolist()
    assert one.note == two.note


def test_first_order_and_highs_value_a_program_alike(sample):
    made, choice = sample
    exact, rough = (
        relaxed(program_of(made, choice), made, choice, replace(DEFAULTS, lp=lp, **more), Run(time_limit=60), 0.0)
        for lp, more in (("highs", {}), ("first-order", {"lp_accuracy": 1e-3, "lp_steps": 50_000}))
    )
    assert choice.measure @ rough == pytest.approx(choice.measure @ exact, rel=1e-2)


def test_a_sample_fits_as_long_as_its_leaves_have_room(sample):
    made, _ = sample
    assert made.weight.sum() == 30  # twenty that stand for 1.5 each
    may = np.zeros_like(made.may)
    may[:, 0] = True
    assert fits(replace(made, may=may, cap=np.full(6, 30.0)))
    assert not fits(replace(made, may=may, cap=np.full(6, 29.0)))


def test_strata_stand_for_everybody():
    instance = yl.generate("assignment-3", seed=5, subscribers=1_003, brokers=8)
    part = part_of(instance, -1, np.arange(1_003), 1.3, by_level=True)
    chosen, standing = _balanced(part, DEFAULTS, np.random.default_rng(0))
    assert len(chosen) == len(np.unique(chosen)) == 80  # ten per leaf
    assert standing.sum() == 1_003
    assert set(standing.tolist()) <= {12.0, 13.0}


def test_a_flow_names_those_whom_it_cannot_place():
    # three can only use leaf 0, which takes two; the fourth can use leaf 1 as well
    table = np.array([[True, False]] * 3 + [[True, True]])
    assert left_out(table, np.array([2, 5])).tolist() == [True, True, True, False]
    assert not left_out(table, np.array([3, 5])).any()


@pytest.mark.parametrize("option", [{"overlap": 1.0}, {"step": 0}, {"first": 0}, {"eps": math.nan}])
def test_options_are_checked(option):
    instance = yl.generate("assignment-3", seed=5, subscribers=20, brokers=4)
    with pytest.raises(ValueError, match=f"option {next(iter(option))}"):
        in_process.method(instance, "slp", **option)
