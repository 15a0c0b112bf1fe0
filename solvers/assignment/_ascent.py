"""Entropic mirror ascent on cell prices (numba): see solvers/certificates/cells.py for what the letters mean.

Broker b shares out each cell among the types that want it and, as one more party, its capacity: shares are proportional to
a[b,j] and m[b,c], which grow by exp(step * x[b,j]) and exp(step * load[b,c] / cap[b]), where x is what types would choose now
(soft minimum) and load what that makes of the cell.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SMALLEST = 1e-7
"""Of the largest bid: certificates tell no finer ones apart, and sums of finer ones would lose their digits."""


@njit(cache=True)
def wanted_cells(cell, table, corners, sign, weight, start, who, count):  # type: ignore[no-untyped-def]
    """Brokers in order x cells: whether a type of the broker wants the cell."""
    size = 1
    for n in table:
        size *= n
    L, ones = np.zeros(size), np.ones(start[-1])
    result = np.zeros((count, len(cell)), dtype=np.bool_)
    for i in range(count):
        _spread(L, table, corners, sign, who, start[i], start[i + 1], ones, weight, False)
        for c in range(len(cell)):
            result[i, c] = L[cell[c]] > 0.5
    return result


@njit(cache=True)
def _sum_up(flat, table):  # type: ignore[no-untyped-def]
    """Sums along each dimension, in place."""
    stride = 1
    for k in range(len(table) - 1, -1, -1):
        for i in range(len(flat)):
            if (i // stride) % table[k] > 0:
                flat[i] += flat[i - stride]
        stride *= table[k]


@njit(cache=True)
def _spread(flat, table, corners, sign, who, first, last, amounts, weight, by_weight):  # type: ignore[no-untyped-def]
    """Per cell (in a table one larger), the sum of amounts over the types of the pairs first:last that want it."""
    flat[:] = 0.0
    odd = -1.0 if len(table) % 2 else 1.0
    for p in range(first, last):
        t = who[p]
        value = odd * amounts[p] * (weight[t] if by_weight else 1.0)
        for q in range(len(sign)):
            flat[corners[t, q]] += sign[q] * value
    _sum_up(flat, table)


@njit(cache=True)
def _ask(i, a, room, wanted, volume, cell, cap, table, corners, sign, weight, start, who, up, cost, A, R, U):  # type: ignore[no-untyped-def]
    """What broker i asks its types for, with what is asked above."""
    first, last = start[i], start[i + 1]
    _spread(A, table, corners, sign, who, first, last, a, weight, False)
    shift, stride = 0, 1
    for k in range(len(table) - 1, -1, -1):
        shift += stride
        stride *= table[k]
    R[:] = 0.0
    U[:] = 0.0
    for c in range(len(volume)):
        total = max(A[cell[c]], 0.0) + room[c]
        if wanted[c] and total > 0.0:
            R[cell[c] + shift] = volume[c] / total
            U[cell[c] + shift] = volume[c] / total * room[c] / cap
    _sum_up(R, table)
    _sum_up(U, table)
    for p in range(first, last):
        t = who[p]
        rate, spare = 0.0, 0.0
        for q in range(len(sign)):
            rate += sign[q] * R[corners[t, q]]
            spare += sign[q] * U[corners[t, q]]
        cost[p] = max(0.0, a[p] * rate + weight[t] * spare) + (cost[up[p]] if up[p] >= 0 else 0.0)


@njit(cache=True)
def ask(a, room, wanted, parts, volume, cell, caps, table, corners, sign, weight, start, who, up, order, cost):  # type: ignore[no-untyped-def]
    """What every pair costs, load prices aside."""
    size = 1
    for n in table:
        size *= n
    A, R, U = np.zeros(size), np.zeros(size), np.zeros(size)
    for i in range(len(order)):
        b = order[i]
        mine = (
            room[i],
            wanted[i],
            volume * parts[b],
            cell,
            max(1, caps[b]),
            table,
            corners,
            sign,
            weight,
            start,
            who,
            up,
        )
        _ask(i, a, *mine, cost, A, R, U)


@njit(cache=True)
def choose(cost, prices, is_leaf, weight, start, who, up, order, heat, x, least, norm):  # type: ignore[no-untyped-def]
    """What types pay at least, and the parts of them that brokers get when they choose softly."""
    least[:] = np.inf
    norm[:] = 0.0
    for i in range(len(order)):
        if is_leaf[order[i]]:
            price = prices[order[i]]
            for p in range(start[i], start[i + 1]):
                least[who[p]] = min(least[who[p]], cost[p] + weight[who[p]] * price)
    for i in range(len(order)):
        price = prices[order[i]]
        for p in range(start[i], start[i + 1]):
            x[p] = 0.0
            if is_leaf[order[i]]:
                t = who[p]
                over = (cost[p] + weight[t] * price - least[t]) / (heat * least[t] + 1e-300)
                x[p] = np.exp(-over) if over < 9.0 else 0.0
                norm[t] += x[p]
    for i in range(len(order) - 1, -1, -1):
        leaf = is_leaf[order[i]]
        for p in range(start[i], start[i + 1]):
            if leaf:
                x[p] /= norm[who[p]]
            if up[p] >= 0:
                x[up[p]] += x[p]


@njit(cache=True)
def climb(a, room, x, step, cell, caps, table, corners, sign, weight, start, who, order, loads):  # type: ignore[no-untyped-def]
    """One step of a and m; the load of every broker."""
    size = 1
    for n in table:
        size *= n
    L = np.zeros(size)
    for i in range(len(order)):
        first, last = start[i], start[i + 1]
        _spread(L, table, corners, sign, who, first, last, x, weight, True)
        cap, largest, total = max(1, caps[order[i]]), 0.0, 0.0
        for p in range(first, last):
            if x[p] > 0.0:
                quarter = 1.0 + 0.25 * step * x[p]  # (1 + z/4)**4 for exp(z)
                a[p] *= quarter * quarter * quarter * quarter
            largest = max(largest, a[p])
            total += x[p] * weight[who[p]]
        loads[order[i]] = total
        for c in range(room.shape[1]):
            room[i, c] *= np.exp(step * min(1.5, L[cell[c]] / cap))
            largest = max(largest, room[i, c])
        for p in range(first, last):
            a[p] = max(a[p] / largest, SMALLEST)
        for c in range(room.shape[1]):
            room[i, c] = max(room[i, c] / largest, SMALLEST)
