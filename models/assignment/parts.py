"""The parts that an assignment instance is made of, each checked by name: points, tree, fractions, boxes, density."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from yardline.models import checks
from yardline.models.checks import Fields, Indices, Vector


def point(value: object, field: str) -> Vector:
    """A point with at least one coordinate."""
    result = checks.vector(value, field, low=None)
    if not len(result):
        checks.fail(field, [], "at least one coordinate")
    return result


def table(value: object, field: str, shape: tuple[int | None, int | None]) -> Vector:
    """Rows of coordinates; also from a column of lists as Parquet holds them."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        widths = {len(row) for row in value}
        value = np.stack(list(value)) if len(widths) == 1 else [list(map(float, row)) for row in value]
    result = checks.matrix(value, field, shape=shape, low=None)
    if len(result) and not result.shape[1]:
        checks.fail(f"{field}[0]", [], "at least one coordinate")
    return result


def tree(value: object, field: str, count: int) -> Indices:
    """The parent of every broker, -1 for the publisher: every broker leads to the publisher."""
    items = checks.listing(value, field, length=count, of="brokers")
    parent = np.array([checks.integer(p, f"{field}[{b}]", low=-1, high=count - 1) for b, p in enumerate(items)])
    for b in np.flatnonzero(levels(parent) < 0)[:1]:
        cycle = _cycle(parent.tolist(), int(b))
        names = ", ".join(map(str, cycle))
        checks.fail(f"{field}[{cycle[0]}]", int(parent[cycle[0]]), f"a tree, but {names} lead to each other in a cycle")
    return checks.frozen(parent.astype(np.int64))


def levels(parent: Indices) -> Indices:
    """Depth of every broker below the publisher (0: its children); -1 where a cycle keeps it from getting there."""
    depth = np.full(len(parent), -1, dtype=np.int64)
    above = parent.tolist()
    for start in range(len(above)):
        path, seen, b = [], set(), start
        while b >= 0 and depth[b] < 0 and b not in seen:
            seen.add(b)
            path.append(b)
            b = above[b]
        if b >= 0 and depth[b] < 0:
            continue
        base = -1 if b < 0 else depth[b]
        depth[path] = base + np.arange(len(path), 0, -1)
    return depth


def _cycle(parent: list[int], start: int) -> list[int]:
    seen: list[int] = []
    while start not in seen:
        seen.append(start)
        start = parent[start]
    return seen[seen.index(start) :]


def complexities(value: Any, count: int) -> Indices:
    """How many boxes each broker's filter may have."""
    field = "brokers.filter_complexity"
    if (
        isinstance(value, (int, float, np.integer, np.floating))
        or not hasattr(value, "__len__")
        or isinstance(value, str)
    ):
        value = [checks.integer(value, field, low=1)] * count
    items = checks.listing(value, field, length=count, of="brokers")
    numbers = [checks.integer(a, f"{field}[{b}]", low=1) for b, a in enumerate(items)]
    return checks.frozen(np.array([min(a, 2**31) for a in numbers], dtype=np.int64))


def fractions(value: Any, leaves: Indices, count: int) -> Vector:
    """Capacity fractions of the leaves, which sum to 1; what is given for inner brokers is ignored."""
    result = np.zeros(count)
    if value is None:
        result[leaves] = 1.0 / len(leaves)
        return checks.frozen(result)
    given = checks.vector(value, "brokers.capacity", length=count, of="brokers")
    total = float(given[leaves].sum())
    if abs(total - 1.0) > 1e-9:
        raise ValueError(f"brokers.capacity of the leaves sums to {total:.12g}: expected 1")
    result[leaves] = given[leaves]
    return checks.frozen(result)


def check_boxes(low: Vector, high: Vector, field: str) -> None:
    """Refuse boxes whose lower end lies above the upper one."""
    bad = ~(low <= high)
    if bad.any():
        r, k = (int(p) for p in np.argwhere(bad)[0])
        checks.fail(f"{field}.low[{r}][{k}]", float(low[r, k]), f"at most {field}.high[{r}][{k}] = {float(high[r, k])}")


def box(value: object, field: str, dimensions: int) -> tuple[Vector, Vector]:
    """One box of a filter: an object with low and high, or a pair."""
    if isinstance(value, Mapping):
        fields = Fields(value, field)
        value = (fields.need("low"), fields.need("high"))
        fields.done()
    ends = checks.listing(value, field, length=2, of="ends")
    low, high = (
        checks.vector(end, f"{field}.{side}", length=dimensions, low=None, of="coordinates")
        for end, side in zip(ends, ("low", "high"), strict=True)
    )
    for k in np.flatnonzero(low > high)[:1]:
        checks.fail(f"{field}.low[{k}]", float(low[k]), f"at most {field}.high[{k}] = {float(high[k])}")
    return low, high


def density_fields(value: object) -> tuple[Any, Any]:
    """Edges and mass of a density, or nothing."""
    if value is None:
        return None, None
    fields = Fields(value, "density")
    result = fields.need("edges"), fields.need("mass")
    fields.done()
    return result


def grid_edges(value: object, dimensions: int) -> tuple[Vector, ...]:
    """Strictly increasing edges per dimension."""
    rows = checks.listing(value, "density.edges", length=dimensions, of="dimensions")
    result = []
    for k, row in enumerate(rows):
        edges = checks.vector(row, f"density.edges[{k}]", low=None)
        if len(edges) < 2:
            checks.fail(f"density.edges[{k}]", edges.tolist(), "at least two edges")
        for q in np.flatnonzero(np.diff(edges) <= 0)[:1]:
            checks.fail(
                f"density.edges[{k}][{q + 1}]", float(edges[q + 1]), f"more than {float(edges[q])}, the edge before"
            )
        result.append(edges)
    return tuple(result)


def grid_mass(value: object, shape: tuple[int, ...], field: str = "density.mass") -> Vector:
    """The mass of every cell: lists nested as deep as there are dimensions."""
    if len(shape) == 1:
        return checks.vector(value, field, length=shape[0], of="cells")
    rows = checks.listing(value, field, length=shape[0], of="cells")
    inner = [grid_mass(row, shape[1:], f"{field}[{q}]") for q, row in enumerate(rows)]
    return checks.frozen(np.array(inner).reshape(shape))
