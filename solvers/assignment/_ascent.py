"""Entropic dual averaging on cell prices (numba): see solvers/certificates/cells.py for what the letters mean.

Broker b shares out each cell among the types that want it and, as one more party, its capacity. What a cell costs there is the
largest of the parts x[b,j] that b serves of them and of load[b,c] / cap[b]; the best shares go to whoever attains that, so

    a[b,j] = (mean x[b,j] / top[b]) ** power,   m[b,c] = (mean load[b,c] / cap[b] / top[b]) ** power,

where x is what types would choose now (soft minimum), means run over the rounds, top[b] is the largest of b's means, and the
power rises. Powers tell parts apart by their ratio, so they are as sharp in cells of which b serves little as in those of
which it serves much. Bids keep to the range that sums of them can tell apart: smaller ones are raised to its lower end.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TOP, LOW = 20.0, -3.0
"""The largest and the least logarithm of a bid: sums of a wider range would lose their digits."""


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
        block = stride * table[k]
        for first in range(0, len(flat), block):
            for i in range(first + stride, first + block):
                flat[i] += flat[i - stride]
        stride = block


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
def climb(a, room, mean, full, power, x, part, cell, caps, table, corners, sign, weight, start, who, order, loads):  # type: ignore[no-untyped-def]
    """The means move by a part of the way to x; bids and room are powers of them; the load of every broker."""
    size = 1
    for n in table:
        size *= n
    L = np.zeros(size)
    for i in range(len(order)):
        first, last = start[i], start[i + 1]
        _spread(L, table, corners, sign, who, first, last, x, weight, True)
        cap, total, top = max(1, caps[order[i]]), 0.0, 1e-30
        for p in range(first, last):
            mean[p] += part * (x[p] - mean[p])
            top = max(top, mean[p])
            total += x[p] * weight[who[p]]
        for c in range(room.shape[1]):
            full[i, c] += part * (L[cell[c]] / cap - full[i, c])
            top = max(top, full[i, c])
        for p in range(first, last):
            a[p] = _bid(mean[p] / top, power)
        for c in range(room.shape[1]):
            room[i, c] = _bid(full[i, c] / top, power)
        loads[order[i]] = total


@njit(cache=True)
def _bid(ratio, power):  # type: ignore[no-untyped-def]
    """A power of what somebody has of the most, in the range of bids."""
    return np.exp(max(LOW, TOP + power * np.log(max(1e-30, ratio))))
