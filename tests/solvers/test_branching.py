"""Our own branching: a finished tree meets the optimum, an unfinished one is still a bound."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from programs import binary_programs, cover, hard, optimum

from yardline.solvers.branching import prove
from yardline.solvers.certificates.rational import BITS, ExactProgram, Refused, common_step, rounded_up
from yardline.solvers.certificates.tree import tree_bound


def proved(tree):
    return tree_bound(ExactProgram(tree.program), tree.document(), BITS)


def rounded(tree):
    """The bound rounded up to the next cost that there can be."""
    step = common_step(tree.program)
    return proved(tree) if step is None else rounded_up(proved(tree), Fraction(tree.program.offset), step)


@settings(max_examples=80)
@given(binary_programs())
def test_a_finished_tree_meets_the_optimum(drawn):
    tree = prove(drawn, seconds_left=lambda: 60)
    best = optimum(drawn)
    assert tree.finished
    if best == math.inf:
        assert tree.bound == math.inf
        with pytest.raises(Refused, match="no valid plan"):
            proved(tree)
        return
    assert tree.value == pytest.approx(best)
    assert proved(tree) <= best
    assert rounded(tree) == best


@settings(max_examples=60)
@given(binary_programs())
def test_a_cutoff_does_not_harm(drawn):
    best = optimum(drawn)
    if best < math.inf:
        tree = prove(drawn, cutoff=best, seconds_left=lambda: 60)
        assert proved(tree) <= best
        assert rounded(tree) == best


@pytest.mark.parametrize("most", [1, 3, 9, 33])
def test_an_unfinished_tree_is_still_a_bound(most):
    tree = prove(hard(30), seconds_left=lambda: 60, most_nodes=most)
    assert not tree.finished
    assert len(tree.nodes) <= most + 1
    assert 0 <= proved(tree) <= 0.5  # slacks are not negative; some split is near zero
    assert tree.bound == pytest.approx(float(proved(tree)), abs=1e-6)


def test_no_time_at_all():
    tree = prove(cover(), seconds_left=lambda: 0.0)
    assert 0 <= proved(tree) <= 2


def test_findings_are_told():
    points, bounds = [], []
    prove(
        cover(),
        seconds_left=lambda: 60,
        on_point=lambda point, value: points.append(value),
        on_bound=lambda tree: bounds.append(tree.bound),
    )
    assert bounds == sorted(bounds)
    assert all(bound <= 2 for bound in bounds)
    assert points[-1:] in ([], [2.0])
