"""Ruin (numba): some parcels leave their leaves, and boxes shrink to what they must still hold.

`where[s]` is the leaf (by position) of every parcel; the parcels of a leaf form a list: head[l], after[s], before[s]. The
journal keeps what a round changes: who left which leaf, and the filters as they were.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from yardline.solvers.heuristics.assignment._choosing import choices
from yardline.solvers.heuristics.assignment._dice import below, fraction
from yardline.solvers.heuristics.assignment._filters import around_children, holds, weigh

WHOLE, BOX, ANEW = 0.02, 0.05, 0.05  # how often all of a leaf or a box leave, and inner filters grow anew
FEW = 20.0  # most that leave a side, but for those who reach as far
ROUND, TOUCHED, LEFT, MOVED = 0, 1, 2, 3  # what the journal's clock counts


@njit(cache=True)
def leave(s, people, seats, books):  # type: ignore[no-untyped-def]
    """A parcel is nowhere from now on."""
    l, before, after = books.where[s], books.before[s], books.after[s]
    if before >= 0:
        books.after[before] = after
    else:
        books.head[l] = after
    if after >= 0:
        books.before[after] = before
    seats.loads[l] -= people.many[s]
    books.there[l] -= 1
    books.where[s] = -1


@njit(cache=True)
def enter(s, l, people, seats, books):  # type: ignore[no-untyped-def]
    """A parcel that is nowhere goes to leaf l."""
    books.after[s], books.before[s] = books.head[l], -1
    if books.head[l] >= 0:
        books.before[books.head[l]] = s
    books.head[l], books.where[s] = s, l
    seats.loads[l] += people.many[s]
    books.there[l] += 1


@njit(cache=True)
def listed(people, seats, books):  # type: ignore[no-untyped-def]
    """The lists of an assignment; -1: nowhere yet."""
    books.head[:] = -1
    books.there[:] = 0
    seats.loads[:] = 0
    for s in range(len(books.where) - 1, -1, -1):
        if books.where[s] >= 0:
            enter(s, books.where[s], people, seats, books)


@njit(cache=True)
def save(b, f, journal):  # type: ignore[no-untyped-def]
    """Broker b and those above it are about to change."""
    while b >= 0 and journal.mark[b] != journal.clock[ROUND]:
        journal.mark[b] = journal.clock[ROUND]
        journal.touched[journal.clock[TOUCHED]] = b
        journal.clock[TOUCHED] += 1
        journal.low[b], journal.high[b], journal.own[b] = f.low[b], f.high[b], f.own[b]
        journal.count[b], journal.size[b] = f.count[b], f.size[b]
        b = f.parent[b]


@njit(cache=True)
def undo(people, seats, books, f, journal):  # type: ignore[no-untyped-def]
    """Everything as it was before the round."""
    for i in range(journal.clock[LEFT]):
        if books.where[journal.who[i]] >= 0:
            leave(journal.who[i], people, seats, books)
    for i in range(journal.clock[LEFT]):
        enter(journal.who[i], journal.old[i], people, seats, books)
    for i in range(journal.clock[TOUCHED]):
        b = journal.touched[i]
        f.low[b], f.high[b], f.own[b] = journal.low[b], journal.high[b], journal.own[b]
        f.count[b], f.size[b] = journal.count[b], journal.size[b]


@njit(cache=True)
def _gone(s, people, seats, books, journal):  # type: ignore[no-untyped-def]
    """A parcel leaves, and the journal knows from where."""
    journal.who[journal.clock[LEFT]], journal.old[journal.clock[LEFT]] = s, books.where[s]
    journal.clock[LEFT] += 1
    leave(s, people, seats, books)


@njit(cache=True)
def whole(l, people, seats, books, f, journal):  # type: ignore[no-untyped-def]
    """Everybody leaves leaf l."""
    b = seats.leaves[l]
    save(b, f, journal)
    while books.head[l] >= 0:
        _gone(books.head[l], people, seats, books, journal)
    f.count[b], f.size[b] = 0, 0.0


@njit(cache=True)
def _inside(l, r, people, seats, books, f, journal):  # type: ignore[no-untyped-def]
    """The parcels of leaf l that only its box r holds, in the journal's list; how many there are."""
    b, count, s = seats.leaves[l], 0, books.head[l]
    low, high = f.low[b, r], f.high[b, r]
    low[:], high[:] = np.inf, -np.inf  # so that `holds` finds the other boxes only
    while s >= 0:
        if holds(b, people.low[s], people.high[s], f) < 0:
            journal.inside[count] = s
            count += 1
        s = books.after[s]
    return count


@njit(cache=True)
def _edge(inside, k, upper, few, people):  # type: ignore[no-untyped-def]
    """The coordinate beyond or on which at least so `few` of them reach at the upper or lower side."""
    reach = np.empty(len(inside))
    for i in range(len(inside)):
        reach[i] = -people.high[inside[i], k] if upper else people.low[inside[i], k]
    edge = np.sort(reach)[min(few, len(reach)) - 1]
    return -edge if upper else edge


@njit(cache=True)
def shave(l, r, k, upper, few, people, seats, books, f, journal):  # type: ignore[no-untyped-def]
    """So few of those that reach farthest to one side of box r of leaf l leave (and their equals); the box shrinks."""
    b = seats.leaves[l]
    save(b, f, journal)
    inside = journal.inside[: _inside(l, r, people, seats, books, f, journal)]
    edge = _edge(inside, k, upper, few, people) if len(inside) else 0.0
    lo, hi = f.low[b, r], f.high[b, r]
    for s in inside:
        if people.high[s, k] >= edge if upper else people.low[s, k] <= edge:
            _gone(s, people, seats, books, journal)
        else:
            for q in range(len(lo)):
                lo[q], hi[q] = min(lo[q], people.low[s, q]), max(hi[q], people.high[s, q])
    if lo[0] > hi[0]:  # nothing is left in it: the last box takes its place
        last = f.count[b] - 1
        lo[:], hi[:] = f.low[b, last], f.high[b, last]
        f.count[b] = last
    weigh(b, f)


@njit(cache=True)
def tightened(up, tree, f):  # type: ignore[no-untyped-def]
    """The boxes of an inner broker shrink to the children's boxes that they hold."""
    most, d = f.low.shape[1], f.low.shape[2]
    lo, hi = np.full((most, d), np.inf), np.full((most, d), -np.inf)
    for i in range(tree.first[up], tree.first[up + 1]):
        b = tree.children[i]
        for r in range(f.count[b]):
            q = holds(up, f.low[b, r], f.high[b, r], f)
            for k in range(d):
                lo[q, k], hi[q, k] = min(lo[q, k], f.low[b, r, k]), max(hi[q, k], f.high[b, r, k])
    kept = 0
    for q in range(f.count[up]):
        if lo[q, 0] <= hi[q, 0]:
            f.low[up, kept], f.high[up, kept] = lo[q], hi[q]
            kept += 1
    f.count[up] = kept
    weigh(up, f)


@njit(cache=True)
def _shrink_above(anew, tree, f, journal):  # type: ignore[no-untyped-def]
    """Inner filters above the leaves that changed shrink, or grow anew; deepest first."""
    touched = journal.touched[: journal.clock[TOUCHED]]
    for depth in range(tree.depth - 1, -1, -1):
        for b in touched:
            if tree.level[b] == depth and tree.first[b] < tree.first[b + 1]:
                if anew:
                    around_children(b, tree.first, tree.children, f)
                else:
                    tightened(b, tree, f)


@njit(cache=True)
def ruin(people, seats, books, tree, f, journal, dice):  # type: ignore[no-untyped-def]
    """A random part of the plan is undone: one to three leaves near each other lose a few at a side of a box, a box, or all."""
    how, l = fraction(dice), below(dice, len(seats.leaves))
    for _ in range(1 + below(dice, 3)):
        b, near = seats.leaves[l], books.head[l]
        if how < WHOLE:
            whole(l, people, seats, books, f, journal)
        elif f.count[b]:
            r, k, upper = below(dice, f.count[b]), below(dice, people.low.shape[1]), below(dice, 2) == 0
            few = books.there[l] if how < WHOLE + BOX else 1 + int(FEW ** fraction(dice))
            shave(l, r, k, upper, few, people, seats, books, f, journal)
        mine = choices(near, people) if near >= 0 else people.choices
        l = mine[below(dice, len(mine))]
    if tree.depth > 1:
        _shrink_above(fraction(dice) < ANEW, tree, f, journal)
