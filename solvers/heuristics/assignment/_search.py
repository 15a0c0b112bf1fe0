"""Ruin and recreate (numba): some parcels leave, boxes shrink, they come back greedily; kept by the rule of annealing.

A round is kept if the cost is at most  cost - T ln(u)  with u uniform in (0, 1]; that limit is drawn before parcels come
back, so that a round ends as soon as filters have grown beyond it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from yardline.solvers.heuristics.assignment._choosing import cheapest, choices, held
from yardline.solvers.heuristics.assignment._dice import below, fraction
from yardline.solvers.heuristics.assignment._filters import grow
from yardline.solvers.heuristics.assignment._ruin import LEFT, MOVED, ROUND, TOUCHED, enter, ruin, save, undo

SAME = 1e-12  # of the cost: a round that changes nothing is kept, whatever the last digits say
BLINK = 0.02  # how often a leaf is overlooked when a parcel comes back


@njit(cache=True)
def _order(people, journal, dice):  # type: ignore[no-untyped-def]
    """In which order those who left come back: large interests first, few choices first, or at random; with noise."""
    left, rule = journal.clock[LEFT], below(dice, 4)
    key = np.empty(left)
    for i in range(left):
        s, u = journal.who[i], fraction(dice)
        if rule <= 1:
            volume = 1.0
            for k in range(people.low.shape[1]):
                volume *= people.high[s, k] - people.low[s, k]
            key[i] = -volume * (0.5 + u)
        elif rule == 2:
            key[i] = (people.first[people.of[s] + 1] - people.first[people.of[s]]) * (0.5 + u)
        else:
            key[i] = u
    return np.argsort(key)


@njit(cache=True)
def recreate(pool, limit, blink, people, caps, seats, books, f, journal, dice):  # type: ignore[no-untyped-def]
    """Those in the pool come back one by one to where filters grow least.

    The growth of all; infinite where somebody found no room, or where it came beyond the limit.
    """
    total = 0.0
    for s in pool:
        mine, a, c, many = choices(s, people), people.low[s], people.high[s], people.many[s]
        pick, room = held(mine, a, c, many, caps, seats, f)
        if not room:
            return np.inf
        if pick < 0:
            pick, box, more = cheapest(mine, a, c, many, caps, seats, blink, dice, f)
            total += more
            if total > limit:
                return np.inf
            save(seats.leaves[pick], f, journal)
            grow(seats.leaves[pick], box, a, c, f)
        enter(s, pick, people, seats, books)
    return total


@njit(cache=True)
def _moves(people, books, journal):  # type: ignore[no-untyped-def]
    """How many more subscribers are at another leaf than at the start, after a round than before it."""
    total = 0
    for i in range(journal.clock[LEFT]):
        s = journal.who[i]
        now, then = books.where[s] != books.start[s], journal.old[i] != books.start[s]
        total += people.many[s] * (int(now) - int(then))
    return total


@njit(cache=True)
def anneal(rounds, cost, first, hot, rate, moves, people, caps, seats, books, tree, f, journal, dice):  # type: ignore[no-untyped-def]
    """So many rounds, number k at the temperature hot exp(-rate (first + k)), with at most so many moves; the cost after them."""
    for k in range(rounds):
        journal.clock[ROUND] += 1
        journal.clock[TOUCHED], journal.clock[LEFT] = 0, 0
        ruin(people, seats, books, tree, f, journal, dice)
        saved = 0.0
        for i in range(journal.clock[TOUCHED]):
            b = journal.touched[i]
            saved += journal.size[b] - f.size[b]
        warmth = hot * math.exp(-rate * (first + k))
        limit = saved - warmth * math.log(1.0 - fraction(dice)) + SAME * cost
        pool = journal.who[: journal.clock[LEFT]][_order(people, journal, dice)]
        grown = recreate(pool, limit, BLINK, people, caps, seats, books, f, journal, dice)
        moved = _moves(people, books, journal) if grown <= limit else 0
        if grown <= limit and journal.clock[MOVED] + moved <= moves:
            cost += grown - saved
            journal.clock[MOVED] += moved
        else:
            undo(people, seats, books, f, journal)
    return cost
