"""Min-cost flow on groups and packing, against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yardline.decomposition import flow


@st.composite
def tables(draw):
    n, p = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    price = np.array([[draw(st.integers(0, 9)) for _ in range(p)] for _ in range(n)], dtype=float)
    may = np.array([[draw(st.booleans()) for _ in range(p)] for _ in range(n)])
    return price, may


def places(may, weight, limit):
    """All placements that hold."""
    for place in itertools.product(range(may.shape[1]), repeat=len(may)):
        allowed = may[np.arange(len(may)), place].all()
        if allowed and (np.bincount(place, weights=weight, minlength=len(limit)) <= limit).all():
            yield np.array(place)


@settings(max_examples=60)
@given(tables(), st.data())
def test_cheapest_is_cheapest(table, data):
    price, may = table
    cap = np.array([data.draw(st.integers(0, 3)) for _ in range(may.shape[1])])
    every = [price[np.arange(len(may)), p].sum() for p in places(may, np.ones(len(may)), cap)]
    found = flow.cheapest(price, may, np.ones(len(may), dtype=np.int64), cap)
    assert (found is None) == (not every)
    if found is not None:
        assert (found.sum(axis=1) == 1).all()
        assert (found.sum(axis=0) <= cap).all()
        assert (price * found).sum() == pytest.approx(min(every))


def test_groups_are_split():
    found = flow.cheapest(np.array([[1.0, 2.0]]), np.ones((1, 2), dtype=bool), np.array([5]), np.array([3, 4]))
    assert found.tolist() == [[3, 2]]


@settings(max_examples=60)
@given(tables(), st.data())
def test_packed_fits_wherever_something_does(table, data):
    price, may = table
    weight = np.array([data.draw(st.integers(0, 4)) for _ in range(len(may))], dtype=float)
    limit = np.array([data.draw(st.sampled_from([0, 3, 5, np.inf])) for _ in range(may.shape[1])], dtype=float)
    some = next(places(may, weight, limit), None)
    found = flow.packed(price, may, weight, limit)
    assert (found is None) == (some is None)
    if found is not None:
        assert may[np.arange(len(may)), found].all()
        assert (np.bincount(found, weights=weight, minlength=len(limit)) <= limit).all()
    quick = flow.inserted(price, may, weight, limit)
    if quick is not None:  # not always where something fits, but then a placement that holds
        assert may[np.arange(len(may)), quick].all()
        assert (np.bincount(quick, weights=weight, minlength=len(limit)) <= limit).all()


def test_inserted_takes_the_cheapest_place_with_room():
    price, may = np.array([[0.0, 5.0], [0.0, 1.0]]), np.ones((2, 2), dtype=bool)
    assert flow.inserted(price, may, np.array([1.0, 2.0]), np.array([2.0, 2.0])).tolist() == [1, 0]
