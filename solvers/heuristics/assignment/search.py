"""Local search on plans: ruin and recreate, kept by the rule of annealing.

A round: some parcels of identical subscribers leave their leaves (all of a leaf, those of a box, or those at a side of
one), boxes shrink to what they must still hold, also those of inner brokers, then everybody comes back to where filters
grow least. It is kept if the plan gets cheaper, or dearer by about the temperature; that falls geometrically from START to
END, as a fraction of what a box costs on average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.assignment.judge import evaluate
from yardline.models.checks import Indices, Vector
from yardline.models.method import Run
from yardline.solvers.heuristics.assignment.people import Kinds, People, Seats, parcels, seats
from yardline.solvers.heuristics.assignment.state import Growing, children_of, empty

START, END = 0.3, 0.003
LOOK, REPORTED = 0.2, 0.01
"""Seconds between two looks at the clock, and by how much a plan must be cheaper to be told."""

ENOUGH = 1_000
"""Rounds per subscriber, at most: a handful of subscribers is soon settled."""

PARCEL = 32
"""A parcel has at most the 32nd part of what a leaf may take."""


class Books(NamedTuple):
    """Where every parcel is (-1: nowhere), where it was at the start, and the parcels of every leaf side by side."""

    where: Indices
    start: Indices
    members: Indices
    first: Indices  # of every leaf: where its members begin
    there: Indices  # how many parcels it has
    place: Indices  # of every parcel: where it stands among the members


class Tree(NamedTuple):
    """The brokers below each broker, and how deep they stand."""

    first: Indices
    children: Indices
    level: Indices
    depth: int


class Journal(NamedTuple):
    """What a round changes: who left which leaf; filters as they were."""

    clock: Indices  # number of the round, brokers touched, parcels that left, moves since the start
    who: Indices
    old: Indices
    left: Indices  # the round in which a parcel left last
    inside: Indices  # those of a box, while it is looked at
    mark: Indices  # the round in which a broker was touched last
    touched: Indices
    low: Vector
    high: Vector
    own: Vector
    count: Indices  # type: ignore[assignment]  # hides that of tuples, which nobody asks
    size: Vector


@dataclass(slots=True)
class Search:
    """A plan that changes: who is where, and the filters."""

    instance: Assignment
    caps: Indices
    state: Growing
    people: People
    kinds: Kinds
    parcel: Indices  # of every subscriber
    seats: Seats
    books: Books
    tree: Tree
    journal: Journal
    cost: float

    @classmethod
    def of(cls, instance: Assignment, plan: AssignmentPlan, caps: Indices) -> Search:
        """From a valid plan; its boxes are kept where they are nested one by one, which all methods here do."""
        state = empty(instance)
        for b in range(instance.n):
            low, high = plan.boxes(b)
            state.low[b, : len(low)], state.high[b, : len(low)], state.count[b] = low, high, len(low)
        return cls.begun(instance, state, plan.leaf, caps)

    @classmethod
    def begun(cls, instance: Assignment, state: Growing, leaf: Indices, caps: Indices) -> Search:
        """From filters and the leaves of everybody (-1: nowhere yet)."""
        from yardline.solvers.heuristics.assignment import _books, _filters

        for b in range(instance.n):
            _filters.weigh(b, state)
        position = np.full(instance.n + 1, -1, dtype=np.int64)
        position[instance.leaves] = np.arange(len(instance.leaves))
        most = 1 if (leaf < 0).any() else max(1, int(caps.max(initial=0)) // PARCEL)
        people, kinds, where, parcel = parcels(instance, position[leaf], most)
        own, books = seats(instance), _books_of(where, caps)
        _books.listed(people, own, books)
        tree = Tree(*children_of(instance), instance.level, int(instance.level.max()) + 1)
        journal = _journal(state, len(where))
        return cls(instance, caps, state, people, kinds, parcel, own, books, tree, journal, float(state.size.sum()))

    @property
    def where(self) -> Indices:
        """The leaf of every subscriber, by position; -1: nowhere."""
        return self.books.where[self.parcel]

    @property
    def moved(self) -> int:
        """How many subscribers are at another leaf than at the start."""
        return int(self.journal.clock[3])

    @property
    def unit(self) -> float:
        """What a box costs on average."""
        return self.cost / max(1, int(self.state.count.sum()))

    def inserted(self, pool: Indices) -> bool:
        """Put some who are nowhere to where filters grow least, fewest candidates first; False: somebody found no room."""
        from yardline.solvers.heuristics.assignment import _recreate

        who = np.unique(self.parcel[pool])
        few = np.diff(self.people.first)[self.people.of[who]]
        self._next_round()
        grown = _recreate.recreate(
            *(who[np.lexsort((self.kinds.of[who], few))], np.inf, 0.0, self.people, self.kinds, self.caps, self.seats),
            *(self.books, self.state, self.journal, np.ones(1, dtype=np.uint64)),
        )
        self.cost = float(self.state.size.sum())
        return bool(np.isfinite(grown))

    def _next_round(self) -> None:
        self.journal.clock[0] += 1
        self.journal.clock[1:3] = 0

    def rounds(
        self,
        count: int,
        dice: NDArray[np.uint64],
        *,
        hot: float = 0.0,
        rate: float = 0.0,
        first: float = 0.0,
        moves: int = 2**62,
    ) -> None:
        """So many rounds, number k at the temperature hot exp(-rate (first + k)).

        At most so many subscribers will be elsewhere than at the start.
        """
        from yardline.solvers.heuristics.assignment import _search

        _search.anneal(
            *(count, self.cost, first, hot, rate, moves, self.people, self.kinds, self.caps, self.seats),
            *(self.books, self.tree, self.state, self.journal, dice),
        )
        self.cost = float(self.state.size.sum())

    def plan(self) -> AssignmentPlan:
        """The plan as it is now."""
        return self.state.plan(self.instance, self.instance.leaves[self.where])


def _books_of(where: Indices, caps: Indices) -> Books:
    """Space for as many members of a leaf as it may have, or has."""
    count = len(where)
    room = np.maximum(np.minimum(caps, count), np.bincount(where[where >= 0], minlength=len(caps)))
    ends = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
    there, place = np.zeros(len(caps), np.int64), np.zeros(count, np.int64)
    return Books(where, where.copy(), np.zeros(ends[-1], np.int64), ends[:-1], there, place)


def _journal(state: Growing, count: int) -> Journal:
    boxes = (state.low.copy(), state.high.copy(), state.own.copy(), state.count.copy(), state.size.copy())
    who, old, left, inside = np.zeros((4, count), np.int64)
    mark, touched = np.zeros((2, len(state.count)), np.int64)
    return Journal(np.zeros(4, np.int64), who, old, left, inside, mark, touched, *boxes)


def dice_of(rng: Generator) -> NDArray[np.uint64]:
    """The state of the kernels' random numbers."""
    return rng.integers(1, 2**62, 1).astype(np.uint64)


def searched(
    instance: Assignment, plan: AssignmentPlan, caps: Indices, rng: Generator, run: Run, *, rounds: int
) -> AssignmentPlan:
    """A valid plan after so many rounds, or in time to be written down and judged; the plan itself where nothing was gained.

    There are no more rounds than ENOUGH per subscriber.
    The temperature depends on the number of the round alone; where the clock is ahead of the rounds, numbers are left out, so
    that it is cold when the time is over.
    """
    until = 0.02 * run.time_limit + 3e-6 * instance.m  # seconds to be left
    search, dice = Search.of(instance, plan, caps), dice_of(rng)
    rounds = min(rounds, ENOUGH * instance.m)
    hot, rate, given = START * search.unit, math.log(START / END) / max(1, rounds), max(run.left() - until, 1e-9)
    number, chunk, reported = 0, 1, search.cost
    while number < rounds and run.left() > until:
        begun, count = run.seconds(), min(chunk, rounds - number)
        search.rounds(count, dice, hot=hot, rate=rate, first=number)
        clock = int((1.0 - (run.left() - until) / given) * rounds)
        number = max(number + count, clock)
        chunk = max(1, min(4 * chunk, int(count * LOOK / max(run.seconds() - begun, 1e-6))))
        if search.cost < reported * (1 - REPORTED):
            reported = search.cost
            run.report(f"round {number} of {rounds}", solution=search.plan(), value=reported)
    return better(instance, search.plan(), plan)


def better(instance: Assignment, one: AssignmentPlan, two: AssignmentPlan) -> AssignmentPlan:
    """The first of two plans if it is valid and no dearer, else the second."""
    first, second = evaluate(instance, one), evaluate(instance, two)
    return one if first.valid and (first.cost <= second.cost or not second.valid) else two
