"""LPRelax: fractional filters for a sample of subscribers, as arrays; and rounding.

    min   sum(measure[k] * y[i,k])                                           i: brokers, k: boxes
    (C1)  sum(y[i,k] for k) <= alpha[i]                                      for i
    (C2)  sum(x[j,l] for leaves l of j) >= 1                                 for j in S_a
    (C3)  sum(w[j] * x[j,l] for j in S_b) <= cap[l]                          for leaves l
    (C4)  sum(y[i,k] for boxes k around j) >= sum(x[j,l] for l below i)      for j in S_a, i above a leaf of j
    x, y in [0, 1]

With one level each broker is its own leaf and this is the paper's program. With several, i are the children of one
broker, flows stay at leaf level and caps absolute, so that every child's share can still be assigned below it. w[j] is
how many each one of the sample stands for. A box of broker i shrinks to what i can reach of the sample, and one box per
held set is kept. formulation.py is the same in Pyomo. The value is an indicator, no bound: boxes are restricted, and
volumes are summed where the judge takes the union.

A box around everything is among the choices, so the program has a point wherever C2 and C3 have one: `fits` asks a
flow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csr_array

from yardline.decomposition.assignment.settings import Settings, Table
from yardline.models.assignment.boxes import inside, union_measure
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.flow import placed
from yardline.models.checks import Indices, Vector
from yardline.models.method import Run
from yardline.models.program import Builder, Program
from yardline.solvers import first_order, highs


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What the program is about."""

    low: Vector  # of S_a
    high: Vector
    weight: Vector  # how many each stands for in C3; 0: not in S_b
    may: Table  # S_a x leaves
    below: Indices  # the broker of each leaf
    alpha: Indices  # per broker
    cap: Vector  # per leaf


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The boxes of each broker that the program chooses from: one row per column y."""

    broker: Indices
    low: Vector
    high: Vector
    measure: Vector
    holds: csr_array  # boxes x S_a, those its broker can reach


def reached(sample: Sample) -> Table:
    """Brokers x S_a: whether one of the broker's leaves is a candidate."""
    return np.stack([sample.may[:, sample.below == i].any(axis=1) for i in range(len(sample.alpha))])


def choices(rng: Generator, instance: Assignment, sample: Sample, low: Vector, high: Vector) -> Choice:
    """Per broker: the boxes, shrunk to what it can reach, one per held set."""
    from yardline.decomposition.assignment import _held

    reach = reached(sample)
    marks = _marks(inside(sample.low, sample.high, low, high).T, reach, rng.random(len(sample.low)))
    kept = [np.unique(column, return_index=True) for column in marks.T]
    box = np.concatenate([where[mark > 0] for mark, where in kept])
    broker = np.repeat(np.arange(len(kept)), [int((mark > 0).sum()) for mark, _ in kept])
    a, c = low[box], high[box]
    counts = _held.counted(a, c, broker, reach, sample.low, sample.high)
    start = np.concatenate([[0], np.cumsum(counts)])
    held = _held.listed(a, c, broker, reach, sample.low, sample.high, start)
    holds = csr_array((np.ones(len(held)), held, start), shape=(len(box), len(sample.low)))
    return Choice(broker=broker, low=a, high=c, measure=box_measures(instance, a, c), holds=holds)


def _marks(held: NDArray[np.bool_], reach: NDArray[np.bool_], number: Vector) -> Vector:
    """A number per box and broker that is the same where the held sets are: sums of random numbers."""
    weights = (reach * number).T
    parts = [held[start : start + 5_000].astype(np.float64) @ weights for start in range(0, len(held), 5_000)]
    return np.asarray(np.round(np.concatenate(parts), 9), dtype=np.float64)


def box_measures(instance: Assignment, low: Vector, high: Vector) -> Vector:
    """The measure of each box alone."""
    if instance.edges is None:
        return np.asarray(np.prod(high - low, axis=1), dtype=np.float64)
    return np.array([union_measure(instance, a[None], c[None]) for a, c in zip(low, high, strict=True)])


def program_of(sample: Sample, choice: Choice) -> Program:
    """The program as arrays."""
    b, (j, l) = Builder(), np.nonzero(sample.may)
    pair = np.unique(np.stack([j, sample.below[l]], axis=1), axis=0)
    x = b.columns("x", np.stack([j, l], axis=1), integer=False)
    number = np.arange(len(choice.broker))
    y = b.columns("y", np.stack([choice.broker, number], axis=1), cost=choice.measure, integer=False)
    used, complexity = _rows(b, "C1", choice.broker, sample.alpha.astype(np.float64))
    b.entries(complexity[used], y)
    served = b.rows("C2", np.arange(len(sample.low))[:, None], low=1.0)
    b.entries(served[j], x)
    counted = sample.weight[j] > 0
    used, room = _rows(b, "C3", l[counted], sample.cap)
    b.entries(room[used], x[counted], sample.weight[j[counted]])
    nested = b.rows("C4", pair, low=0.0)
    place = np.full((len(sample.low), len(sample.alpha)), -1, dtype=np.int64)
    place[pair[:, 0], pair[:, 1]] = nested
    b.entries(place[j, sample.below[l]], x, -1.0)
    k, held = np.repeat(number, np.diff(choice.holds.indptr)), choice.holds.indices
    b.entries(place[held, choice.broker[k]], y[k])
    return b.program()


def _rows(b: Builder, name: str, index: Indices, high: Vector) -> tuple[Indices, Indices]:
    """Rows for the numbers that occur; which of them each entry belongs to."""
    there, used = np.unique(index, return_inverse=True)
    return used, b.rows(name, there[:, None], high=high[there])


def fits(sample: Sample) -> bool:
    """Whether C2 and C3 have a point: whether a flow takes all weight (in units so small that rounding does not matter)."""
    unit = 2**30 / max(1.0, float(sample.weight.sum()))
    counts = np.floor(sample.weight * unit).astype(np.int64)
    caps = np.minimum(np.ceil(sample.cap * unit), 2**31 - 1).astype(np.int64)
    return int(placed(sample.may, counts, caps).sum()) >= int(counts.sum())


def relaxed(
    program: Program, sample: Sample, choice: Choice, settings: Settings, run: Run, until: float
) -> Vector | None:
    """Fractional y; None: not in time. `first-order` is rough and quick (the point is only a guide), `highs` exact and slow."""
    xs = int(sample.may.sum())
    if settings.lp == "highs":
        options: dict[str, Any] = {"threads": run.threads, "seed": run.seed, "solver": "ipm", "run_crossover": "off"}
        outcome = highs.solve(program, relax=True, time_limit=max(0.1, run.left() - until), **options)
        return None if outcome.point is None else outcome.point[xs:]
    point = first_order.solve(
        program,
        accuracy=settings.lp_accuracy,
        steps=settings.lp_steps,
        awake=np.concatenate([np.arange(xs), xs + _promising(sample, choice)]),
        stop=lambda: run.left() <= until,
    )
    return point.x[xs:]


def _promising(sample: Sample, choice: Choice) -> Indices:
    """Per broker and subscriber, the box around it with the least measure per subscriber in it."""
    counts = np.diff(choice.holds.indptr)
    box = np.repeat(np.arange(len(counts)), counts)
    pair = choice.broker[box] * len(sample.low) + choice.holds.indices
    order = np.lexsort(((choice.measure / np.maximum(counts, 1))[box], pair))
    first = np.unique(pair[order], return_index=True)[1]
    return np.unique(box[order[first]])


def chances(y: Vector, size: int) -> Vector:
    """The probability of each box in a rounding: 1 - (1 - y)**max(1, ln|S_a|)."""
    return np.asarray(1.0 - (1.0 - np.clip(y, 0.0, 1.0)) ** max(1.0, float(np.log(max(1, size)))))


def rounded(rng: Generator, sample: Sample, choice: Choice, y: Vector, tries: int) -> Indices:
    """Boxes chosen by chance, drawn again until they cover the sample.

    After so many draws the box with the largest y covers whoever is left.
    """
    chance = chances(y, len(sample.low))
    for _ in range(max(1, tries)):
        taken = rng.random(len(y)) < chance
        covered = np.asarray(choice.holds.T @ taken) > 0
        if covered.all():
            return np.flatnonzero(taken)
    around = choice.holds.tocsc()
    for s in np.flatnonzero(~covered).tolist():
        over = around.indices[around.indptr[s] : around.indptr[s + 1]]
        taken[over[np.argmax(y[over])]] = True
    return np.flatnonzero(taken)
