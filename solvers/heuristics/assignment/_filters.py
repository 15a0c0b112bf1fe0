"""Filters that grow (numba): put an interest into a leaf's filter and, box by box, into those above it.

A box that grows must lie in one box of the parent, which grows as little as it can, and so on up to the publisher. For
up to EXACT boxes the growth of box r to the box x is that of the union,

    |x| - |x and some other box| - own[b, r],      own[b, r] = |box r| - |box r and some other box|,

since box r lies in x; intersections with the others by inclusion and exclusion. Beyond that it is |x| - |box r|.
Everywhere f is the `Growing` of state.py.
"""

from __future__ import annotations

import numpy as np
from numba import njit

EXACT = 4  # boxes up to which the union's growth is computed
SLACK = 1e-12  # so that rounding does not hide what grows by as much as the best


@njit(cache=True)
def measure(lo, hi, f):  # type: ignore[no-untyped-def]
    """The measure of a box: its volume, or from the table of cumulated mass."""
    d = len(lo)
    total = 1.0
    for k in range(d):
        if hi[k] <= lo[k]:
            return 0.0
        total *= hi[k] - lo[k]
    if f.cells[0] == 0:
        return total
    total = 0.0
    for corner in range(1 << d):
        sign = 1.0
        for k in range(d):
            if not corner >> k & 1:
                sign = -sign
        total += sign * _cumulated(lo, hi, corner, f)
    return max(0.0, total)


@njit(cache=True)
def _cumulated(lo, hi, corner, f):  # type: ignore[no-untyped-def]
    """Mass below a corner of the box, interpolated in the table."""
    d = len(lo)
    total = 0.0
    for choice in range(1 << d):
        weight, index = 1.0, 0
        for k in range(d):
            x = hi[k] if corner >> k & 1 else lo[k]
            q = 0
            while q < f.cells[k] - 1 and f.edges[k, q + 1] <= x:
                q += 1
            part = min(1.0, max(0.0, (x - f.edges[k, q]) / (f.edges[k, q + 1] - f.edges[k, q])))
            upper = choice >> k & 1
            weight *= part if upper else 1.0 - part
            index = index * (f.cells[k] + 1) + q + upper
        if weight > 0.0:
            total += weight * f.table[index]
    return total


@njit(cache=True)
def _common(lo, hi, b, among, f):  # type: ignore[no-untyped-def]
    """What [lo, hi] has in common with some of the boxes of broker b, those in the bits of `among`."""
    d = len(lo)
    x, y = f.scratch[6], f.scratch[7]
    total = 0.0
    chosen = among
    while chosen:  # every subset of `among` but the empty one
        sign, empty = -1.0, False
        for k in range(d):
            x[k], y[k] = lo[k], hi[k]
        for r in range(EXACT):
            if chosen >> r & 1:
                sign = -sign
                for k in range(d):
                    x[k], y[k] = max(x[k], f.low[b, r, k]), min(y[k], f.high[b, r, k])
                    empty = empty or x[k] >= y[k]
                if empty:
                    break
        if not empty:
            total += sign * measure(x, y, f)
        chosen = (chosen - 1) & among
    return total


@njit(cache=True)
def weigh(b, f):  # type: ignore[no-untyped-def]
    """What broker b's boxes measure, together and each by itself, after they changed."""
    f.size[b] = 0.0
    exact = f.count[b] <= EXACT
    for r in range(f.count[b]):
        own = measure(f.low[b, r], f.high[b, r], f)
        before = (1 << r) - 1 if exact else 0
        others = (1 << f.count[b]) - 1 - (1 << r) if exact else 0
        f.size[b] += own - _common(f.low[b, r], f.high[b, r], b, before, f)
        f.own[b, r] = own - _common(f.low[b, r], f.high[b, r], b, others, f)


@njit(cache=True)
def holds(b, a, c, f):  # type: ignore[no-untyped-def]
    """The first box of broker b that holds [a, c], or -1."""
    for r in range(f.count[b]):
        fits = True
        for k in range(len(a)):
            if a[k] < f.low[b, r, k] or c[k] > f.high[b, r, k]:
                fits = False
                break
        if fits:
            return r
    return -1


@njit(cache=True)
def _grown(b, r, a, c, lo, hi, most, f):  # type: ignore[no-untyped-def]
    """What it costs to grow box r of broker b (or to open it) so that it holds [a, c]; the grown box goes to [lo, hi].

    Infinite where a glance shows that it is more than `most`: no more than the whole filter can be in common.
    """
    opened = r == f.count[b]
    for k in range(len(a)):
        lo[k] = a[k] if opened else min(a[k], f.low[b, r, k])
        hi[k] = c[k] if opened else max(c[k], f.high[b, r, k])
    more = measure(lo, hi, f)
    if more * (1.0 - SLACK) - f.size[b] > most:
        return np.inf
    if not opened:
        more -= f.own[b, r]
    if max(f.count[b], r + 1) <= EXACT:
        others = (1 << f.count[b]) - 1
        more -= _common(lo, hi, b, others if opened else others - (1 << r), f)
    return max(0.0, more)


@njit(cache=True)
def _put(b, r, lo, hi, f):  # type: ignore[no-untyped-def]
    """Box r of broker b, one of its boxes or the next one, is [lo, hi] from now on."""
    f.low[b, r], f.high[b, r] = lo, hi
    f.count[b] = max(f.count[b], r + 1)
    weigh(b, f)


@njit(cache=True)
def climb(b, a, c, f, up, commit):  # type: ignore[no-untyped-def]
    """Growth of broker b and, if `up`, of those above it to hold [a, c] in one box, each as little as it can.

    It is done if `commit`. Not to be called with rows 2 to 7 of the scratch.
    """
    total = 0.0
    lo, hi, best_lo, best_hi = f.scratch[2], f.scratch[3], f.scratch[4], f.scratch[5]
    want_lo, want_hi = a, c
    while b >= 0 and holds(b, want_lo, want_hi, f) < 0:
        best, pick = np.inf, -1
        for r in range(min(f.count[b] + 1, f.alpha[b])):
            more = _grown(b, r, want_lo, want_hi, lo, hi, best, f)
            if pick < 0 or more < best:
                best, pick = more, r
        _grown(b, pick, want_lo, want_hi, lo, hi, np.inf, f)
        best_lo[:], best_hi[:] = lo, hi
        want_lo, want_hi = best_lo, best_hi
        total += best
        if commit:
            _put(b, pick, best_lo, best_hi, f)
        b = f.parent[b] if up else -1
    return total


@njit(cache=True)
def growth(b, a, c, most, f):  # type: ignore[no-untyped-def]
    """The least growth over the way up if leaf b, which does not hold [a, c] yet, takes it, and the box that gives it.

    Infinite and -1 where it is more than `most`.
    """
    best, pick = np.inf, -1
    lo, hi = f.scratch[0], f.scratch[1]
    for r in range(min(f.count[b] + 1, f.alpha[b])):
        more = _grown(b, r, a, c, lo, hi, min(best, most), f)
        if more <= most and more < best and f.parent[b] >= 0:
            more += climb(f.parent[b], lo, hi, f, True, False)
        if more <= most and more < best:
            best, pick = more, r
    return best, pick


@njit(cache=True)
def grow(b, r, a, c, f):  # type: ignore[no-untyped-def]
    """Let box r of leaf b hold [a, c], and the boxes above hold that."""
    lo, hi = f.scratch[0], f.scratch[1]
    _grown(b, r, a, c, lo, hi, np.inf, f)
    _put(b, r, lo, hi, f)
    if f.parent[b] >= 0:
        climb(f.parent[b], lo, hi, f, True, True)


@njit(cache=True)
def fill(leaf, low, high, f):  # type: ignore[no-untyped-def]
    """Filters for leaves that are chosen already, one subscriber after the other."""
    for s in range(len(leaf)):
        if holds(leaf[s], low[s], high[s], f) < 0:
            _, r = growth(leaf[s], low[s], high[s], np.inf, f)
            grow(leaf[s], r, low[s], high[s], f)


@njit(cache=True)
def around_children(up, first, children, f):  # type: ignore[no-untyped-def]
    """The filter of an inner broker anew: it grows around its children's boxes, large ones first."""
    f.count[up], f.size[up] = 0, 0.0
    total = 0
    for i in range(first[up], first[up + 1]):
        total += f.count[children[i]]
    boxes, volume = np.empty((total, 2), dtype=np.int64), np.empty(total)
    total = 0
    for i in range(first[up], first[up + 1]):
        b = children[i]
        for r in range(f.count[b]):
            boxes[total, 0], boxes[total, 1] = b, r
            volume[total] = -np.prod(f.high[b, r] - f.low[b, r])
            total += 1
    for p in np.argsort(volume, kind="mergesort"):
        climb(up, f.low[boxes[p, 0], boxes[p, 1]], f.high[boxes[p, 0], boxes[p, 1]], f, False, True)
