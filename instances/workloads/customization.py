"""Workloads of customization."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from yardline.instances.cag import Cag, annotated_map, video
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


@registry.workload("customization", "customization-map", paper="004 section 6.2 (annotated map)")
def annotated_maps(
    rng: Generator,
    *,
    brokers: int = 1024,
    matching_ratio: float = 0.5,
    base: int = 4,
    alpha: float = 1.0,
    beta: float = 1.0,
) -> Customization:
    """An annotated map in four formats (PDF, JPG, text, voice) down a tree of prefix routing."""
    return _down_a_tree(rng, annotated_map(), brokers, matching_ratio, base, alpha, beta)


@registry.workload("customization", "customization-video", paper="004 section 6.2 (customized video)")
def videos(
    rng: Generator,
    *,
    brokers: int = 1024,
    matching_ratio: float = 0.5,
    base: int = 4,
    alpha: float = 1.0,
    beta: float = 1.0,
    times: str | None = None,
) -> Customization:
    """A video in 16 formats (four containers in four sizes) with 210 conversions, down a tree of prefix routing.

    times: a file of measured conversion times (operation, target, video, segments, mean_ms) to draw the costs from.
    """
    return _down_a_tree(rng, video(rng, times), brokers, matching_ratio, base, alpha, beta)


@registry.workload("customization", "customization-down", paper="004 section 2.1 (no way back to better quality)")
def down(
    rng: Generator,
    *,
    brokers: int = 1024,
    formats: int = 16,
    matching_ratio: float = 0.5,
    base: int = 4,
    density: float = 0.5,
    alpha: float = 1.0,
    beta: float = 1.0,
) -> Customization:
    """Conversions only from better to worse quality: format 0 is the best and the largest, the last the smallest.

    density: the fraction of the pairs (better, worse) that have a conversion; the source has all.
    """
    formats = checks.integer(formats, "formats", low=1)
    if not 0 <= checks.number(density, "density") <= 1:
        checks.fail("density", density, "a fraction from 0 to 1")
    pairs = np.argwhere(np.triu(np.ones((formats, formats), dtype=bool), 1))
    pairs = pairs[(pairs[:, 0] == 0) | (rng.random(len(pairs)) < density)]
    tau = np.sort(rng.integers(0, MOST_TRANSMISSION + 1, size=formats))[::-1].astype(float)
    cost = rng.integers(0, MOST_CONVERSION + 1, size=len(pairs)).astype(float)
    cag = Cag(names=[f"q{f}" for f in range(formats)], tau=tau, conversions=pairs, cost=cost)
    return _down_a_tree(rng, cag, brokers, matching_ratio, base, alpha, beta)


def _down_a_tree(
    rng: Generator, cag: Cag, brokers: int, matching_ratio: float, base: int, alpha: float, beta: float
) -> Customization:
    tree = dissemination_tree(rng, brokers=brokers, matching_ratio=matching_ratio, base=base)
    return Customization(
        parent=tree.parent,
        requests=random_requests(rng, tree, len(cag.names)),
        tau=cag.tau,
        conversions=cag.conversions,
        conversion_cost=cag.cost,
        source=0,
        alpha=alpha,
        beta=beta,
        format_names=tuple(cag.names),
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
