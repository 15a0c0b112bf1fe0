"""LPRelax: fractional filters for a sample of subscribers, as arrays; and rounding.

    min   sum(measure[k] * y[i,k])                                           i: brokers, k: boxes
    (C1)  sum(y[i,k] for k) <= alpha[i]                                      for i
    (C2)  sum(x[j,l] for leaves l of j) >= 1                                 for j in S_a
    (C3)  sum(w[j] * x[j,l] for j in S_b) <= cap[l]                          for leaves l
    (C4)  sum(y[i,k] for boxes k around j) >= sum(x[j,l] for l below i)      for j in S_a, i above a leaf of j
    x, y in [0, 1]

With one level each broker is its own leaf and this is the paper's program. With several, i are the children of one
broker, flows stay
at leaf level and caps absolute, so that every child's share can still be assigned below it. w[j] is how many each
one of the sample
stands for. A box of broker i shrinks to what i can reach of the sample, and one box per held set is kept.
The value is an indicator, no bound: boxes are restricted, and volumes are summed where the judge takes the union.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models.assignment.boxes import inside, union_measure
from yardline.models.assignment.data import Assignment
from yardline.models.checks import Indices, Vector
from yardline.models.method import Run
from yardline.models.program import Builder, Program
from yardline.solvers import highs


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What the program is about."""

    low: Vector  # of S_a
    high: Vector
    weight: Vector  # how many each stands for in C3; 0: not in S_b
    may: NDArray[np.bool_]  # S_a x leaves
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
    holds: NDArray[np.bool_]  # boxes x S_a, those its broker can reach


def choices(rng: Generator, instance: Assignment, sample: Sample, low: Vector, high: Vector) -> Choice:
    """Per broker: the boxes, shrunk to what it can reach, one per held set."""
    held = inside(sample.low, sample.high, low, high).T
    reach = np.stack([sample.may[:, sample.below == i].any(axis=1) for i in range(len(sample.alpha))])
    marks = _marks(held, reach, rng.random(len(sample.low)))
    brokers, lows, highs, sets = [], [], [], []
    for i, mine in enumerate(reach):
        kept = np.unique(marks[:, i], return_index=True)[1]
        kept = kept[marks[kept, i] > 0]
        full = held[kept] & mine
        brokers.append(np.full(len(kept), i))
        lows.append(np.where(full[:, mine, None], sample.low[mine], np.inf).min(axis=1, initial=np.inf))
        highs.append(np.where(full[:, mine, None], sample.high[mine], -np.inf).max(axis=1, initial=-np.inf))
        sets.append(full)
    a, c = np.concatenate(lows), np.concatenate(highs)
    size = box_measures(instance, a, c)
    return Choice(broker=np.concatenate(brokers), low=a, high=c, measure=size, holds=np.concatenate(sets))


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
    complexity = b.rows("C1", np.arange(len(sample.alpha))[:, None], high=sample.alpha.astype(float))
    b.entries(complexity[choice.broker], y)
    served = b.rows("C2", np.arange(len(sample.low))[:, None], low=1.0)
    b.entries(served[j], x)
    room = b.rows("C3", np.arange(len(sample.cap))[:, None], high=sample.cap)
    counted = sample.weight[j] > 0
    b.entries(room[l[counted]], x[counted], sample.weight[j[counted]])
    nested = b.rows("C4", pair, low=0.0)
    place = np.full((len(sample.low), len(sample.alpha)), -1, dtype=np.int64)
    place[pair[:, 0], pair[:, 1]] = nested
    b.entries(place[j, sample.below[l]], x, -1.0)
    k, held = np.nonzero(choice.holds)
    b.entries(place[held, choice.broker[k]], y[k])
    return b.program()


def relaxed(program: Program, run: Run, seconds: float) -> tuple[Vector | None, float]:
    """The point and value of the relaxation (interior point, no crossover: the point is only a guide); None: none found."""
    outcome = highs.solve(
        program, relax=True, time_limit=seconds, threads=run.threads, seed=run.seed, solver="ipm", run_crossover="off"
    )
    return (outcome.point, outcome.value) if outcome.point is not None else (None, np.inf)


def rounded(rng: Generator, sample: Sample, choice: Choice, y: Vector, tries: int) -> Indices:
    """Boxes chosen with probability 1 - (1 - y)**max(1, ln|S_a|), drawn again until they cover the sample.

    After so many draws the box with the largest y covers whoever is left.
    """
    chance = 1.0 - (1.0 - np.clip(y, 0.0, 1.0)) ** max(1.0, float(np.log(max(1, len(sample.low)))))
    for _ in range(max(1, tries)):
        taken = rng.random(len(y)) < chance
        covered = choice.holds[taken].any(axis=0)
        if covered.all():
            return np.flatnonzero(taken)
    for s in np.flatnonzero(~covered).tolist():
        over = np.flatnonzero(choice.holds[:, s])
        taken[over[np.argmax(y[over])]] = True
    return np.flatnonzero(taken)
