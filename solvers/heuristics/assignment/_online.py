"""Subscribers in the order they come (numba): least growth, and what to do when all candidate leaves are full."""

from __future__ import annotations

import numpy as np
from numba import njit

from yardline.solvers.heuristics.assignment._choosing import _cheapest, _held, _least_over
from yardline.solvers.heuristics.assignment._filters import grow, growth

NONE, NEXT, LATER = 0, 1, 2


@njit(cache=True)
def _random(state, bound):  # type: ignore[no-untyped-def]
    """A number below the bound (xorshift)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(x % np.uint64(bound))


@njit(cache=True)
def _victim(mine, known, state):  # type: ignore[no-untyped-def]
    """A random known member of a random full candidate leaf: the leaf (-1: nobody can go) and its place there."""
    pick, seen = -1, 0
    for l in range(len(known)):
        if mine[l] and known[l] > 0:
            seen += 1
            if _random(state, seen) == 0:
                pick = l
    return (pick, _random(state, known[pick])) if pick >= 0 else (-1, -1)


@njit(cache=True)
def online(  # type: ignore[no-untyped-def]
    sets,
    of,
    low,
    high,
    steps,
    fair,
    leaves,
    evict,
    most,
    state,
    parent,
    alpha,
    lo,
    hi,
    count,
    size,
    edges,
    cells,
    table,
):
    """A leaf (by position) for everybody; `steps` are caps that rise; at most `most` are pushed out."""
    m, last = len(of), len(steps) - 1
    loads, result = np.zeros(len(leaves), dtype=np.int64), np.zeros(m, dtype=np.int64)
    start = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(steps[last])))
    members = np.zeros(max(1, start[-1]), dtype=np.int64)  # of each leaf as many as its cap: who is beyond it stays
    known = np.zeros(len(leaves), dtype=np.int64)
    queue = np.empty(m + most + 1, dtype=np.int64)
    queue[:m] = np.arange(m)
    head, tail, step, pushed, again = 0, m, 0, 0, -1
    while head < tail or again >= 0:
        s = again if again >= 0 else queue[head]
        mine, a, c = sets[of[s]], low[s], high[s]
        pick, room = _held(mine, a, c, loads, steps[step], fair, leaves, lo, hi, count)
        if not room and step < last:
            step += 1
            continue
        if again < 0:
            head += 1
        again, box = -1, -1
        if not room and evict != NONE and pushed < most:
            full, place = _victim(mine, known, state)
            if full >= 0:
                gone = members[start[full] + place]
                loads[full] -= 1
                known[full] -= 1
                members[start[full] + place] = members[start[full] + known[full]]
                pushed, room = pushed + 1, True
                if evict == NEXT:
                    again = gone
                else:
                    queue[tail] = gone
                    tail += 1
        if pick < 0 and room:
            pick, box = _cheapest(
                mine, a, c, loads, steps[step], fair, leaves, parent, alpha, lo, hi, count, size, edges, cells, table
            )
        if pick < 0:  # no room, or a leaf is over its cap even without the one pushed out
            pick = _least_over(mine, loads, fair)
            _, box = growth(leaves[pick], a, c, parent, alpha, lo, hi, count, size, edges, cells, table)
        if box >= 0:
            grow(leaves[pick], box, a, c, parent, alpha, lo, hi, count, size, edges, cells, table)
        if known[pick] < steps[last][pick]:
            members[start[pick] + known[pick]] = s
            known[pick] += 1
        result[s] = pick
        loads[pick] += 1
    return result
