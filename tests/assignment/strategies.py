"""Tiny assignment instances of every kind, as documents."""

import math

from hypothesis import strategies as st

TREES = [[-1], [-1, -1], [-1, -1, -1], [-1, 0, 0], [-1, 0], [-1, 0, 1], [-1, -1, 0], [-1, -1, 0, 0, 1], [1, -1, 1]]


@st.composite
def documents(draw, containment=None, dimensions=(1, 2), trees=None):
    """A document; small whole coordinates, so that edges coincide often and zero widths occur."""
    containment = containment or draw(st.sampled_from(["rectangle", "union"]))
    d = draw(st.sampled_from(dimensions))
    wide = containment == "union" and d == 2  # the brute force tries all boxes between coordinates there
    flat_trees = [[-1], [-1, -1]]
    parent = draw(st.sampled_from(flat_trees if wide else (trees or TREES)))
    n, m = len(parent), draw(st.integers(1, 3 if wide else 4))
    span = 3 if wide else 5
    low = [[draw(st.integers(0, span - 1)) for _ in range(d)] for _ in range(m)]
    high = [[draw(st.integers(x, span)) for x in row] for row in low]
    document = {
        "publisher": draw(points()),
        "brokers": {"at": [draw(points()) for _ in parent], "parent": parent},
        "subscribers": {"at": [draw(points()) for _ in range(m)], "low": low, "high": high},
        "latency": draw(latencies(m)),
        "load": {"desired": 1, "max": draw(st.sampled_from([1, 1.5, 2, 2, 3, 4]))},
        "containment": containment,
    }
    document["brokers"]["filter_complexity"] = [draw(st.integers(1, 2)) for _ in range(n)]
    leaves = [b for b in range(n) if b not in parent]
    if draw(st.integers(0, 2)) == 0:
        document["brokers"]["capacity"] = draw(fractions(n, leaves))
    if not wide and draw(st.integers(0, 2)) == 0:
        document["density"] = draw(densities(d))
    return document


@st.composite
def points(draw):
    return [draw(st.integers(0, 3)), draw(st.integers(0, 3))]


@st.composite
def latencies(draw, m):
    measure = draw(st.sampled_from(["path", "last_hop"]))
    if draw(st.booleans()):
        return {"max_delay": draw(st.sampled_from([0, 0.25, 1, 1, 9, 9])), "measure": measure}
    return {"max_latency": [draw(st.sampled_from([2, 4, 6, 9, 20, 20])) for _ in range(m)], "measure": measure}


@st.composite
def fractions(draw, n, leaves):
    parts = [draw(st.sampled_from([0, 1, 1, 2, 3])) for _ in leaves]
    parts[0] += 0 if sum(parts) else 1
    total = sum(parts)
    result = [7.0] * n  # what is given for inner brokers is ignored
    for b, part in zip(leaves, parts, strict=True):
        result[b] = part / total
    return result if math.isclose(sum(result[b] for b in leaves), 1, rel_tol=1e-12) else None


@st.composite
def densities(draw, d):
    edges = [sorted(draw(st.sets(st.integers(-1, 6), min_size=2, max_size=3))) for _ in range(d)]
    cells = [len(e) - 1 for e in edges]

    def masses(left):
        return [masses(left[1:]) if len(left) > 1 else draw(st.sampled_from([0, 1, 4, 0.5])) for _ in range(left[0])]

    return {"edges": edges, "mass": masses(cells)}
