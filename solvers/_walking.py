"""Steps of the first-order method (numba): both products and both projections in one pass each."""

from __future__ import annotations

import numpy as np

from yardline.solvers.kernels import kernel


@kernel
def walk(steps, a, at, cost, l, u, low, high, tau, sigma, x, y, sum_x, sum_y):  # type: ignore[no-untyped-def]
    """So many steps from (x, y), in place; a and at are (start, index, value) of the matrix by rows and by columns."""
    ahead = np.empty_like(x)
    for _ in range(steps):
        start, index, value = at
        for j in range(len(x)):
            paid = 0.0
            for e in range(start[j], start[j + 1]):
                paid += value[e] * y[index[e]]
            new = min(u[j], max(l[j], x[j] - tau[j] * (cost[j] - paid)))
            ahead[j], x[j] = 2.0 * new - x[j], new
            sum_x[j] += new
        start, index, value = a
        for i in range(len(y)):
            held = 0.0
            for e in range(start[i], start[i + 1]):
                held += value[e] * ahead[index[e]]
            v = y[i] / sigma[i] - held
            y[i] = sigma[i] * (v + min(high[i], max(low[i], -v)))
            sum_y[i] += y[i]
