"""What boxes hold (numba): boxes shrink to it, subscribers find the leaves whose filters hold them."""

from __future__ import annotations

import numpy as np

from yardline.solvers.kernels import kernel


@kernel
def _inside(a, c, low, high):  # type: ignore[no-untyped-def]
    for k in range(len(a)):  # noqa: SIM110 (numba)
        if low[k] < a[k] or high[k] > c[k]:
            return False
    return True


@kernel
def counted(a, c, owner, reach, low, high):  # type: ignore[no-untyped-def]
    """How many interests that its owner reaches each box holds; the box shrinks to them, in place."""
    result = np.zeros(len(a), dtype=np.int64)
    for k in range(len(a)):
        new_a, new_c = np.full(a.shape[1], np.inf), np.full(a.shape[1], -np.inf)
        for j in range(len(low)):
            if reach[owner[k], j] and _inside(a[k], c[k], low[j], high[j]):
                result[k] += 1
                for i in range(a.shape[1]):
                    new_a[i], new_c[i] = min(new_a[i], low[j, i]), max(new_c[i], high[j, i])
        a[k], c[k] = new_a, new_c
    return result


@kernel
def listed(a, c, owner, reach, low, high, start):  # type: ignore[no-untyped-def]
    """The interests that each box holds, one box after the other; start: from the counts."""
    result = np.empty(start[-1], dtype=np.int64)
    for k in range(len(a)):
        e = start[k]
        for j in range(len(low)):
            if reach[owner[k], j] and _inside(a[k], c[k], low[j], high[j]):
                result[e] = j
                e += 1
    return result


@kernel
def covering(low, high, of, sets, below, a, c, start):  # type: ignore[no-untyped-def]
    """Subscribers x leaves: a candidate leaf whose child's boxes, a[start[i]:start[i + 1]], hold the interest in one."""
    children = len(start) - 1
    result = np.zeros((len(low), sets.shape[1]), dtype=np.bool_)
    known = np.empty(children, dtype=np.int8)  # 0: not looked at, 1: held, 2: not held
    for s in range(len(low)):
        known[:] = 0
        for l in range(sets.shape[1]):
            if not sets[of[s], l]:
                continue
            i = below[l]
            if known[i] == 0:
                known[i] = 2
                for k in range(start[i], start[i + 1]):
                    if _inside(a[k], c[k], low[s], high[s]):
                        known[i] = 1
                        break
            result[s, l] = known[i] == 1
    return result
