"""Who has to be placed, and where there is room: as the kernels take it.

`People` are subscribers, or parcels of identical ones (same candidate leaves, same interest), which go together: the local
search moves those. `Seats` are the leaves with what they may take and who is there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.flow import distinct_words
from yardline.models.checks import Indices, Vector


class People(NamedTuple):
    """Candidate leaves choices[first[g] : first[g + 1]] of every set g, by position; the set, interest and number of each."""

    first: Indices
    choices: Indices
    of: Indices
    low: Vector
    high: Vector
    many: Indices  # how many subscribers it stands for


class Kinds(NamedTuple):
    """What parcels want: many of them want the same."""

    of: Indices
    low: Vector
    high: Vector
    clock: Indices  # when kinds were noted down last
    mark: Indices  # of every kind: when it was noted down
    note: Indices  # ... and what
    known: Indices  # per leaf: whether its filter holds the kind that is looked at


class Seats(NamedTuple):
    """The leaves: which brokers they are, their fair share of everybody, and how many they have."""

    leaves: Indices
    fair: Vector
    loads: Indices


def everybody(instance: Assignment, sets: NDArray[np.bool_] | None = None) -> People:
    """All subscribers, one by one; `sets`: other candidate leaves than those that are near enough."""
    sets, of = open_sets(instance) if sets is None else sets, limits.candidates(instance).of
    return People(*lists(sets), of, instance.low, instance.high, np.ones(instance.m, dtype=np.int64))


def seats(instance: Assignment) -> Seats:
    """All leaves, empty."""
    fair = (instance.kappa * instance.m)[instance.leaves]
    return Seats(instance.leaves, fair, np.zeros(len(fair), dtype=np.int64))


def lists(sets: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Rows of bits as one list of positions, and where each row begins."""
    first = np.concatenate([[0], np.cumsum(sets.sum(axis=1))]).astype(np.int64)
    return first, np.nonzero(sets)[1].astype(np.int64)


def open_sets(instance: Assignment) -> NDArray[np.bool_]:
    """Candidate leaves per set; where nobody serves it in time: all, and the judge will say so."""
    sets = limits.candidates(instance).sets.copy()
    sets[~sets.any(axis=1)] = True
    return sets


def parcels(instance: Assignment, where: Indices, most: int) -> tuple[People, Kinds, Indices, Indices]:
    """Identical subscribers of one leaf together, at most so many: who they are, what they want, their leaves, and the
    parcel of each subscriber.
    """
    people = everybody(instance)
    first, kind = distinct_words(np.concatenate([instance.low, instance.high], axis=1).view(np.uint64))
    code = ((where + 1) * (len(people.first) - 1) + people.of) * max(1, len(first)) + kind
    order = np.argsort(code, kind="stable")
    start = np.ones(len(order), dtype=bool)
    start[1:] = code[order[1:]] != code[order[:-1]]
    rank = np.arange(len(order)) - np.maximum.accumulate(np.where(start, np.arange(len(order)), 0))
    start |= rank % most == 0
    parcel = np.empty(len(order), dtype=np.int64)
    parcel[order] = np.cumsum(start) - 1
    one = order[start]
    many = np.bincount(parcel, minlength=len(one)).astype(np.int64)
    made = people._replace(of=people.of[one], low=instance.low[one], high=instance.high[one], many=many)
    notes = (np.zeros(1, np.int64), *np.zeros((2, len(first)), np.int64), np.zeros(len(instance.leaves), np.int64))
    kinds = Kinds(kind[one], instance.low[first], instance.high[first], *notes)
    return made, kinds, where[one], parcel
