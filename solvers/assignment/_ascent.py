"""Entropic dual averaging on cell prices (numba): see solvers/certificates/cells.py for what the letters mean.

Broker b shares out each cell among the types that want it and, as one more party, its capacity. What a cell costs there is the
largest of the parts x[b,j] that b serves of them and of load[b,c] / cap[b]; the best shares go to whoever attains that, so

    a[b,j] = exp(k[b] mean x[b,j]),   m[b,c] = exp(k[b] mean load[b,c] / cap[b]),

where x is what types would choose now (soft minimum), means run over the rounds, and the sharpness k[b] rises until the
exponents fill the range that sums and certificates can tell apart. Exponents beyond it are cut off at the top: whoever has
them shares evenly, while small ones keep their ratios.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TOP, USUAL = 20.0, 14.0
"""The largest exponent of a bid (sums of finer ones would lose their digits), and where those of the cells are on average."""

SHARPEST = 200.0


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
    """What broker i asks its types for, with what is asked above; the mean exponent of its cells, weighted by measure."""
    first, last = start[i], start[i + 1]
    _spread(A, table, corners, sign, who, first, last, a, weight, False)
    shift, stride = 0, 1
    for k in range(len(table) - 1, -1, -1):
        shift += stride
        stride *= table[k]
    R[:] = 0.0
    U[:] = 0.0
    measure, exponent = 0.0, 0.0
    for c in range(len(volume)):
        total = max(A[cell[c]], 0.0) + room[c]
        if wanted[c] and total > 0.0:
            measure += volume[c]
            exponent += volume[c] * np.log(max(1.0, total))
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
    return exponent / measure if measure > 0.0 else 0.0


@njit(cache=True)
def ask(a, room, wanted, parts, volume, cell, caps, table, corners, sign, weight, start, who, up, order, cost, level):  # type: ignore[no-untyped-def]
    """What every pair costs, load prices aside; the mean exponent of every broker."""
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
        level[i] = _ask(i, a, *mine, cost, A, R, U)


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
def climb(  # type: ignore[no-untyped-def]
    a, room, mean, full, sharp, level, x, part, cell, caps, table, corners, sign, weight, start, who, order, loads
):
    """The means move by a part of the way to x, bids and room follow, a little sharper or softer than before so that
    exponents stay about as usual; the load of every broker."""
    size = 1
    for n in table:
        size *= n
    L = np.zeros(size)
    for i in range(len(order)):
        first, last = start[i], start[i + 1]
        _spread(L, table, corners, sign, who, first, last, x, weight, True)
        cap, total = max(1, caps[order[i]]), 0.0
        sharp[i] = 0.97 * sharp[i] if level[i] > USUAL else min(SHARPEST, 1.02 * sharp[i])
        for p in range(first, last):
            mean[p] += part * (x[p] - mean[p])
            a[p] = np.exp(min(TOP, sharp[i] * mean[p]))
            total += x[p] * weight[who[p]]
        loads[order[i]] = total
        for c in range(room.shape[1]):
            full[i, c] += part * (L[cell[c]] / cap - full[i, c])
            room[i, c] = np.exp(min(TOP, sharp[i] * full[i, c]))
