"""FilterAssign: preliminary filters by iterative reweighted sampling.

Stage g = first, 2 first, 4 first, ...: all weights 1; at most 4 g ln(m / g) valid iterations. An iteration draws Q by weight,
|Q| = max(1, ceil(c g ln g)), all of S once that reaches m, and S_b; LPRelax on S_a = Q + S_b gives filters Phi. Done
when Phi, expanded
by eps, covers everybody. Otherwise the weight of those whom Phi itself does not cover is doubled, and the iteration
is valid if they had
at most 1/8 of all weight. S_b is drawn again where the program is infeasible, halved where it takes too long, with
caps rising towards beta_max.

`sample=paper` draws S_b at random; `strata` (ours) draws it spread evenly over candidate sets and interests, and
lets each one stand for
the same number of others. Out of time, what the last Phi leaves uncovered is left to repair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from yardline.decomposition.slp.boxes import filter_gen
from yardline.decomposition.slp.lprelax import Sample, choices, program_of, relaxed, rounded
from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment
from yardline.models.checks import Indices, Vector
from yardline.models.method import Run

PATIENCE = 0.3
"""Of the time that is left for programs, what one may take; then a smaller one is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The constants of the algorithm."""

    sample: str
    sample_factor: float  # |S_b| = so many per broker
    supers: float  # super-interests per broker
    overlap: float
    eps: float
    c: float
    first: int  # the first g
    tries: int  # roundings until S_a is covered
    redraws: int
    most: int  # valid iterations in all
    share: float  # of the time left that FilterAssign may use


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One broker's children and the subscribers to be shared out among them."""

    instance: Assignment
    who: Indices
    leaves: Indices  # positions of the leaves below
    below: Indices  # the child of each
    children: Indices  # brokers
    beta: float
    beta_max: float

    def caps(self, factor: float) -> Indices:
        """Absolute caps of the leaves."""
        return limits.caps(self.instance, factor)[self.instance.leaves[self.leaves]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Boxes of children; what the fractional program was worth; how it went."""

    child: Indices
    low: Vector
    high: Vector
    indicator: float
    iterations: int
    covers: bool


def filter_assign(part: Part, settings: Settings, rng: Generator, run: Run, until: float) -> Filters | None:
    """Preliminary filters for the children of a part; None where no program could be solved in time."""
    m, g, done, best = len(part.who), max(1, settings.first), 0, None
    while done < settings.most and run.left() > until:
        weight = np.ones(m)
        for _ in range(max(1, math.ceil(4 * g * math.log(max(2.0, m / g))))):
            found = _iteration(part, settings, g, weight, rng, run, until)
            if found is None:
                return best
            best, done = found, done + 1
            if best.covers or done >= settings.most or run.left() <= until:
                return best
            missed = ~covered(part, best, 0.0).any(axis=1)
            valid = weight[missed].sum() <= weight.sum() / 8
            weight[missed] *= 2
            done -= 0 if valid else 1
            if not valid and rng.random() < 1 / 16:  # an iteration is valid every other time; this is no endless loop
                break
        g *= 2
    return best


def _iteration(
    part: Part, settings: Settings, g: int, weight: Vector, rng: Generator, run: Run, until: float
) -> Filters | None:
    """One program, solved and rounded, with S_b drawn again and caps raised where it is infeasible."""
    m = len(part.who)
    size = max(1, math.ceil(settings.c * g * math.log(g))) if g > 1 else 1
    q = np.arange(m) if size >= m else rng.choice(m, size=size, replace=True, p=weight / weight.sum())
    count = max(1, min(m, int(settings.sample_factor * len(part.children))))
    attempt, smaller = 0, settings
    while attempt <= settings.redraws:
        raised = part.beta + (part.beta_max - part.beta) * min(1.0, attempt / max(1, settings.redraws))
        b = _balanced(part, rng, count, settings.sample)
        chosen = np.unique(np.concatenate([q, b]))
        standing = np.where(np.isin(chosen, b), m / max(1, len(np.unique(b))), 0.0)
        seconds = PATIENCE * (run.left() - until)
        begun = run.seconds()
        found = _solved(part, smaller, chosen, standing, part.caps(raised), rng, run, seconds)
        if found is not None or run.left() <= until:
            return found
        if run.seconds() - begun < seconds:  # infeasible: another draw, a little more load
            attempt += 1
        else:  # out of time: half the sample, half the super-interests
            count, q = max(1, count // 2), q[: max(1, len(q) // 2)]
            smaller = replace(smaller, supers=smaller.supers / 2)
    return None


def _balanced(part: Part, rng: Generator, count: int, kind: str) -> Indices:
    """S_b: at random, or every so-many-th in the order of candidate set and interest."""
    m = len(part.who)
    if kind == "paper":
        return rng.choice(m, size=count, replace=False)
    instance = part.instance
    group = limits.candidates(instance).of[part.who]
    order = np.lexsort((*instance.high[part.who].T, *instance.low[part.who].T, group))
    places = (rng.random() + np.arange(count)) * m / count
    return np.asarray(order[np.minimum(places.astype(np.int64), m - 1)], dtype=np.int64)


def _solved(
    part: Part,
    settings: Settings,
    chosen: Indices,
    standing: Vector,
    caps: Indices,
    rng: Generator,
    run: Run,
    seconds: float,
) -> Filters | None:
    instance, who = part.instance, part.who[chosen]
    found = limits.candidates(instance)
    sample = Sample(
        low=instance.low[who],
        high=instance.high[who],
        weight=standing,
        may=found.sets[found.of[who]][:, part.leaves],
        below=part.below,
        alpha=instance.alpha[part.children],
        cap=caps.astype(np.float64),
    )
    supers = max(1, int(settings.supers * len(part.children)))
    low, high = filter_gen(rng, instance.at[who], sample.low, sample.high, supers=supers, overlap=settings.overlap)
    choice = choices(rng, instance, sample, low, high)
    program = program_of(sample, choice)
    point, value = relaxed(program, run, max(0.1, seconds))
    if point is None:
        return None
    y = point[int(sample.may.sum()) :]
    taken = rounded(rng, sample, choice, y, settings.tries)
    filters = Filters(
        child=choice.broker[taken],
        low=choice.low[taken],
        high=choice.high[taken],
        indicator=value,
        iterations=1,
        covers=False,
    )
    grown = expanded(filters, settings.eps)
    everybody = bool(covered(part, grown, 0.0).any(axis=1).all())
    return (
        Filters(child=grown.child, low=grown.low, high=grown.high, indicator=value, iterations=1, covers=True)
        if everybody
        else filters
    )


def expanded(filters: Filters, eps: float) -> Filters:
    """Boxes longer by eps in every dimension, half on each side."""
    more = eps * (filters.high - filters.low) / 2
    return Filters(
        child=filters.child,
        low=filters.low - more,
        high=filters.high + more,
        indicator=filters.indicator,
        iterations=filters.iterations,
        covers=filters.covers,
    )


def covered(part: Part, filters: Filters, eps: float) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Subscribers x leaves: near enough, and the child's filter holds the interest in one box."""
    grown = expanded(filters, eps) if eps else filters
    instance, found = part.instance, limits.candidates(part.instance)
    low, high = instance.low[part.who], instance.high[part.who]
    held = np.zeros((len(part.who), len(part.children)), dtype=bool)
    for child, a, c in zip(grown.child, grown.low, grown.high, strict=True):
        held[:, child] |= ((low >= a) & (high <= c)).all(axis=1)
    return found.sets[found.of[part.who]][:, part.leaves] & held[:, part.below]
