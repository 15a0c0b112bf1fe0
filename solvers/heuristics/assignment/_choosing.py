"""Leaves, chosen one subscriber after the other (numba)."""

from __future__ import annotations

import numpy as np
from numba import njit

from yardline.solvers.heuristics.assignment._dice import fraction
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
def _live(people, loads, caps):  # type: ignore[no-untyped-def]
    """How many leaves of each set are not full."""
    result = np.zeros(len(people.first) - 1, dtype=np.int64)
    for g in range(len(result)):
        for i in range(people.first[g], people.first[g + 1]):
            if loads[people.choices[i]] < caps[people.choices[i]]:
                result[g] += 1
    return result


@njit(cache=True)
def _one_less(l, people, live):  # type: ignore[no-untyped-def]
    """Leaf l is full: the sets that have it, which are in order, have one live leaf less."""
    for g in range(len(live)):
        mine = people.choices[people.first[g] : people.first[g + 1]]
        i = np.searchsorted(mine, l)
        if i < len(mine) and mine[i] == l:
            live[g] -= 1


@njit(cache=True)
def choices(s, people):  # type: ignore[no-untyped-def]
    """The candidate leaves of somebody."""
    return people.choices[people.first[people.of[s]] : people.first[people.of[s] + 1]]


@njit(cache=True)
def held(mine, a, c, many, caps, seats, f):  # type: ignore[no-untyped-def]
    """The least loaded leaf with room for so many whose filter holds [a, c] (-1: none), and whether any leaf has room."""
    pick, least, room = -1, np.inf, False
    for l in mine:
        if seats.loads[l] + many <= caps[l]:
            room = True
            used = seats.loads[l] / seats.fair[l]
            if (pick < 0 or used < least) and holds(seats.leaves[l], a, c, f) >= 0:
                pick, least = l, used
    return pick, room


@njit(cache=True)
def cheapest(mine, a, c, many, most, caps, seats, blink, dice, f):  # type: ignore[no-untyped-def]
    """The leaf with room for so many where filters grow least, ties to the least loaded, the box that grows, and by how much.

    No leaf with room holds [a, c]. -1: it is more than `most` everywhere. A leaf is overlooked with probability `blink`,
    unless it is the first one.
    """
    pick, box, best, least = -1, -1, most, np.inf
    for l in mine:
        if seats.loads[l] + many > caps[l] or (blink > 0.0 and pick >= 0 and fraction(dice) < blink):
            continue
        more, r = growth(seats.leaves[l], a, c, best, f)
        used = seats.loads[l] / seats.fair[l]
        if r >= 0 and (more < best or used < least):
            pick, box, best, least = l, r, more, used
    return pick, box, best


@njit(cache=True)
def least_over(mine, seats):  # type: ignore[no-untyped-def]
    """The candidate with the least load factor, full or not."""
    pick, least = -1, np.inf
    for l in mine:
        used = seats.loads[l] / seats.fair[l] if seats.fair[l] > 0 else np.inf
        if pick < 0 or used < least:
            pick, least = l, used
    return pick


@njit(cache=True)
def seated(mine, a, c, pick, caps, seats, f):  # type: ignore[no-untyped-def]
    """The leaf that takes [a, c], which `pick` holds (-1: none): where filters grow least, or the least loaded; it grows."""
    box = -1
    if pick < 0:
        pick, box, _ = cheapest(mine, a, c, 1, np.inf, caps, seats, 0.0, np.zeros(1, dtype=np.uint64), f)
    if pick < 0:
        pick = least_over(mine, seats)
        if holds(seats.leaves[pick], a, c, f) < 0:
            _, box = growth(seats.leaves[pick], a, c, np.inf, f)
    if box >= 0:
        grow(seats.leaves[pick], box, a, c, f)
    seats.loads[pick] += 1
    return pick


@njit(cache=True)
def offline(people, steps, seats, f):  # type: ignore[no-untyped-def]
    """Least growth over the way to the publisher, those with the fewest choices first; `steps` are caps that rise."""
    m, leaves, loads = len(people.of), len(seats.leaves), seats.loads
    result = np.zeros(m, dtype=np.int64)
    step, done = 0, 0
    live = _live(people, loads, steps[0])
    order = _order(np.arange(m), live, people.of, leaves)
    while done < m:
        s, caps = order[done], steps[step]
        mine, a, c = choices(s, people), people.low[s], people.high[s]
        pick, room = held(mine, a, c, 1, caps, seats, f)
        if not room and step < len(steps) - 1:
            step += 1
            live = _live(people, loads, steps[step])
            order[done:] = _order(order[done:].copy(), live, people.of, leaves)
            continue
        pick = seated(mine, a, c, pick, caps, seats, f)
        result[s] = pick
        done += 1
        if loads[pick] == caps[pick]:
            _one_less(pick, people, live)
            order[done:] = _order(order[done:].copy(), live, people.of, leaves)
    return result
