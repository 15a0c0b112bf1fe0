"""What paper 002 proves, and the size of its candidate sets: tables computed directly, no comparisons of methods."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from yardline.api import generate
from yardline.decomposition.assignment.boxes import filter_gen, shrunk
from yardline.decomposition.assignment.lprelax import Choice, Sample, chances, choices, program_of
from yardline.experiments.claims import at_most
from yardline.experiments.description import Claim, Experiment, Row, Scale, Verdict
from yardline.models import registry
from yardline.models.assignment import limits
from yardline.models.assignment.boxes import inside
from yardline.models.assignment.data import Assignment
from yardline.models.checks import Vector
from yardline.solvers import highs

TIMES = (1, 2, 5, 10)
"""Super-interests per broker."""


@registry.experiment("assignment", "slp-theorem2", paper="002, theorem 2")
def theorem2(scale: Scale) -> Experiment:
    """One rounding of LPRelax: its mean cost over ln|S_a| OPT_LP, and how often it covers S_a."""
    sizes, draws = ((20, 40, 80), 2_000) if scale == "small" else ((50, 100, 200, 400), 20_000)
    claims = [
        Claim(words="the expected cost of a rounding is at most ln|S_a| OPT_LP", check=at_most("over_limit", 1.0)),
        Claim(words="a rounding covers S_a with probability at least 1/e", check=at_most("missed", 1 - np.exp(-1.0))),
    ]
    return Experiment(
        title="Mean cost of a rounding over ln|S_a| OPT_LP",
        rows=lambda: list(_roundings(sizes, draws)),
        x="sample",
        y="over_limit",
        series="workload",
        claims=claims,
    )


def _roundings(sizes: Sequence[int], draws: int) -> Iterator[Row]:
    """Per workload, size and seed: what so many roundings cost on average, and the share that leaves somebody uncovered."""
    for workload, size, seed in itertools.product(("assignment-1", "assignment-2", "assignment-3"), sizes, (1, 2, 3)):
        instance = _drawn_from(workload, seed, subscribers=size, brokers=6)
        rng = np.random.default_rng(seed)
        sample = _all_of(instance)
        boxes = filter_gen(rng, instance.at, instance.low, instance.high, supers=30, overlap=0.5)
        choice = choices(rng, instance, sample, *boxes)
        outcome = highs.solve(program_of(sample, choice), relax=True, time_limit=60.0)
        if outcome.point is None:
            raise RuntimeError(f"{workload}, seed {seed}: no fractional point in a minute ({outcome.stop})")
        y = outcome.point[int(sample.may.sum()) :]
        cost, missed = _drawn(rng, choice, chances(y, size), draws)
        limit = float(np.log(size)) * outcome.value
        yield {"workload": workload, "sample": size, "seed": seed, "over_limit": cost / limit, "missed": missed}


def _drawn_from(workload: str, seed: int, **sizes: Any) -> Assignment:
    """An instance with room for load, since few brokers make regions uneven."""
    instance = generate(workload, seed=seed, beta_max=4.0, **sizes)
    assert isinstance(instance, Assignment)
    return instance


def _all_of(instance: Assignment) -> Sample:
    """Everybody is in S_a and in S_b."""
    return Sample(
        low=instance.low,
        high=instance.high,
        weight=np.ones(instance.m),
        may=limits.candidates(instance).table(),
        below=np.arange(len(instance.leaves)),
        alpha=instance.alpha[instance.leaves],
        cap=limits.caps(instance)[instance.leaves].astype(np.float64),
    )


def _drawn(rng: Generator, choice: Choice, chance: Vector, draws: int) -> tuple[float, float]:
    """Mean cost of so many roundings, and the share of them that does not cover the sample."""
    cost, missed = 0.0, 0
    for _ in range(draws):
        taken = rng.random(len(chance)) < chance
        cost += float(choice.measure[taken].sum())
        missed += bool((np.asarray(choice.holds.T @ taken) <= 0).any())
    return cost / draws, missed / draws


@registry.experiment("assignment", "slp-lemma2", paper="002, lemma 2")
def lemma2(scale: Scale) -> Experiment:
    """Every box around some interests lies in a candidate of FilterGen of at most 4^d its volume."""
    seeds = 10 if scale == "small" else 100
    return Experiment(
        title="Volume of the least candidate around a box over 4^d times that of the box, largest",
        rows=lambda: list(_candidates(seeds)),
        x="dimensions",
        y="over_limit",
        series="interests",
        claims=[Claim(words="each has a candidate of at most 4^d its volume", check=at_most("over_limit", 1.0))],
    )


def _candidates(seeds: int) -> Iterator[Row]:
    """Per dimension and number of interests: all boxes around some of them against the candidates, nothing clustered."""
    for d, k, seed in itertools.product((1, 2, 3), (4, 7), range(seeds)):
        rng = np.random.default_rng([d, k, seed])
        low = rng.random((k, d))
        high = low + rng.choice([0.02, 0.1, 0.4], size=(k, d)) * rng.uniform(0.5, 1.0, size=(k, d))
        wanted = _enclosing(low, high)
        found = filter_gen(rng, rng.random((k, 1)), low, high, supers=k, overlap=0.5)
        volume = np.where(inside(*wanted, *found), np.prod(found[1] - found[0], axis=1), np.inf).min(axis=1)
        over = volume / np.prod(wanted[1] - wanted[0], axis=1) / 4.0**d
        yield {"dimensions": d, "interests": k, "seed": seed, "boxes": len(over), "over_limit": float(over.max())}


def _enclosing(low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """All smallest boxes around sets of interests."""
    axes = [[(a, c) for a in low[:, k].tolist() for c in high[:, k].tolist() if a < c] for k in range(low.shape[1])]
    boxes = np.array(list(itertools.product(*axes)))
    return shrunk(boxes[:, :, 0], boxes[:, :, 1], low, high)


@registry.experiment("assignment", "slp-fig15", paper="002, figure 15")
def fig15(scale: Scale) -> Experiment:
    """How many candidate boxes FilterGen makes, against the number of super-interests."""
    brokers, subscribers = (20, 2_000) if scale == "small" else (100, 100_000)
    return Experiment(
        title="Candidate boxes by super-interests per broker",
        rows=lambda: list(_cardinalities(brokers, subscribers)),
        x="supers",
        y="boxes",
        series="workload",
        claims=[Claim(words="more super-interests make more candidate boxes", check=_rising)],
    )


def _cardinalities(brokers: int, subscribers: int) -> Iterator[Row]:
    for workload, times, seed in itertools.product(("assignment-1", "assignment-3"), TIMES, (1, 2, 3)):
        instance = _drawn_from(workload, seed, subscribers=subscribers, brokers=brokers)
        rng = np.random.default_rng(seed)
        who = rng.choice(instance.m, size=min(instance.m, 10 * brokers), replace=False)  # a sample as large as S_b
        at, low, high = (values[who] for values in (instance.at, instance.low, instance.high))
        low, _ = filter_gen(rng, at, low, high, supers=times * brokers, overlap=0.5)
        yield {"workload": workload, "supers": times, "seed": seed, "boxes": len(low)}


def _rising(rows: Sequence[Row]) -> Verdict:
    """Whether the mean over seeds rises with the number of super-interests in every workload."""
    held, words = True, []
    for workload in sorted({row["workload"] for row in rows}):
        means = [
            float(np.mean([row["boxes"] for row in rows if (row["workload"], row["supers"]) == (workload, times)]))
            for times in TIMES
        ]
        held = held and all(a < b for a, b in itertools.pairwise(means))
        words.append(f"{workload}: " + ", ".join(f"{mean:.0f}" for mean in means))
    return Verdict(held=held, numbers="; ".join(words))
