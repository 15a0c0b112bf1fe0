"""Filters that grow (numba): put an interest into a leaf's filter and, box by box, into those above it.

State per broker b: `count[b]` boxes lo[b, r], hi[b, r] and `size[b]`, the measure of their union. A box that grows
must lie in one box of the parent, which grows as little as it can, and so on up to the publisher.
"""

from __future__ import annotations

from numba import njit

EXACT = 4  # boxes up to which the union's growth is computed; beyond it the box's own growth stands for it


@njit(cache=True)
def measure(lo, hi, edges, cells, table):  # type: ignore[no-untyped-def]
    """The measure of a box: its volume, or from the table of cumulated mass."""
    d = len(lo)
    total = 1.0
    for k in range(d):
        if hi[k] <= lo[k]:
            return 0.0
        total *= hi[k] - lo[k]
    if cells[0] == 0:
        return total
    total = 0.0
    for corner in range(1 << d):
        sign = 1.0
        for k in range(d):
            if not corner >> k & 1:
                sign = -sign
        total += sign * _cumulated(lo, hi, corner, edges, cells, table)
    return max(0.0, total)


@njit(cache=True)
def _cumulated(lo, hi, corner, edges, cells, table):  # type: ignore[no-untyped-def]
    """Mass below a corner of the box, interpolated in the table."""
    d = len(lo)
    total = 0.0
    for choice in range(1 << d):
        weight, index = 1.0, 0
        for k in range(d):
            x = hi[k] if corner >> k & 1 else lo[k]
            q = 0
            while q < cells[k] - 1 and edges[k, q + 1] <= x:
                q += 1
            part = min(1.0, max(0.0, (x - edges[k, q]) / (edges[k, q + 1] - edges[k, q])))
            upper = choice >> k & 1
            weight *= part if upper else 1.0 - part
            index = index * (cells[k] + 1) + q + upper
        if weight > 0.0:
            total += weight * table[index]
    return total


@njit(cache=True)
def _union(lo, hi, count, swap, new_lo, new_hi, edges, cells, table):  # type: ignore[no-untyped-def]
    """The measure of a union of few boxes, box `swap` replaced, by inclusion and exclusion."""
    d = lo.shape[1]
    total = 0.0
    a, b = new_lo.copy(), new_hi.copy()
    for chosen in range(1, 1 << count):
        sign = -1.0
        for k in range(d):
            a[k], b[k] = -1e308, 1e308
        for r in range(count):
            if chosen >> r & 1:
                sign = -sign
                for k in range(d):
                    a[k] = max(a[k], new_lo[k] if r == swap else lo[r, k])
                    b[k] = min(b[k], new_hi[k] if r == swap else hi[r, k])
        total += sign * measure(a, b, edges, cells, table)
    return total


@njit(cache=True)
def holds(lo, hi, count, a, b):  # type: ignore[no-untyped-def]
    """The first box that holds [a, b], or -1."""
    for r in range(count):
        fits = True
        for k in range(len(a)):
            if a[k] < lo[r, k] or b[k] > hi[r, k]:
                fits = False
                break
        if fits:
            return r
    return -1


@njit(cache=True)
def _grown(lo, hi, size, count, most, r, a, b, out_lo, out_hi, edges, cells, table):  # type: ignore[no-untyped-def]
    """What it costs to grow box r (or to open it) so that it holds [a, b]; the grown box goes to out."""
    for k in range(len(a)):
        out_lo[k] = a[k] if r == count else min(a[k], lo[r, k])
        out_hi[k] = b[k] if r == count else max(b[k], hi[r, k])
    boxes = max(count, r + 1)
    if boxes <= EXACT:
        return max(0.0, _union(lo, hi, boxes, r, out_lo, out_hi, edges, cells, table) - size)
    before = 0.0 if r == count else measure(lo[r], hi[r], edges, cells, table)
    return measure(out_lo, out_hi, edges, cells, table) - before


@njit(cache=True)
def _climb(b, a0, b0, parent, alpha, lo, hi, count, size, edges, cells, table, commit):  # type: ignore[no-untyped-def]
    """Growth of broker b and those above it to hold [a0, b0] in one box, each as little as it can; done if `commit`."""
    total = 0.0
    a, c = a0.copy(), b0.copy()
    try_lo, try_hi, best_lo, best_hi = a.copy(), a.copy(), a.copy(), a.copy()
    while b >= 0 and holds(lo[b], hi[b], count[b], a, c) < 0:
        best, pick = -1.0, -1
        for r in range(min(count[b] + 1, alpha[b])):
            more = _grown(lo[b], hi[b], size[b], count[b], alpha[b], r, a, c, try_lo, try_hi, edges, cells, table)
            if pick < 0 or more < best:
                best, pick = more, r
                best_lo[:], best_hi[:] = try_lo, try_hi
        total += best
        if commit:
            lo[b, pick], hi[b, pick] = best_lo, best_hi
            count[b] = max(count[b], pick + 1)
            size[b] += best
        a[:], c[:] = best_lo, best_hi
        b = parent[b]
    return total


@njit(cache=True)
def growth(b, a, c, parent, alpha, lo, hi, count, size, edges, cells, table):  # type: ignore[no-untyped-def]
    """The least growth over the way up if leaf b takes [a, c], and the leaf's box that gives it (-1: held already)."""
    if holds(lo[b], hi[b], count[b], a, c) >= 0:
        return 0.0, -1
    best, pick = -1.0, -1
    new_lo, new_hi = a.copy(), c.copy()
    for r in range(min(count[b] + 1, alpha[b])):
        more = _grown(lo[b], hi[b], size[b], count[b], alpha[b], r, a, c, new_lo, new_hi, edges, cells, table)
        if parent[b] >= 0:
            up = parent[b]
            more += _climb(up, new_lo, new_hi, parent, alpha, lo, hi, count, size, edges, cells, table, False)
        if pick < 0 or more < best:
            best, pick = more, r
    return best, pick


@njit(cache=True)
def grow(b, r, a, c, parent, alpha, lo, hi, count, size, edges, cells, table):  # type: ignore[no-untyped-def]
    """Let box r of leaf b hold [a, c], and the boxes above hold that."""
    new_lo, new_hi = a.copy(), c.copy()
    size[b] += _grown(lo[b], hi[b], size[b], count[b], alpha[b], r, a, c, new_lo, new_hi, edges, cells, table)
    lo[b, r], hi[b, r] = new_lo, new_hi
    count[b] = max(count[b], r + 1)
    if parent[b] >= 0:
        _climb(parent[b], new_lo, new_hi, parent, alpha, lo, hi, count, size, edges, cells, table, True)


@njit(cache=True)
def fill(leaf, low, high, parent, alpha, lo, hi, count, size, edges, cells, table):  # type: ignore[no-untyped-def]
    """Filters for leaves that are chosen already, one subscriber after the other."""
    for s in range(len(leaf)):
        _, r = growth(leaf[s], low[s], high[s], parent, alpha, lo, hi, count, size, edges, cells, table)
        if r >= 0:
            grow(leaf[s], r, low[s], high[s], parent, alpha, lo, hi, count, size, edges, cells, table)
