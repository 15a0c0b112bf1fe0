"""Dual ascent and the tree that its saturated arcs hold, compiled. Whole numbers throughout."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from yardline.solvers.kernels import kernel

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
LAST = 1_000  # as many places further back for every arc of the guide beyond the first


@kernel
def _grown(array: Ints, size: int) -> Ints:
    if size < len(array):
        return array
    result = np.empty(2 * len(array), dtype=array.dtype)
    result[: len(array)] = array
    return result


@kernel
def ascend(
    tail: Ints, into: Ints, slack: Ints, alive: Flags, root: int, terminals: Ints, guide: Flags
) -> tuple[int, Ints, Ints, Ints, Ints]:
    """Raise the cuts around terminals until all are tied to the root; slack is what the arcs have left.

    The terminal with the fewest arcs into its component goes first, those with several arcs of the guide last.
    Returns the sum of what was raised (-1: some terminal is cut off), what was raised for each terminal, and which vertices are
    in whose component since which level: terminal's place, vertex, level.
    """
    n, count = len(into) - 1, len(terminals)
    level = np.zeros(count, dtype=np.int64)
    first = np.full(count, -1)
    after, owner, vertex, since = (
        np.empty(1024, np.int64),
        np.empty(1024, np.int64),
        np.empty(1024, np.int64),
        np.empty(1024, np.int64),
    )
    pool = 0
    heap = [(0, 0)]
    for i in range(1, count):
        heappush(heap, (0, i))
    mark = np.full(n, -1)
    queue, cut = np.empty(n, np.int64), np.empty(len(tail), np.int64)
    stamp, total = 0, 0
    while len(heap) > 0:
        key, i = heappop(heap)
        stamp += 1
        size, p = 0, first[i]
        if p < 0:
            queue[0] = terminals[i]
            mark[terminals[i]] = stamp
            size = 1
        known = 0
        while p >= 0:
            queue[size] = vertex[p]
            mark[vertex[p]] = stamp
            size += 1
            p = after[p]
        known = size if first[i] >= 0 else 0
        reached, k, crossing = False, 0, 0
        while k < size and not reached:
            w = queue[k]
            for a in range(into[w], into[w + 1]):
                u = tail[a]
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
            k += 1
        for k in range(known, size):
            if pool == len(vertex):
                after, owner, vertex, since = (
                    _grown(after, pool),
                    _grown(owner, pool),
                    _grown(vertex, pool),
                    _grown(since, pool),
                )
            after[pool], owner[pool], vertex[pool], since[pool] = first[i], i, queue[k], level[i]
            first[i] = pool
            pool += 1
        if reached:
            continue
        least, real, guided = 1 << 62, 0, 0
        for k in range(crossing):
            a = cut[k]
            if mark[tail[a]] != stamp:
                cut[real] = a
                real += 1
                least = min(least, slack[a])
                guided += guide[a]
        if real == 0:
            return -1, level, owner[:pool], vertex[:pool], since[:pool]
        rank = real + LAST * max(0, guided - 1)
        if rank > key and len(heap) > 0 and rank > heap[0][0]:
            heappush(heap, (rank, i))
            continue
        for k in range(real):
            slack[cut[k]] -= least
        level[i] += least
        total += least
        heappush(heap, (rank, i))
    return total, level, owner[:pool], vertex[:pool], since[:pool]


@kernel
def shortest_path_tree(
    head: Ints, start: Ints, order: Ints, weight: NDArray[np.float64], alive: Flags, root: int, wanted: Flags
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
    head: Ints, tail: Ints, start: Ints, order: Ints, weight: NDArray[np.float64], alive: Flags, root: int, wanted: Flags,
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
