"""Dual ascent and the tree that its saturated arcs hold, compiled. Whole numbers throughout."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from yardline.solvers.kernels import kernel

Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]  # half the memory to walk through
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
LAST = 1_000  # as many places further back for every arc of the guide beyond the first
TINY = 1e-6


@kernel
def _grown(array: Ints, size: int) -> Ints:
    if size < len(array):
        return array
    result = np.empty(2 * len(array), dtype=array.dtype)
    result[: len(array)] = array
    return result


@kernel
def ascend(
    tail: Ints, into: Ints, slack: Ints, alive: Flags, root: int, terminals: Ints, guide: Floats
) -> tuple[int, Ints, Ints, Shorts, Shorts, Ints]:
    """Raise the cuts around terminals until all are tied to the root; slack is what the arcs have left.

    The terminal with the fewest arcs into its component goes first, those that the guide enters more than once last.
    Returns the sum of what was raised (-1: some terminal is cut off), what was raised for each terminal, and which vertices are
    in its component since which level, as lists: where each begins, what comes after, vertex, level.
    """
    n, count = len(into) - 1, len(terminals)
    tails = tail.astype(np.int32)
    level = np.zeros(count, dtype=np.int64)
    first = np.full(count, -1)
    after, vertex, since = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.int64)
    inner = np.empty(1024, np.uint8)  # whether all arcs into the vertex come from the component
    pool = 0
    heap = [(0, 0)]
    for i in range(1, count):
        heappush(heap, (0, i))
    mark = np.full(n, -1, np.int32)
    queue, cut, where = np.empty(n, np.int32), np.empty(len(tail), np.int32), np.empty(n, np.int32)
    stamp, total = 0, 0
    while len(heap) > 0:
        key, i = heappop(heap)
        stamp += 1
        size, p = 0, first[i]
        while p >= 0:
            queue[size], where[size] = vertex[p], p
            mark[vertex[p]] = stamp
            size += 1
            p = after[p]
        known = size
        if size == 0:
            queue[0] = terminals[i]
            mark[terminals[i]] = stamp
            size = 1
        reached, k, crossing = False, 0, 0
        while k < size and not reached:
            w = queue[k]
            if k >= known:
                if pool == len(vertex):
                    after, vertex = _grown(after, pool), _grown(vertex, pool)
                    since, inner = _grown(since, pool), _grown(inner, pool)
                after[pool], vertex[pool], since[pool], inner[pool] = first[i], w, level[i], 0
                first[i], where[k] = pool, pool
                pool += 1
            elif inner[where[k]]:
                k += 1
                continue
            before = crossing
            for a in range(into[w], into[w + 1]):
                u = tails[a]
                if not alive[a] or mark[u] == stamp:
                    continue
                if slack[a] > 0:
                    cut[crossing] = a
                    crossing += 1
                elif u == root:
                    reached = True
                    break
                else:
                    mark[u] = stamp
                    queue[size] = u
                    size += 1
            if crossing == before and not reached:
                inner[where[k]] = 1
            k += 1
        if reached:
            continue
        least, real, guided = 1 << 62, 0, 0.0
        for k in range(crossing):
            a = cut[k]
            if mark[tails[a]] != stamp:
                cut[real] = a
                real += 1
                least = min(least, slack[a])
                guided += guide[a]
        if real == 0:
            return -1, level, first, after[:pool], vertex[:pool], since[:pool]
        rank = real + int(LAST * max(0.0, guided - 1.0 - TINY))
        if rank > key and len(heap) > 0 and rank > heap[0][0]:
            heappush(heap, (rank, i))
            continue
        for k in range(real):
            slack[cut[k]] -= least
        level[i] += least
        total += least
        heappush(heap, (rank, i))
    return total, level, first, after[:pool], vertex[:pool], since[:pool]


@kernel
def added(
    n: int, begin: Ints, vertex: Ints, height: Ints, level: Ints, first: Ints, after: Shorts, more: Shorts, since: Ints
) -> tuple[Ints, Ints, Ints]:
    """Potentials (heights of vertices, one list per terminal) and what an ascent has raised on top of them."""
    count, size = len(level), len(vertex) + len(more)
    at, which, high = np.zeros(count + 1, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    sums, filled = np.zeros(n, np.int64), 0
    for i in range(count):
        for k in range(begin[i], begin[i + 1]):
            if height[k] > 0:
                which[filled] = vertex[k]
                sums[vertex[k]] = height[k]
                filled += 1
        p = first[i]
        while p >= 0:
            if level[i] > since[p]:
                if sums[more[p]] == 0:
                    which[filled] = more[p]
                    filled += 1
                sums[more[p]] += level[i] - since[p]
            p = after[p]
        for k in range(at[i], filled):
            high[k] = sums[which[k]]
            sums[which[k]] = 0
        at[i + 1] = filled
    return at, which[:filled].copy(), high[:filled].copy()


@kernel
def spent(tail: Ints, into: Ints, begin: Ints, vertex: Ints, height: Ints) -> Ints:
    """What potentials take of each arc."""
    p, result = np.zeros(len(into) - 1, np.int64), np.zeros(len(tail), np.int64)
    for i in range(len(begin) - 1):
        for k in range(begin[i], begin[i + 1]):
            p[vertex[k]] = height[k]
        for k in range(begin[i], begin[i + 1]):
            for a in range(into[vertex[k]], into[vertex[k] + 1]):
                if height[k] > p[tail[a]]:
                    result[a] += height[k] - p[tail[a]]
        for k in range(begin[i], begin[i + 1]):
            p[vertex[k]] = 0
    return result


@kernel
def shortest_path_tree(
    head: Ints, start: Ints, order: Ints, weight: Floats, alive: Flags, root: int, wanted: Flags
) -> Ints:
    """Again and again the nearest wanted vertex is tied to the tree; the arc into each vertex (-1: not in the tree)."""
    n = len(start) - 1
    distance = np.full(n, np.inf)
    by = np.full(n, -1)
    tail_of = np.full(n, -1)
    inside = np.zeros(n, dtype=np.bool_)
    result = np.full(n, -1)
    missing = 0
    for v in range(n):
        if wanted[v] and v != root:
            missing += 1
    distance[root] = 0.0
    inside[root] = True
    heap = [(0.0, root)]
    while len(heap) > 0 and missing > 0:
        d, u = heappop(heap)
        if d > distance[u]:
            continue
        if wanted[u] and not inside[u]:
            w = u
            while not inside[w]:
                inside[w] = True
                result[w] = by[w]
                if wanted[w]:
                    missing -= 1
                distance[w] = 0.0
                heappush(heap, (0.0, w))
                w = tail_of[w]
            continue
        for k in range(start[u], start[u + 1]):
            a = order[k]
            if alive[a]:
                w = head[a]
                reach = d + weight[a]
                if reach < distance[w] and not inside[w]:
                    distance[w] = reach
                    by[w] = a
                    tail_of[w] = u
                    heappush(heap, (reach, w))
    return result


@kernel
def distances(ends: Ints, start: Ints, order: Ints, weight: Ints, alive: Flags, sources: Ints) -> Ints:
    """Least sums of weights from the sources along the arcs as listed (out of each vertex, or into it for the way back)."""
    n = len(start) - 1
    never = np.int64(1) << 60
    distance = np.full(n, never)
    heap = [(np.int64(0), np.int64(0))]
    heap.clear()
    for s in sources:
        distance[s] = 0
        heappush(heap, (np.int64(0), s))
    while len(heap) > 0:
        d, u = heappop(heap)
        if d > distance[u]:
            continue
        for k in range(start[u], start[u + 1]):
            a = order[k]
            if alive[a]:
                w = ends[a]
                reach = d + weight[a]
                if reach < distance[w]:
                    distance[w] = reach
                    heappush(heap, (reach, w))
    return distance


@kernel
def polish(
    head: Ints, tail: Ints, start: Ints, order: Ints, weight: Floats, alive: Flags, root: int, wanted: Flags,
    entered: Ints, rounds: int,
) -> Ints:  # fmt: skip
    """A tree improved by one vertex more or less at a time, each tried by shortest paths among the vertices chosen."""
    n = len(start) - 1
    inside = entered >= 0
    inside[root] = True
    usable = np.zeros(len(head), dtype=np.bool_)
    best = 0.0
    for v in range(n):
        if entered[v] >= 0:
            best += weight[entered[v]]
    for _ in range(rounds):
        improved = False
        for v in np.random.permutation(n):
            if v == root or wanted[v]:
                continue
            inside[v] = not inside[v]
            for a in range(len(head)):
                usable[a] = alive[a] and inside[head[a]] and inside[tail[a]]
            trial = shortest_path_tree(head, start, order, weight, usable, root, wanted)
            total, whole = 0.0, True
            for w in range(n):
                if trial[w] >= 0:
                    total += weight[trial[w]]
                elif wanted[w] and w != root:
                    whole = False
            if whole and total < best * (1.0 - 1e-12):
                best, entered, improved = total, trial, True
                inside = entered >= 0
                inside[root] = True
            else:
                inside[v] = not inside[v]
        if not improved:
            break
    return entered
