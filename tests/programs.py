"""Small programs for the solver suites: by hand, and drawn by hypothesis with their optimum by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from yardline.models.program import INF, Builder, Program


def program(cost, rows, *, high=1.0, low=0.0, integer=True, offset=0.0) -> Program:
    """min offset + cost'x; rows are (coefficients, low, high)."""
    builder = Builder()
    columns = builder.columns(
        "x", np.arange(len(cost))[:, None], cost=np.array(cost, float), low=low, high=high, integer=integer
    )
    names = builder.rows(
        "r",
        np.arange(len(rows))[:, None],
        low=np.array([row[1] for row in rows], dtype=float),
        high=np.array([row[2] for row in rows], dtype=float),
    )
    for position, (coefficients, _, _) in zip(names, rows, strict=True):
        builder.entries(position, columns, np.array(coefficients, dtype=float))
    return builder.program(offset=offset)


def cover() -> Program:
    """Three sets, each pair of elements in one: two sets are needed (cost 2), the relaxation takes a half of each (1.5)."""
    return program([1, 1, 1], [([1, 1, 0], 1, INF), ([0, 1, 1], 1, INF), ([1, 0, 1], 1, INF)])


def hard(columns: int = 40, seed: int = 1) -> Program:
    """Market split: equality knapsacks, which branch and bound cannot finish in a few seconds."""
    rng = np.random.default_rng(seed)
    builder = Builder()
    x = builder.columns("x", np.arange(columns)[:, None])
    slack = builder.columns("s", np.arange(10)[:, None], cost=1.0, high=1e4, integer=False)
    for row in range(5):
        weights = rng.integers(1, 100, size=columns).astype(float)
        half = float(weights.sum() // 2)
        position = builder.rows(f"split{row}", np.zeros((1, 0)), low=half, high=half)
        builder.entries(position, x, weights)
        builder.entries(position, slack[[2 * row, 2 * row + 1]], np.array([1.0, -1.0]))
    return builder.program()


def optimum(of: Program) -> float:
    """The least value over all 0/1 points, by enumeration."""
    best = math.inf
    for bits in itertools.product((0.0, 1.0), repeat=of.shape[1]):
        point = np.array(bits)
        if of.violation(point) <= 1e-9:
            best = min(best, of.value(point))
    return best


def multipliers(of: Program) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Any (row, integer) pairs."""
    if not of.shape[0]:
        return st.just([])
    return st.lists(st.tuples(st.integers(0, of.shape[0] - 1), st.integers(-(2**45), 2**45)), max_size=6)


@st.composite
def binary_programs(draw: st.DrawFn) -> Program:
    """Up to 6 binaries and 5 rows of small whole numbers; feasible or not."""
    n, rows = draw(st.integers(1, 6)), draw(st.integers(0, 5))
    small = st.integers(-4, 4)
    drawn = []
    for _ in range(rows):
        coefficients = draw(st.lists(small, min_size=n, max_size=n).filter(any))
        low = draw(st.one_of(st.just(-INF), small))
        high = draw(st.one_of(st.just(INF), st.integers(0, 6).map(lambda d, low=low: max(low, -6) + d)))
        drawn.append((coefficients, low, high))
    cost = draw(st.lists(st.integers(-5, 9), min_size=n, max_size=n))
    return program(cost, drawn, offset=draw(st.sampled_from([0.0, 2.5])))
