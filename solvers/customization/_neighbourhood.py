"""A plan improved over a few formats at all nodes at once, compiled.

A plan is a table entry[v, f], how node v comes to have format f: NONE (not at all), LINK, SOURCE, or the format that it is
made of.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yardline.solvers.kernels import kernel

NONE, LINK, SOURCE = -1, -2, -3
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@kernel
def _cheapest(price: Floats, c: Floats) -> None:
    """c[A, p]: the cheapest conversion from a set A of the few formats to the p-th of them."""
    k = len(price)
    for p in range(k):
        c[0, p] = np.inf
    for e in range(k):
        for A in range(1 << e):
            for p in range(k):
                c[A + (1 << e), p] = min(c[A, p], price[e, p])


@kernel
def _origins(entry: Ints, place: Ints, i: int, top: Ints, locked: Flags) -> None:
    """Where the formats outside S at node i come from.

    top[g]: NONE where i does not have g, LINK where it comes without S, else the format at the end of its chain of conversions
    that is made directly from a format of S. locked[d]: some format of S is made from such a chain that begins with d.
    """
    for f in range(len(place)):
        top[f], locked[f] = NONE, False
        if place[f] >= 0 or entry[i, f] == NONE:
            continue
        g = f
        while entry[i, g] >= 0 and place[entry[i, g]] < 0:
            g = entry[i, g]
        top[f] = g if entry[i, g] >= 0 else LINK
    for f in range(len(place)):
        if place[f] >= 0 and entry[i, f] >= 0 and place[entry[i, f]] < 0 and top[entry[i, f]] >= 0:
            locked[top[entry[i, f]]] = True


@kernel
def _prices(entry: Ints, price: Floats, place: Ints, S: Ints, i: int, top: Ints, locked: Flags, among: Floats) -> bool:
    """Conversions among S at node i, by way of locked chains too; whether there are any such."""
    chains = False
    for p in range(len(S)):
        for q in range(len(S)):
            among[p, q] = price[S[p], S[q]]
    for g in range(len(place)):
        if top[g] >= 0 and locked[top[g]]:
            chains = True
            e = place[entry[i, top[g]]]
            for q in range(len(S)):
                among[e, q] = min(among[e, q], price[g, S[q]])
    return chains


@kernel
def _feeder(
    entry: Ints, price: Floats, send: Floats, work: float, parent: int, i: int, g: int, top: Ints
) -> tuple[float, int]:
    """The cheapest way to have format g at node i without S, and its cost."""
    least, by = np.inf, NONE
    if i > 0 and entry[parent, g] != NONE:
        least, by = send[i, g], LINK
    for e in range(len(top)):
        if top[e] == LINK and work * price[e, g] < least:
            least, by = work * price[e, g], e
    return least, by


@kernel
def improve(
    parent: Ints, order: Ints, wanted: Flags, price: Floats, work: Floats, send: Floats, entry: Ints, S: Ints
) -> None:
    """Make entry cheapest over the formats of S, while the others stay where they are; then drop what nobody needs.

    order: the nodes that count, children first. The recursion is that of certificates/sets.py over subsets of S; formats
    outside S that a node has without S are sources for free, those made from S have to be fed by S again (or otherwise).
    """
    n, m, k = len(parent), price.shape[0], len(S)
    size = 1 << k
    place = np.full(m, -1)
    for p in range(k):
        place[S[p]] = p
    plain, mixed, among = np.empty((size, k)), np.empty((size, k)), np.empty((k, k))
    top, locked = np.full(m, NONE), np.zeros(m, dtype=np.bool_)
    _prices(entry, price, place, S, 0, top, locked, among)
    _cheapest(among, plain)
    H = np.zeros((n, size))
    made, left = np.zeros((n, size), dtype=np.uint8), np.zeros((n, size), dtype=np.uint8)
    base, fed = np.zeros(k), np.zeros(size)
    for i in order:
        _origins(entry, place, i, top, locked)
        c = plain
        if _prices(entry, price, place, S, i, top, locked, among):
            _cheapest(among, mixed)
            c = mixed
        for p in range(k):
            base[p] = np.inf
            for e in range(m):
                if top[e] == LINK:
                    base[p] = min(base[p], work[i] * price[e, S[p]])
            if wanted[i, S[p]]:
                for B in range(size):
                    if not (B >> p) & 1:
                        H[i, B] = np.inf
        for g in range(m):
            if top[g] == g:
                fed[0], _ = _feeder(entry, price, send, work[i], parent[i], i, g, top)
                for p in range(k):
                    usable = not locked[g] or entry[i, g] == S[p]
                    cost = work[i] * price[S[p], g] if usable else np.inf
                    for B in range(1 << p):
                        fed[B + (1 << p)] = cost if cost < fed[B] else fed[B]
                for B in range(size):
                    H[i, B] += fed[B]
        for A in range(size - 1, -1, -1):
            least, step = H[i, A], k
            for p in range(k):
                if not (A >> p) & 1:
                    cost = work[i] * c[A, p]
                    if not cost < base[p]:
                        cost = base[p]
                    trial = cost + H[i, A | (1 << p)]
                    if trial < least:
                        least, step = trial, p
            H[i, A] = least
            made[i, A] = step
        if i == 0:
            continue
        for B in range(size):
            sent = 0.0
            for p in range(k):
                if (B >> p) & 1:
                    sent += send[i, S[p]]
            least, step = sent + H[i, B], k
            for p in range(k):
                if (B >> p) & 1 and H[i, B ^ (1 << p)] < least:
                    least, step = H[i, B ^ (1 << p)], p
            H[i, B] = least
            left[i, B] = step
        for B in range(size):
            H[parent[i], B] += H[i, B]
    _rewrite(parent, order, price, work, send, entry, S, place, made, left)
    _prune(parent, order, wanted, entry)


@kernel
def _rewrite(
    parent: Ints, order: Ints, price: Floats, work: Floats, send: Floats, entry: Ints, S: Ints, place: Ints,
    made: NDArray[np.uint8], left: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Put down what the recursion chose, from the root down."""
    k, m = len(S), len(place)
    ended = np.zeros(len(parent), dtype=np.int64)
    top, locked = np.full(m, NONE), np.zeros(m, dtype=np.bool_)
    before = entry.copy()
    for q in range(len(order) - 1, -1, -1):
        i = order[q]
        _origins(before, place, i, top, locked)
        A = 0
        if i == 0:
            for p in range(k):
                if entry[0, S[p]] == SOURCE:
                    A |= 1 << p
        else:
            A = ended[parent[i]]
            while left[i, A] < k:
                A ^= 1 << left[i, A]
        for p in range(k):
            if (A >> p) & 1:
                entry[i, S[p]] = LINK if i > 0 else SOURCE
            else:
                entry[i, S[p]] = NONE
        while made[i, A] < k:
            p = made[i, A]
            least, by = np.inf, NONE
            for e in range(m):
                if place[e] >= 0:
                    there = (A >> place[e]) & 1 == 1
                elif top[e] >= 0:
                    there = locked[top[e]] and (A >> place[before[i, top[e]]]) & 1 == 1
                else:
                    there = top[e] == LINK
                if there and work[i] * price[e, S[p]] < least:
                    least, by = work[i] * price[e, S[p]], e
            entry[i, S[p]] = by
            A |= 1 << p
        ended[i] = A
        for g in range(m):
            if top[g] == g:
                least, by = _feeder(before, price, send, work[i], parent[i], i, g, top)
                for p in range(k):
                    usable = (A >> p) & 1 == 1 and (not locked[g] or before[i, g] == S[p])
                    if usable and work[i] * price[S[p], g] < least:
                        least, by = work[i] * price[S[p], g], S[p]
                entry[i, g] = by


@kernel
def _prune(parent: Ints, order: Ints, wanted: Flags, entry: Ints) -> None:
    """Drop what no request needs."""
    need = wanted.copy()
    for i in order:
        for f in range(entry.shape[1]):
            g = f
            while need[i, f] and entry[i, g] >= 0:
                g = entry[i, g]
                need[i, g] = True
        for f in range(entry.shape[1]):
            if not need[i, f]:
                if entry[i, f] != SOURCE:
                    entry[i, f] = NONE
            elif entry[i, f] == LINK:
                need[parent[i], f] = True


@kernel
def spell_out(entry: Ints, before: Ints) -> None:
    """Put the conversions of cheapest chains in the place of steps that stand for them; before[e, g]: the last but one."""
    m = entry.shape[1]
    stack, step, there = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.bool_)
    for i in range(entry.shape[0]):
        for f in range(m):
            step[f] = entry[i, f]
            there[f] = step[f] == LINK or step[f] == SOURCE
        for f in range(m):
            depth, g = 0, f
            while step[f] != NONE and not there[g]:
                stack[depth] = g
                depth += 1
                g = step[g]
            while depth > 0:
                depth -= 1
                g = stack[depth]
                e = step[g]
                while not there[g]:  # ends at e at the latest
                    entry[i, g] = before[e, g]
                    there[g] = True
                    g = before[e, g]


@kernel
def cost_of(price: Floats, work: Floats, send: Floats, entry: Ints) -> float:
    """What the plan costs."""
    total = 0.0
    for i in range(entry.shape[0]):
        for f in range(entry.shape[1]):
            if entry[i, f] == LINK:
                total += send[i, f]
            elif entry[i, f] >= 0:
                total += work[i] * price[entry[i, f], f]
    return total
