"""Dissemination trees as prefix routing makes them (Tapestry, as in paper 004).

Brokers have identifiers of digits in some base. A message for broker d is handed on to brokers that share one digit
more with d each time; who has the next digit already hands it to itself. From one root the ways to all subscribers form
a tree. Which of the brokers with the right prefix is the next hop depends on the network in Tapestry (the nearest), and
is drawn at random here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models import checks
from yardline.models.checks import Indices

SPARE_DIGITS = 3  # identifiers are sparse, so that brokers end up with prefixes of different lengths


@dataclass(frozen=True, eq=False, kw_only=True)
class DisseminationTree:
    """Parents (-1 for the root, node 0; parents come before their children) and who subscribes."""

    parent: Indices
    subscriber: NDArray[np.bool_]


def dissemination_tree(
    rng: Generator, *, brokers: int = 1024, matching_ratio: float = 0.5, base: int = 4
) -> DisseminationTree:
    """The tree from a random rendezvous broker to a random fraction of the brokers, with the relays it needs.

    >>> tree = dissemination_tree(np.random.default_rng(1), brokers=64, matching_ratio=0.25, base=4)
    >>> int(tree.subscriber.sum()), bool((tree.parent[1:] < np.arange(1, len(tree.parent))).all())
    (16, True)
    """
    brokers = checks.integer(brokers, "brokers", low=1, high=10**7)
    base = checks.integer(base, "base", low=2, high=64)
    if not 0 <= checks.number(matching_ratio, "matching_ratio") <= 1:
        checks.fail("matching_ratio", matching_ratio, "a fraction from 0 to 1")
    digits = SPARE_DIGITS + next(d for d in range(brokers + 1) if base**d >= brokers)
    identifiers = np.sort(rng.choice(base**digits, size=brokers, replace=False))
    root = int(rng.integers(brokers))
    subscriber = np.zeros(brokers, dtype=bool)
    subscriber[rng.choice(brokers, size=round(matching_ratio * brokers), replace=False)] = True
    joined, parent = _routes(rng, identifiers, subscriber, root, base, digits)
    number = np.full(brokers, -1)
    number[joined] = np.arange(len(joined))
    parents = np.concatenate([[-1], number[parent]]).astype(np.int64)
    return DisseminationTree(parent=parents, subscriber=subscriber[joined])


def _routes(
    rng: Generator, identifiers: Indices, subscriber: NDArray[np.bool_], root: int, base: int, digits: int
) -> tuple[Indices, Indices]:
    """The brokers on the ways in the order in which they are reached (the root first), and the others' parents."""
    joined, parents = [np.array([root])], [np.zeros(0, dtype=np.int64)]
    hop = np.array([root])  # per prefix: who gets the message for it
    group = np.zeros(len(identifiers), dtype=np.int64)  # per broker: its prefix
    for digit in range(1, digits + 1):
        prefix = identifiers // base ** (digits - digit)
        start = np.flatnonzero(np.diff(prefix, prepend=-1))
        size = np.diff(start, append=len(identifiers))
        above, group = hop[group[start]], np.repeat(np.arange(len(start)), size)
        drawn = start + (rng.random(len(start)) * size).astype(np.int64)
        inside = (above >= start) & (above < start + size)
        hop = np.where(inside, above, drawn)
        new = np.flatnonzero(~inside & np.logical_or.reduceat(subscriber, start))
        joined.append(hop[new])
        parents.append(above[new])
    return np.concatenate(joined), np.concatenate(parents)
