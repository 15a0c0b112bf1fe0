"""Workloads of customization."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from yardline.instances.tapestry import DisseminationTree, dissemination_tree
from yardline.models import checks, registry
from yardline.models.checks import Indices
from yardline.models.customization.data import Customization

MOST_TRANSMISSION, MOST_CONVERSION = 30, 60  # the ranges of the paper's video formats


@registry.workload("customization", "customization-random", paper="004 section 6 (setup)")
def random(
    rng: Generator,
    *,
    brokers: int = 1024,
    formats: int = 16,
    matching_ratio: float = 0.5,
    base: int = 4,
    density: float = 0.875,
    alpha: float = 1.0,
    beta: float = 1.0,
) -> Customization:
    """A tree of prefix routing, at most a quarter of the formats per subscriber, and a random conversion graph.

    density: the fraction of all pairs of formats that have a conversion (the paper's video formats: 210 of 240).
    Every format can be made from format 0. Costs are whole: transmission from 0 to 30, conversion from 0 to 60.
    """
    formats = checks.integer(formats, "formats", low=1)
    if not 0 <= checks.number(density, "density") <= 1:
        checks.fail("density", density, "a fraction from 0 to 1")
    tree = dissemination_tree(rng, brokers=brokers, matching_ratio=matching_ratio, base=base)
    pairs = random_conversions(rng, formats, density)
    return Customization(
        parent=tree.parent,
        requests=random_requests(rng, tree, formats),
        tau=rng.integers(0, MOST_TRANSMISSION + 1, size=formats).astype(float),
        conversions=pairs,
        conversion_cost=rng.integers(0, MOST_CONVERSION + 1, size=len(pairs)).astype(float),
        source=0,
        alpha=alpha,
        beta=beta,
    )


def random_requests(rng: Generator, tree: DisseminationTree, formats: int) -> csr_array:
    """Every subscriber asks for one up to a quarter of the formats, drawn evenly."""
    subscribers = np.flatnonzero(tree.subscriber)
    count = rng.integers(1, max(1, formats // 4) + 1, size=len(subscribers))
    rank = rng.random((len(subscribers), formats)).argsort(axis=1)
    who, place = np.nonzero(np.arange(formats) < count[:, None])
    cells = (subscribers[who], rank[who, place])
    return csr_array((np.ones(len(who), dtype=np.int64), cells), shape=(len(tree.parent), formats))


def random_conversions(rng: Generator, formats: int, density: float) -> Indices:
    """Pairs (from, to): a random tree out of format 0, and further pairs up to the density asked for."""
    order = np.concatenate([[0], 1 + rng.permutation(formats - 1)])
    grown = [(order[int(rng.integers(k))], order[k]) for k in range(1, formats)]
    chosen = np.eye(formats, dtype=bool)
    chosen[tuple(np.array(grown, dtype=np.int64).reshape(-1, 2).T)] = True
    f, g = np.nonzero(~chosen)
    extra = max(0, round(density * formats * (formats - 1)) - len(grown))
    more = rng.choice(len(f), size=min(extra, len(f)), replace=False) if len(f) else np.zeros(0, dtype=np.int64)
    chosen[f[more], g[more]] = True
    np.fill_diagonal(chosen, False)
    return np.argwhere(chosen)
