"""Ruin (numba): some parcels leave their leaves, and boxes shrink to what they must still hold.

Many parcels want the same: whether a box holds them is asked once per kind of interest, `kinds`, and noted for the round.
"""

from __future__ import annotations

import numpy as np

from yardline.solvers.heuristics.assignment._books import TOUCHED, gone, save
from yardline.solvers.heuristics.assignment._choosing import choices
from yardline.solvers.heuristics.assignment._dice import below, fraction
from yardline.solvers.heuristics.assignment._filters import around_children, holds, weigh
from yardline.solvers.kernels import kernel

WHOLE, BOX, ANEW = 0.02, 0.05, 0.05  # how often all of a leaf or a box leave, and inner filters grow anew
FEW = 20.0  # most that leave a side, but for those who reach as far


@kernel
def whole(l, people, seats, books, f, journal):  # type: ignore[no-untyped-def]
    """Everybody leaves leaf l."""
    b = seats.leaves[l]
    save(b, f, journal)
    while books.there[l]:
        gone(books.members[books.first[l] + books.there[l] - 1], people, seats, books, journal)
    f.count[b], f.size[b] = 0, 0.0


@kernel
def _inside(l, r, kinds, seats, books, f, journal):  # type: ignore[no-untyped-def]
    """The parcels of leaf l that only its box r holds, in the journal's list; how many there are."""
    b, count = seats.leaves[l], 0
    low, high = f.low[b, r], f.high[b, r]
    low[:], high[:] = np.inf, -np.inf  # so that `holds` finds the other boxes only
    kinds.clock[0] += 1
    for s in books.members[books.first[l] : books.first[l] + books.there[l]]:
        k = kinds.of[s]
        if kinds.mark[k] != kinds.clock[0]:
            kinds.mark[k] = kinds.clock[0]
            kinds.note[k] = holds(b, kinds.low[k], kinds.high[k], f)
        if kinds.note[k] < 0:
            journal.inside[count] = s
            count += 1
    return count


@kernel
def _edge(inside, k, upper, few, kinds):  # type: ignore[no-untyped-def]
    """The coordinate beyond or on which at least so `few` of them reach at the upper or lower side."""
    reach = np.empty(len(inside))
    for i in range(len(inside)):
        kind = kinds.of[inside[i]]
        reach[i] = -kinds.high[kind, k] if upper else kinds.low[kind, k]
    few = min(few, len(reach)) - 1
    edge = np.partition(reach, few)[few]
    return -edge if upper else edge


@kernel
def shave(l, r, k, upper, few, people, kinds, seats, books, f, journal):  # type: ignore[no-untyped-def]
    """So few of those that reach farthest to one side of box r of leaf l leave (and their equals); the box shrinks."""
    b = seats.leaves[l]
    save(b, f, journal)
    inside = journal.inside[: _inside(l, r, kinds, seats, books, f, journal)]
    edge = _edge(inside, k, upper, few, kinds) if len(inside) else 0.0
    lo, hi = f.low[b, r], f.high[b, r]
    for s in inside:
        low, high = kinds.low[kinds.of[s]], kinds.high[kinds.of[s]]
        if high[k] >= edge if upper else low[k] <= edge:
            gone(s, people, seats, books, journal)
        else:
            for q in range(len(lo)):
                lo[q], hi[q] = min(lo[q], low[q]), max(hi[q], high[q])
    if lo[0] > hi[0]:  # nothing is left in it: the last box takes its place
        last = f.count[b] - 1
        lo[:], hi[:] = f.low[b, last], f.high[b, last]
        f.count[b] = last
    weigh(b, f)


@kernel
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


@kernel
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


@kernel
def _anybody(l, books, dice):  # type: ignore[no-untyped-def]
    """A parcel of leaf l; -1: it has none."""
    return books.members[books.first[l] + below(dice, books.there[l])] if books.there[l] else -1


@kernel
def ruin(people, kinds, seats, books, tree, f, journal, dice):  # type: ignore[no-untyped-def]
    """A random part of the plan is undone: one to three leaves near each other lose a few at a side of a box, a box, or all."""
    how, l = fraction(dice), below(dice, len(seats.leaves))
    for _ in range(1 + below(dice, 3)):
        b, near = seats.leaves[l], _anybody(l, books, dice)
        if how < WHOLE:
            whole(l, people, seats, books, f, journal)
        elif f.count[b]:
            r, k, upper = below(dice, f.count[b]), below(dice, people.low.shape[1]), below(dice, 2) == 0
            few = books.there[l] if how < WHOLE + BOX else 1 + int(FEW ** fraction(dice))
            shave(l, r, k, upper, few, people, kinds, seats, books, f, journal)
        mine = choices(near, people) if near >= 0 else people.choices
        l = mine[below(dice, len(mine))]
    if tree.depth > 1:
        _shrink_above(fraction(dice) < ANEW, tree, f, journal)
