"""Ruin and recreate (numba): some subscribers leave, boxes shrink to what they still hold, then they come back greedily.

`where[s]` is the leaf (by position) of everybody; the members of a leaf form a list: head[l], after[s], before[s].
"""

from __future__ import annotations

import numpy as np
from numba import njit

from yardline.solvers.heuristics.assignment._choosing import _cheapest, _held
from yardline.solvers.heuristics.assignment._filters import EXACT, _climb, _union, grow, holds, measure


@njit(cache=True)
def size_of(lo, hi, count, edges, cells, table):  # type: ignore[no-untyped-def]
    """The measure of a union of few boxes; of many, the sum of theirs, as the greedy methods count."""
    if count <= EXACT:
        return _union(lo, hi, count, -1, lo[0], hi[0], edges, cells, table) if count else 0.0
    total = 0.0
    for r in range(count):
        total += measure(lo[r], hi[r], edges, cells, table)
    return total


@njit(cache=True)
def _leave(s, where, loads, head, after, before):  # type: ignore[no-untyped-def]
    l = where[s]
    if before[s] >= 0:
        after[before[s]] = after[s]
    else:
        head[l] = after[s]
    if after[s] >= 0:
        before[after[s]] = before[s]
    loads[l] -= 1
    where[s] = -1


@njit(cache=True)
def _enter(s, l, where, loads, head, after, before):  # type: ignore[no-untyped-def]
    after[s], before[s] = head[l], -1
    if head[l] >= 0:
        before[head[l]] = s
    head[l], where[s] = s, l
    loads[l] += 1


@njit(cache=True)
def listed(where, loads, head, after, before):  # type: ignore[no-untyped-def]
    """The lists of an assignment; -1: nowhere yet."""
    head[:] = -1
    loads[:] = 0
    for s in range(len(where) - 1, -1, -1):
        if where[s] >= 0:
            _enter(s, where[s], where, loads, head, after, before)


@njit(cache=True)
def _drop_box(b, r, lo, hi, count):  # type: ignore[no-untyped-def]
    """The last box takes the place of box r."""
    last = count[b] - 1
    lo[b, r], hi[b, r] = lo[b, last], hi[b, last]
    count[b] = last


@njit(cache=True)
def whole(l, most, leaves, where, loads, head, after, before, lo, hi, count, size, pool, filled):  # type: ignore[no-untyped-def]
    """Everybody leaves leaf l, if the pool has room; the new filling of the pool."""
    if filled + loads[l] > most:
        return filled
    while head[l] >= 0:
        pool[filled] = head[l]
        filled += 1
        _leave(head[l], where, loads, head, after, before)
    count[leaves[l]], size[leaves[l]] = 0, 0.0
    return filled


@njit(cache=True)
def shave(  # type: ignore[no-untyped-def]
    l,
    r,
    k,
    upper,
    share,
    most,
    low,
    high,
    leaves,
    where,
    loads,
    head,
    after,
    before,
    lo,
    hi,
    count,
    size,
    pool,
    filled,
    edges,
    cells,
    table,
):
    """Those near one side of box r of leaf l leave, and the box shrinks to what it still must hold."""
    b = leaves[l]
    limit = (
        hi[b, r, k] - share * (hi[b, r, k] - lo[b, r, k])
        if upper
        else lo[b, r, k] + share * (hi[b, r, k] - lo[b, r, k])
    )
    if share >= 1.0:
        limit = -np.inf if upper else np.inf
    a, c = lo[b, r].copy(), hi[b, r].copy()
    new_lo, new_hi = np.full(len(a), np.inf), np.full(len(a), -np.inf)
    lo[b, r], hi[b, r] = np.inf, -np.inf  # so that `holds` finds the other boxes only
    begun, left, s = filled, 0, head[l]
    while s >= 0:
        following = after[s]
        if holds(lo[b], hi[b], count[b], low[s], high[s]) < 0:
            goes = high[s, k] > limit if upper else low[s, k] < limit
            if goes and filled >= most:
                left = -1
                break
            if goes:
                pool[filled] = s
                filled += 1
                _leave(s, where, loads, head, after, before)
            else:
                left += 1
                new_lo, new_hi = np.minimum(new_lo, low[s]), np.maximum(new_hi, high[s])
        s = following
    if left < 0:  # too many: all come back
        lo[b, r], hi[b, r] = a, c
        for p in range(begun, filled):
            _enter(pool[p], l, where, loads, head, after, before)
        return begun
    lo[b, r], hi[b, r] = new_lo, new_hi
    if left == 0:
        _drop_box(b, r, lo, hi, count)
    size[b] = size_of(lo[b], hi[b], count[b], edges, cells, table)
    return filled


@njit(cache=True)
def rebuilt(order, inner, parent, alpha, lo, hi, count, size, edges, cells, table):  # type: ignore[no-untyped-def]
    """Inner filters from the leaves' boxes, children before parents, large boxes first."""
    d = lo.shape[2]
    for b in range(len(parent)):
        if inner[b]:
            count[b], size[b] = 0, 0.0
    for i in range(len(order) - 1, -1, -1):
        up = order[i]
        if not inner[up]:
            continue
        total = 0
        for b in range(len(parent)):
            if parent[b] == up:
                total += count[b]
        boxes = np.empty((total, 2), dtype=np.int64)
        volume = np.empty(total)
        total = 0
        for b in range(len(parent)):
            if parent[b] == up:
                for r in range(count[b]):
                    boxes[total, 0], boxes[total, 1] = b, r
                    v = 1.0
                    for k in range(d):
                        v *= hi[b, r, k] - lo[b, r, k]
                    volume[total] = -v
                    total += 1
        alone = parent.copy()
        alone[up] = -1
        for p in np.argsort(volume, kind="mergesort"):
            b, r = boxes[p]
            _climb(up, lo[b, r], hi[b, r], alone, alpha, lo, hi, count, size, edges, cells, table, True)


@njit(cache=True)
def tightened(order, inner, parent, alpha, lo, hi, count, size, edges, cells, table):  # type: ignore[no-untyped-def]
    """Inner boxes shrink to the boxes below that they hold, children before parents."""
    most, d = lo.shape[1], lo.shape[2]
    for i in range(len(order) - 1, -1, -1):
        up = order[i]
        if not inner[up]:
            continue
        a, c = np.full((most, d), np.inf), np.full((most, d), -np.inf)
        for b in range(len(parent)):
            if parent[b] == up:
                for r in range(count[b]):
                    q = holds(lo[up], hi[up], count[up], lo[b, r], hi[b, r])
                    a[q], c[q] = np.minimum(a[q], lo[b, r]), np.maximum(c[q], hi[b, r])
        kept = 0
        for q in range(count[up]):
            if c[q, 0] >= a[q, 0]:
                lo[up, kept], hi[up, kept] = a[q], c[q]
                kept += 1
        count[up] = kept
        size[up] = size_of(lo[up], hi[up], kept, edges, cells, table)


@njit(cache=True)
def recreate(  # type: ignore[no-untyped-def]
    pool,
    sets,
    of,
    low,
    high,
    caps,
    fair,
    leaves,
    where,
    loads,
    head,
    after,
    before,
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
    """Those in the pool come back one by one to where filters grow least; False: somebody found no room."""
    for s in pool:
        mine, a, c = sets[of[s]], low[s], high[s]
        pick, room = _held(mine, a, c, loads, caps, fair, leaves, lo, hi, count)
        if not room:
            return False
        if pick < 0:
            pick, box = _cheapest(
                mine, a, c, loads, caps, fair, leaves, parent, alpha, lo, hi, count, size, edges, cells, table
            )
            grow(leaves[pick], box, a, c, parent, alpha, lo, hi, count, size, edges, cells, table)
        _enter(s, pick, where, loads, head, after, before)
    return True


@njit(cache=True)
def restore(pool, old, where, loads, head, after, before):  # type: ignore[no-untyped-def]
    """Those in the pool go back to where they were."""
    for i in range(len(pool)):
        if where[pool[i]] >= 0:
            _leave(pool[i], where, loads, head, after, before)
    for i in range(len(pool)):
        _enter(pool[i], old[i], where, loads, head, after, before)
