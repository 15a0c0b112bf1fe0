"""Violated directed cuts by maximum flows, and arcs that a way around makes needless; compiled."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from yardline.solvers.kernels import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
TINY = 1e-9
CREEP = 1e-6  # room on every arc, so that among cuts of equal flow the one with the fewest arcs is found
ENOUGH = 1.0 - 1e-4


@kernel
def _listed(ends: Ints, n: int) -> tuple[Ints, Ints]:
    """Arcs by one of their ends: where those of each vertex begin, and the arcs in that order."""
    start = np.zeros(n + 1, dtype=np.int64)
    for v in ends:
        start[v + 1] += 1
    for v in range(n):
        start[v + 1] += start[v]
    fill, order = start[:-1].copy(), np.empty(len(ends), dtype=np.int64)
    for a in range(len(ends)):
        order[fill[ends[a]]] = a
        fill[ends[a]] += 1
    return start, order


@kernel
def _side(
    here: Ints, there: Ints, start: Ints, order: Ints, back_start: Ints, back_order: Ints, room: Floats, flow: Floats,
    v: int, stop: int, by: Ints, queue: Ints,
) -> int:  # fmt: skip
    """Search from v along arcs (here -> there) with room left, and backwards along flow; by[w]: how w was found (-1: not)."""
    by[:] = -1
    by[v] = len(here)
    queue[0] = v
    size, k = 1, 0
    while k < size:
        u = queue[k]
        k += 1
        for p in range(start[u], start[u + 1]):
            a = order[p]
            w = there[a]
            if by[w] < 0 and room[a] - flow[a] > TINY:
                by[w] = a
                queue[size] = w
                size += 1
                if w == stop:
                    return size
        for p in range(back_start[u], back_start[u + 1]):
            a = back_order[p]
            w = here[a]
            if by[w] < 0 and flow[a] > TINY:
                by[w] = len(here) + 1 + a
                queue[size] = w
                size += 1
                if w == stop:
                    return size
    return size


@kernel
def separate(
    n: int, tail: Ints, head: Ints, x: Floats, root: int, terminals: Ints, most: int, nested: int
) -> tuple[Ints, Ints, Ints]:
    """Cuts that x violates: the place of the terminal of each, where its vertices begin, and all vertices."""
    out_start, out_order = _listed(tail, n)
    in_start, in_order = _listed(head, n)
    whose, begins, members = [0], [0], [0]
    whose.clear()
    members.clear()
    by, queue = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    arcs = len(tail)
    covered = np.zeros(n, dtype=np.bool_)  # terminals inside a cut found already wait for the next round
    for i in range(len(terminals)):
        if covered[terminals[i]]:
            continue
        t, room, flow, total = terminals[i], x + CREEP, np.zeros(arcs), 0.0
        for _ in range(nested):
            while total < ENOUGH:
                _side(tail, head, out_start, out_order, in_start, in_order, room, flow, root, t, by, queue)
                if by[t] < 0:
                    break
                more, w = 1.0, t
                while w != root:
                    a = by[w]
                    if a < arcs:
                        more, w = min(more, room[a] - flow[a]), tail[a]
                    else:
                        more, w = min(more, flow[a - arcs - 1]), head[a - arcs - 1]
                w = t
                while w != root:
                    a = by[w]
                    if a < arcs:
                        flow[a] += more
                        w = tail[a]
                    else:
                        flow[a - arcs - 1] -= more
                        w = head[a - arcs - 1]
                total += more
            if total >= ENOUGH:
                break
            size = _side(head, tail, in_start, in_order, out_start, out_order, room, flow, t, -1, by, queue)
            whose.append(i)
            for k in range(size):
                members.append(queue[k])
                covered[queue[k]] = True
            begins.append(len(members))
            for a in range(arcs):
                if by[head[a]] >= 0 and by[tail[a]] < 0:
                    room[a] = 2.0
        if len(whose) >= most:
            break
    vertices = np.empty(len(members), dtype=np.int64)
    for k in range(len(members)):
        vertices[k] = members[k]
    return np.array(whose, dtype=np.int64), np.array(begins), vertices


@kernel
def needless(head: Ints, start: Ints, order: Ints, cost: Ints, alive: Flags, tail: Ints, most: int) -> Ints:
    """Drop (in alive) the arcs for which another way is no dearer; looks at most that many arcs around. Returns them."""
    n = len(start) - 1
    distance, stamp = np.zeros(n, dtype=np.int64), np.full(n, -1)
    dropped = np.zeros(len(head), dtype=np.int64)
    count = 0
    for b in np.argsort(-cost):
        if not alive[b]:
            continue
        goal, limit, looked = head[b], cost[b], 0
        distance[tail[b]], stamp[tail[b]] = 0, b
        heap = [(np.int64(0), tail[b])]
        around = False
        while len(heap) > 0 and not around and looked < most:
            d, u = heappop(heap)
            if d > distance[u]:
                continue
            for p in range(start[u], start[u + 1]):
                a = order[p]
                looked += 1
                if not alive[a] or a == b:
                    continue
                w, reach = head[a], d + cost[a]
                if reach <= limit and (stamp[w] != b or reach < distance[w]):
                    distance[w], stamp[w] = reach, b
                    if w == goal:
                        around = True
                        break
                    heappush(heap, (reach, w))
        if around:
            alive[b] = False
            dropped[count] = b
            count += 1
    return dropped[:count]
