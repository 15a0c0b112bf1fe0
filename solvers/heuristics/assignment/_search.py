"""Ruin and recreate (numba): some parcels leave, boxes shrink, they come back greedily; kept by the rule of annealing.

A round is kept if the cost is at most  cost - T ln(u)  with u uniform in (0, 1]; that limit is drawn before parcels come
back, so that a round ends as soon as filters have grown beyond it.
"""

from __future__ import annotations

import math

from yardline.solvers.heuristics.assignment._books import LEFT, MOVED, ROUND, TOUCHED, undo
from yardline.solvers.heuristics.assignment._dice import fraction
from yardline.solvers.heuristics.assignment._recreate import order, recreate
from yardline.solvers.heuristics.assignment._ruin import ruin
from yardline.solvers.kernels import kernel

SAME = 1e-12  # of the cost: a round that changes nothing is kept, whatever the last digits say
BLINK = 0.02  # how often a leaf is overlooked when a parcel comes back


@kernel
def _moves(people, books, journal):  # type: ignore[no-untyped-def]
    """How many more subscribers are at another leaf than at the start, after a round than before it."""
    total = 0
    for i in range(journal.clock[LEFT]):
        s = journal.who[i]
        now, then = books.where[s] != books.start[s], journal.old[i] != books.start[s]
        total += people.many[s] * (int(now) - int(then))
    return total


@kernel
def anneal(rounds, cost, first, hot, rate, moves, people, kinds, caps, seats, books, tree, f, journal, dice):  # type: ignore[no-untyped-def]
    """So many rounds, number k at the temperature hot exp(-rate (first + k)), with at most so many moves; the cost after them."""
    for k in range(rounds):
        journal.clock[ROUND] += 1
        journal.clock[TOUCHED], journal.clock[LEFT] = 0, 0
        ruin(people, kinds, seats, books, tree, f, journal, dice)
        saved = 0.0
        for i in range(journal.clock[TOUCHED]):
            b = journal.touched[i]
            saved += journal.size[b] - f.size[b]
        warmth = hot * math.exp(-rate * (first + k))
        limit = saved - warmth * math.log(1.0 - fraction(dice)) + SAME * cost
        pool = order(people, kinds, journal, dice)
        grown = recreate(pool, limit, BLINK, people, kinds, caps, seats, books, f, journal, dice)
        moved = _moves(people, books, journal) if grown <= limit else 0
        if grown <= limit and journal.clock[MOVED] + moved <= moves:
            cost += grown - saved
            journal.clock[MOVED] += moved
        else:
            undo(people, seats, books, f, journal)
    return cost
