"""Recreate (numba): those who left come back one by one to where filters grow least.

Those who want the same come back one after the other, so that a leaf is asked once whether its filter holds that. Where all
leaves whose filters do are full, somebody else may make room: a random member that another leaf with room holds as well.
"""

from __future__ import annotations

import numpy as np

from yardline.solvers.heuristics.assignment._books import LEFT, ROUND, enter, gone, save
from yardline.solvers.heuristics.assignment._choosing import cheapest, choices
from yardline.solvers.heuristics.assignment._dice import below, fraction
from yardline.solvers.heuristics.assignment._filters import grow, holds
from yardline.solvers.kernels import kernel

UNKNOWN, HELD, NOT_HELD = 0, 1, 2
ASKED, IN_ALL = 4, 24  # members of a full leaf, and of all of them, who are asked whether they can go elsewhere


@kernel
def order(people, kinds, journal, dice):  # type: ignore[no-untyped-def]
    """Those who left, kind by kind: large interests first, few choices first, or at random; with noise."""
    left, rule, distinct = journal.clock[LEFT], below(dice, 4), 0
    kinds.clock[0] += 1
    key, count, slot = np.empty(left), np.zeros(left, dtype=np.int64), np.empty(left, dtype=np.int64)
    for i in range(left):
        k = kinds.of[journal.who[i]]
        if kinds.mark[k] != kinds.clock[0]:
            kinds.mark[k], kinds.note[k] = kinds.clock[0], distinct
            key[distinct] = _key(journal.who[i], rule, fraction(dice), people)
            distinct += 1
        slot[i] = kinds.note[k]
        count[slot[i]] += 1
    total = 0
    for j in np.argsort(key[:distinct]):
        total += count[j]
        count[j] = total - count[j]
    result = np.empty(left, dtype=np.int64)
    for i in range(left):
        result[count[slot[i]]] = journal.who[i]
        count[slot[i]] += 1
    return result


@kernel
def _key(s, rule, noise, people):  # type: ignore[no-untyped-def]
    """What the kind of a parcel is sorted by."""
    if rule <= 1:
        volume = 1.0
        for k in range(people.low.shape[1]):
            volume *= people.high[s, k] - people.low[s, k]
        return -volume * (0.5 + noise)
    if rule == 2:
        return (people.first[people.of[s] + 1] - people.first[people.of[s]]) * (0.5 + noise)
    return noise


@kernel
def _holds(l, a, c, known, seats, f):  # type: ignore[no-untyped-def]
    """Whether the filter of leaf l holds [a, c]; what is known already is not looked at again."""
    if known[l] == UNKNOWN:
        known[l] = HELD if holds(seats.leaves[l], a, c, f) >= 0 else NOT_HELD
    return known[l] == HELD


@kernel
def _held(mine, a, c, many, caps, known, seats, f):  # type: ignore[no-untyped-def]
    """The least loaded leaf with room for so many whose filter holds [a, c] (-1: none), and whether any leaf has room."""
    pick, least, room = -1, np.inf, False
    for l in mine:
        if seats.loads[l] + many <= caps[l]:
            room = True
            if _holds(l, a, c, known, seats, f):
                used = seats.loads[l] / seats.fair[l]
                if pick < 0 or used < least:
                    pick, least = l, used
    return pick, room


@kernel
def _elsewhere(t, l, people, caps, seats, f):  # type: ignore[no-untyped-def]
    """A leaf other than l that has room for parcel t and holds what it wants; -1: none."""
    for q in choices(t, people):
        room = q != l and seats.loads[q] + people.many[t] <= caps[q]
        if room and holds(seats.leaves[q], people.low[t], people.high[t], f) >= 0:
            return q
    return -1


@kernel
def _made_room(s, mine, a, c, known, people, caps, seats, books, f, journal, dice):  # type: ignore[no-untyped-def]
    """A full leaf that holds [a, c], after one of its members went elsewhere to make room for s; -1: none was found."""
    asked, begin = 0, below(dice, len(mine))
    for i in range(len(mine)):
        l = mine[(begin + i) % len(mine)]
        over = seats.loads[l] + people.many[s] - caps[l]
        if asked >= IN_ALL or over <= 0 or not books.there[l] or not _holds(l, a, c, known, seats, f):
            continue
        for _ in range(ASKED):
            asked += 1
            t = books.members[books.first[l] + below(dice, books.there[l])]
            if people.many[t] < over or journal.left[t] == journal.clock[ROUND]:
                continue
            q = _elsewhere(t, l, people, caps, seats, f)
            if q >= 0:
                gone(t, people, seats, books, journal)
                enter(t, q, people, seats, books)
                return l
    return -1


@kernel
def recreate(pool, limit, blink, people, kinds, caps, seats, books, f, journal, dice):  # type: ignore[no-untyped-def]
    """Those in the pool come back one by one to where filters grow least.

    The growth of all; infinite where somebody found no room, or where it came beyond the limit.
    """
    total, current, known = 0.0, -1, kinds.known
    for s in pool:
        mine, kind = choices(s, people), kinds.of[s]
        a, c = kinds.low[kind], kinds.high[kind]
        if kind != current:
            current = kind
            known[:] = UNKNOWN
        pick, room = _held(mine, a, c, people.many[s], caps, known, seats, f)
        if pick < 0:
            pick = _made_room(s, mine, a, c, known, people, caps, seats, books, f, journal, dice)
        if pick < 0 and room:
            most = limit - total
            pick, box, more = cheapest(mine, a, c, people.many[s], most, caps, seats, blink, dice, f)
            if pick >= 0:
                total += more
                save(seats.leaves[pick], f, journal)
                grow(seats.leaves[pick], box, a, c, f)
                known[pick] = HELD
        if pick < 0:
            return np.inf
        enter(s, pick, people, seats, books)
    return total
