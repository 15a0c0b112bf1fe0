"""Subscribers in the order they come (numba): least growth, and what to do when all candidate leaves are full."""

from __future__ import annotations

import numpy as np
from numba import njit

from yardline.solvers.heuristics.assignment._choosing import choices, held, seated
from yardline.solvers.heuristics.assignment._dice import below

NONE, NEXT, LATER = 0, 1, 2


@njit(cache=True)
def _victim(mine, known, dice):  # type: ignore[no-untyped-def]
    """A random known member of a random full candidate leaf: the leaf (-1: nobody can go) and its place there."""
    pick, seen = -1, 0
    for l in mine:
        if known[l] > 0:
            seen += 1
            if below(dice, seen) == 0:
                pick = l
    return (pick, below(dice, known[pick])) if pick >= 0 else (-1, -1)


@njit(cache=True)
def online(people, steps, seats, evict, most, dice, f):  # type: ignore[no-untyped-def]
    """A leaf (by position) for everybody; `steps` are caps that rise; at most `most` are pushed out."""
    m, last = len(people.of), len(steps) - 1
    result = np.zeros(m, dtype=np.int64)
    start = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(steps[last])))
    members = np.zeros(max(1, start[-1]), dtype=np.int64)  # of each leaf as many as its cap: who is beyond it stays
    known = np.zeros(len(seats.leaves), dtype=np.int64)
    queue = np.empty(m + most + 1, dtype=np.int64)
    queue[:m] = np.arange(m)
    head, tail, step, pushed, again = 0, m, 0, 0, -1
    while head < tail or again >= 0:
        s = again if again >= 0 else queue[head]
        mine, a, c = choices(s, people), people.low[s], people.high[s]
        pick, room = held(mine, a, c, 1, steps[step], seats, f)
        if not room and step < last:
            step += 1
            continue
        if again < 0:
            head += 1
        again = -1
        if not room and evict != NONE and pushed < most:
            full, place = _victim(mine, known, dice)
            if full >= 0:
                gone = members[start[full] + place]
                seats.loads[full] -= 1
                known[full] -= 1
                members[start[full] + place] = members[start[full] + known[full]]
                pushed += 1
                if evict == NEXT:
                    again = gone
                else:
                    queue[tail] = gone
                    tail += 1
        pick = seated(mine, a, c, pick, steps[step], seats, f)  # over its cap where nobody could make room
        if known[pick] < steps[last][pick]:
            members[start[pick] + known[pick]] = s
            known[pick] += 1
        result[s] = pick
    return result
