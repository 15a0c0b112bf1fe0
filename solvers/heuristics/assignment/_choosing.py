"""Leaves, chosen one subscriber after the other (numba)."""

from __future__ import annotations

import numpy as np
from numba import njit

from yardline.solvers.heuristics.assignment._filters import grow, growth, holds


@njit(cache=True)
def closest(at, leaf_at, caps):  # type: ignore[no-untyped-def]
    """The nearest leaf that is not full, as a position; the nearest of all where all are full."""
    loads = np.zeros(len(caps), dtype=np.int64)
    result = np.zeros(len(at), dtype=np.int64)
    for s in range(len(at)):
        best, pick, nearest, any_pick = np.inf, -1, np.inf, 0
        for l in range(len(caps)):
            distance = 0.0
            for k in range(at.shape[1]):
                distance += (at[s, k] - leaf_at[l, k]) ** 2
            if distance < nearest:
                nearest, any_pick = distance, l
            if loads[l] < caps[l] and distance < best:
                best, pick = distance, l
        result[s] = pick if pick >= 0 else any_pick
        loads[result[s]] += 1
    return result


@njit(cache=True)
def _order(left, live, of, leaves):  # type: ignore[no-untyped-def]
    """Those left, fewest live candidate leaves first, in the order of their numbers among equals."""
    starts = np.zeros(leaves + 2, dtype=np.int64)
    for s in left:
        starts[live[of[s]] + 1] += 1
    starts = np.cumsum(starts)
    result = np.empty_like(left)
    for s in left:
        result[starts[live[of[s]]]] = s
        starts[live[of[s]]] += 1
    return result


@njit(cache=True)
def _live(sets, loads, caps):  # type: ignore[no-untyped-def]
    """How many leaves of each set are not full."""
    result = np.zeros(len(sets), dtype=np.int64)
    for g in range(len(sets)):
        for l in range(len(caps)):
            if sets[g, l] and loads[l] < caps[l]:
                result[g] += 1
    return result


@njit(cache=True)
def _held(mine, a, c, loads, caps, fair, leaves, lo, hi, count):  # type: ignore[no-untyped-def]
    """The least loaded leaf with room whose filter holds [a, c] already (-1: none), and whether any leaf has room."""
    pick, least, room = -1, np.inf, False
    for l in range(len(leaves)):
        if mine[l] and loads[l] < caps[l]:
            room = True
            used = loads[l] / fair[l]
            if (pick < 0 or used < least) and holds(lo[leaves[l]], hi[leaves[l]], count[leaves[l]], a, c) >= 0:
                pick, least = l, used
    return pick, room


@njit(cache=True)
def _cheapest(mine, a, c, loads, caps, fair, leaves, parent, alpha, lo, hi, count, size, edges, cells, table):  # type: ignore[no-untyped-def]
    """The leaf with room where filters grow least, ties to the least loaded, and the box that grows."""
    pick, box, best, least = -1, -1, np.inf, np.inf
    for l in range(len(leaves)):
        if mine[l] and loads[l] < caps[l]:
            more, r = growth(leaves[l], a, c, parent, alpha, lo, hi, count, size, edges, cells, table)
            used = loads[l] / fair[l]
            if pick < 0 or more < best or (more == best and used < least):
                pick, box, best, least = l, r, more, used
    return pick, box


@njit(cache=True)
def _least_over(mine, loads, fair):  # type: ignore[no-untyped-def]
    """The candidate with the least load factor, full or not."""
    pick, least = -1, np.inf
    for l in range(len(fair)):
        used = loads[l] / fair[l] if fair[l] > 0 else np.inf
        if mine[l] and (pick < 0 or used < least):
            pick, least = l, used
    return pick


@njit(cache=True)
def offline(sets, of, low, high, steps, fair, leaves, parent, alpha, lo, hi, count, size, edges, cells, table):  # type: ignore[no-untyped-def]
    """Least growth over the way to the publisher, those with the fewest choices first; `steps` are caps that rise."""
    m, n_leaves = len(of), len(leaves)
    loads, result = np.zeros(n_leaves, dtype=np.int64), np.zeros(m, dtype=np.int64)
    step, done = 0, 0
    order = _order(np.arange(m), _live(sets, loads, steps[0]), of, n_leaves)
    while done < m:
        s, caps = order[done], steps[step]
        mine, a, c = sets[of[s]], low[s], high[s]
        pick, room = _held(mine, a, c, loads, caps, fair, leaves, lo, hi, count)
        if not room and step < len(steps) - 1:
            step += 1
            order[done:] = _order(order[done:].copy(), _live(sets, loads, steps[step]), of, n_leaves)
            continue
        box = -1
        if pick < 0 and room:
            pick, box = _cheapest(
                mine, a, c, loads, caps, fair, leaves, parent, alpha, lo, hi, count, size, edges, cells, table
            )
        elif pick < 0:
            pick = _least_over(mine, loads, fair)
            _, box = growth(leaves[pick], a, c, parent, alpha, lo, hi, count, size, edges, cells, table)
        if box >= 0:
            grow(leaves[pick], box, a, c, parent, alpha, lo, hi, count, size, edges, cells, table)
        result[s] = pick
        loads[pick] += 1
        done += 1
        if loads[pick] == caps[pick] and done < m:
            order[done:] = _order(order[done:].copy(), _live(sets, loads, caps), of, n_leaves)
    return result
