"""Checks of an overlay's own fields: matrices with gaps, core costs, links and trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from yardline.models import checks
from yardline.models.checks import Fields, Indices, Vector
from yardline.models.numbers import EPS

INF = float("inf")


@dataclass(frozen=True, eq=False)
class Trees:
    """Links per (source broker, channel): those of index[p] are links[pointers[p]:pointers[p+1]]."""

    index: Indices  # source, channel; one row per tree, each once
    pointers: Indices
    links: Indices  # one row per link, lower broker first

    def __iter__(self) -> Iterator[tuple[int, int, Indices]]:
        for p, (source, channel) in enumerate(self.index.tolist()):
            yield source, channel, self.links[self.pointers[p] : self.pointers[p + 1]]

    @property
    def owner(self) -> Indices:
        """The tree that each link belongs to."""
        return np.repeat(np.arange(len(self.index)), np.diff(self.pointers))


def stacked(value: object) -> object:
    """Rows that arrive as arrays (from a table) as one array; everything else as it is."""
    if not isinstance(value, (list, np.ndarray)) or not len(value):
        return value
    if all(isinstance(row, np.ndarray) and row.dtype.kind in "iuf" for row in value):
        rows = [row for row in value if isinstance(row, np.ndarray)]
        return np.stack(rows) if len({row.shape for row in rows}) == 1 else [row.tolist() for row in rows]
    return value


def core_cost(value: object) -> Vector:
    """A square symmetric matrix with a zero diagonal."""
    value = stacked(value)
    size = len(checks.listing(value, "core_cost"))
    if size == 0:
        raise ValueError("core_cost has 0 rows: expected at least one broker")
    cost = checks.matrix(value, "core_cost", shape=(size, size))
    for b in np.flatnonzero(np.diag(cost))[:1]:
        checks.fail(f"core_cost[{b}][{b}]", float(cost[b, b]), "0: a broker reaches itself for nothing")
    for i, j in np.argwhere(cost != cost.T)[:1].tolist():
        checks.fail(f"core_cost[{i}][{j}]", float(cost[i, j]), f"core_cost[{j}][{i}], which is {float(cost[j, i])!r}")
    return cost


def check_triangles(cost: Vector) -> None:
    """Refuse a claimed metric that is none, naming a triple."""
    for k in range(len(cost)):
        way = (cost[:, k, None] + cost[k]) * (1 + EPS)
        for i, j in np.argwhere(cost > way)[:1].tolist():
            direct, around = float(cost[i, j]), float(cost[i, k] + cost[k, j])
            raise ValueError(
                f"metric is true, but core_cost[{i}][{j}] is {direct:g}, more than the {around:g} over broker {k} "
                f"(triple {i}, {k}, {j}): expected the triangle inequality, or no claim"
            )


def subscriptions(value: object, users: int, channels: int) -> csr_array:
    """A channel set per user."""
    return checks.index_sets(value, "subscribes", bound=channels, length=users, of="users")


def matrix_with_gaps(value: object, field: str, shape: tuple[int, int], gap: str) -> Vector:
    """Numbers >= 0, or gaps (null in lists; not a number or infinite in arrays), which become infinite."""
    rows = checks.listing(stacked(value), field, length=shape[0], of="rows")
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        if rows.shape[1] != shape[1]:
            raise ValueError(f"{field} has rows of {rows.shape[1]} numbers: expected {shape[1]}")
        return _array_with_gaps(rows, field, gap)
    if shape[0] == 0:
        return checks.frozen(np.zeros(shape))
    parts = [vector_with_gaps(row, f"{field}[{r}]", shape[1], gap) for r, row in enumerate(rows)]
    return checks.frozen(np.stack(parts))


def vector_with_gaps(value: object, field: str, length: int, gap: str) -> Vector:
    """The same for one row."""
    items = checks.listing(value, field, length=length, of="numbers")
    if isinstance(items, np.ndarray) and items.dtype.kind in "iuf":
        return _array_with_gaps(items, field, gap)
    for p, item in enumerate(items):
        if item is not None and (isinstance(item, bool) or not isinstance(item, (int, float, np.number))):
            checks.fail(f"{field}[{p}]", item, f"a number >= 0 ({gap})")
    known = checks.vector([0.0 if item is None else _plain(item) for item in items], field)
    missing = np.array([item is None for item in items], dtype=bool)
    return checks.frozen(np.where(missing, INF, known))


def _plain(item: Any) -> int | float:
    """A number of numpy's as Python's; whole numbers of any size stay as they are."""
    return item.item() if isinstance(item, np.number) else item  # type: ignore[no-any-return]


def _array_with_gaps(array: Any, field: str, gap: str) -> Vector:
    if array.dtype.kind not in "iuf":
        checks.fail(field, array.dtype.name, f"an array of numbers ({gap})")
    result = np.array(array, dtype=np.float64) + 0.0
    result[np.isnan(result)] = INF
    for where in np.argwhere(result < 0)[:1].tolist():
        place = field + "".join(f"[{p}]" for p in where)
        checks.fail(place, float(result[tuple(where)]), f"a number >= 0 ({gap})")
    return checks.frozen(result)


def with_nulls(row: Vector) -> list[float | None]:
    """A row with gaps as JSON has it."""
    return [None if entry == INF else entry for entry in row.tolist()]


def links(value: object, field: str, brokers: int) -> Indices:
    """Links between two different brokers, each once: lower broker first, sorted."""
    rows = checks.listing(value, field)
    for r, row in enumerate(rows):
        checks.listing(row, f"{field}[{r}]", length=2, of="brokers")
    ends = [[row[side] for row in rows] for side in (0, 1)]
    pairs = np.sort(np.stack([checks.index_vector(side, field, bound=brokers) for side in ends], axis=1), axis=1)
    for r in np.flatnonzero(pairs[:, 0] == pairs[:, 1])[:1]:
        checks.fail(f"{field}[{r}]", pairs[r].tolist(), "a link between two different brokers")
    once, counts = np.unique(pairs[:, 0] * brokers + pairs[:, 1], return_counts=True)
    for code in once[counts > 1][:1].tolist():
        raise ValueError(f"{field} names link [{code // brokers}, {code % brokers}] twice: expected each link once")
    return checks.frozen(np.stack([once // brokers, once % brokers], axis=1))


def trees(value: object, brokers: int, channels: int) -> Trees:
    """Trees from objects {"source", "channel", "links"} or from triples (source, channel, links)."""
    if isinstance(value, Trees):
        return value
    index: list[tuple[int, int]] = []
    parts: list[Indices] = []
    for p, item in enumerate(checks.listing(value, "trees")):
        source, channel, given = _tree(item, f"trees[{p}]")
        index.append(
            (
                checks.integer(source, f"trees[{p}].source", high=brokers - 1),
                checks.integer(channel, f"trees[{p}].channel", high=channels - 1),
            )
        )
        parts.append(links(given, f"trees[{p}].links", brokers))
    if len(set(index)) < len(index):
        source, channel = next(pair for p, pair in enumerate(index) if pair in index[:p])
        raise ValueError(f"trees names source {source} and channel {channel} twice: expected one tree for each pair")
    pointers = np.cumsum([0, *(len(part) for part in parts)])
    flat = np.concatenate([np.zeros((0, 2), np.int64), *parts])
    pairs = np.array(index, dtype=np.int64).reshape(-1, 2)
    return Trees(checks.frozen(pairs), checks.frozen(pointers), checks.frozen(flat))


def _tree(item: object, field: str) -> Sequence[Any]:
    if isinstance(item, tuple) and len(item) == 3:
        return item
    fields = Fields(item, field)
    parts = fields.need("source"), fields.need("channel"), fields.need("links")
    fields.done()
    return parts
