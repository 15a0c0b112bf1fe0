"""A linear or mixed-integer program as arrays: what solvers take and certificates speak about.

    min  offset + cost'x    row_low <= matrix x <= row_high,  col_low <= x <= col_high,  x[integer] whole

Every column has finite bounds, so that any row multipliers give a finite bound (see solvers/certificates).
Columns that are `implied` come out whole by themselves in some optimum once the others are: nobody need branch on them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from yardline.models.checks import Indices, Vector, frozen

INF = float("inf")
Index = NDArray[np.int64] | Sequence[Sequence[int]]


@dataclass(frozen=True, eq=False)
class Family:
    """Columns (or rows) of one name with their indices: x(0,1), x(0,2), ..."""

    name: str
    index: Indices  # one row per member, one column per index position
    start: int

    @property
    def span(self) -> slice:
        """Where its members stand among all columns (rows)."""
        return slice(self.start, self.start + len(self.index))

    def names(self) -> Iterator[str]:
        """The members' names, readable by every solver's file format."""
        for row in self.index.tolist():
            yield f"{self.name}({','.join(map(str, row))})" if row else self.name


class Names(Sequence[str]):
    """The names of all columns (rows), written out when first asked for."""

    def __init__(self, families: Sequence[Family]) -> None:
        self.families = tuple(families)

    @cached_property
    def _all(self) -> list[str]:
        return [name for family in self.families for name in family.names()]

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[str]: ...
    def __getitem__(self, position: int | slice) -> str | Sequence[str]:
        return self._all[position]

    def __len__(self) -> int:
        return sum(len(family.index) for family in self.families)


@dataclass(frozen=True, eq=False, kw_only=True)
class Program:
    """min offset + cost'x with row_low <= matrix x <= row_high and finite column bounds."""

    cost: Vector
    matrix: csr_array
    row_low: Vector
    row_high: Vector
    col_low: Vector
    col_high: Vector
    integer: NDArray[np.bool_]
    implied: NDArray[np.bool_]
    columns: Sequence[str]
    rows: Sequence[str]
    offset: float = 0.0

    def __post_init__(self) -> None:
        for low, high, names in (
            (self.col_low, self.col_high, self.columns),
            (self.row_low, self.row_high, self.rows),
        ):
            for bad in np.flatnonzero(~(low <= high))[:1]:
                raise ValueError(f"{names[bad]} lies between {low[bad]} and {high[bad]}: expected low <= high")
        for bad in np.flatnonzero(~(np.isfinite(self.col_low) & np.isfinite(self.col_high)))[:1]:
            raise ValueError(f"column {self.columns[bad]} is not bounded on both sides: give it finite bounds")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, columns."""
        return self.matrix.shape[0], self.matrix.shape[1]

    def value(self, point: Vector) -> float:
        """The objective at a point."""
        return float(self.offset + self.cost @ point)

    def violation(self, point: Vector) -> float:
        """By how much a point breaks the worst row or column bound (integrality not looked at)."""
        rows = self.matrix @ point
        parts = (self.row_low - rows, rows - self.row_high, self.col_low - point, point - self.col_high)
        return max(0.0, *(float(part.max(initial=0.0)) for part in parts))

    def rounded(self, point: Vector) -> Vector:
        """The point with its integer columns at the nearest whole number."""
        return np.where(self.integer, np.round(point), point)

    def family(self, name: str) -> Family:
        """A family of columns by name (array-assembled programs only)."""
        families = self.columns.families if isinstance(self.columns, Names) else ()
        for family in families:
            if family.name == name:
                return family
        raise KeyError(name)

    def chosen(self, point: Vector) -> dict[str, Indices]:
        """Per family of columns, the indices of those at 1: what a plan is decoded from."""
        families = self.columns.families if isinstance(self.columns, Names) else ()
        return {family.name: family.index[point[family.span] > 0.5] for family in families}

    @cached_property
    def hash(self) -> str:
        """Sha256 of the program, independent of the order of its rows and columns' storage."""
        digest = hashlib.sha256()
        tidy = self.matrix.copy()
        tidy.sum_duplicates()
        for part in (
            *(self.cost, self.row_low, self.row_high, self.col_low, self.col_high, self.integer),
            *(tidy.data, tidy.indices, tidy.indptr),
        ):
            digest.update(np.ascontiguousarray(part, dtype="<f8").tobytes())
        digest.update(repr(float(self.offset)).encode())
        return digest.hexdigest()


ALONE: Index = ((),)
"""The index of a family of one member: its name is the family's."""


class Builder:
    """Collects families of columns and rows, then their entries, and makes the program."""

    def __init__(self) -> None:
        self._columns: list[Family] = []
        self._rows: list[Family] = []
        self._column_data: list[tuple[Vector, Vector, Vector, Vector, Vector]] = []
        self._row_data: list[tuple[Vector, Vector]] = []
        self._entries: list[tuple[Indices, Indices, Vector]] = []

    def columns(
        self,
        name: str,
        index: Index,
        *,
        cost: Vector | float = 0.0,
        low: Vector | float = 0.0,
        high: Vector | float = 1.0,
        integer: bool = True,
        implied: bool = False,
    ) -> Indices:
        """A family of columns; returns their positions."""
        family = _family(name, index, self._columns)
        count = len(family.index)
        self._columns.append(family)
        self._column_data.append(tuple(_spread(v, count) for v in (cost, low, high, integer, implied)))  # type: ignore[arg-type]
        return np.arange(family.start, family.start + count)

    def rows(
        self,
        name: str,
        index: Index,
        *,
        low: Vector | float = -INF,
        high: Vector | float = INF,
    ) -> Indices:
        """A family of rows; returns their positions."""
        family = _family(name, index, self._rows)
        count = len(family.index)
        self._rows.append(family)
        self._row_data.append((_spread(low, count), _spread(high, count)))
        return np.arange(family.start, family.start + count)

    def entries(self, rows: Indices | int, columns: Indices, values: Vector | float = 1.0) -> None:
        """Matrix entries; those of one place add up."""
        count = len(columns)
        self._entries.append((np.broadcast_to(np.asarray(rows), count), columns, _spread(values, count)))

    def program(self, *, offset: float = 0.0) -> Program:
        """The program collected so far."""
        columns, rows = Names(self._columns), Names(self._rows)
        cost, low, high, whole, implied = _joined(self._column_data, 5)
        row_low, row_high = _joined(self._row_data, 2)
        r, c, v = _joined(self._entries, 3)
        shape = (len(rows), len(columns))
        matrix = csr_array(coo_array((v, (r.astype(np.int64), c.astype(np.int64))), shape=shape))
        matrix.sum_duplicates()
        return Program(
            cost=frozen(cost),
            matrix=matrix,
            row_low=frozen(row_low),
            row_high=frozen(row_high),
            col_low=frozen(low),
            col_high=frozen(high),
            integer=frozen(whole.astype(bool)),
            implied=frozen(implied.astype(bool)),
            columns=columns,
            rows=rows,
            offset=offset,
        )


def _family(name: str, index: Index, before: list[Family]) -> Family:
    array = np.asarray(index, dtype=np.int64)
    start = before[-1].span.stop if before else 0
    return Family(name, array.reshape(len(array), -1) if array.size else np.zeros((len(array), 0), np.int64), start)


def _spread(value: Vector | float, count: int) -> Vector:
    return np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), count))


def _joined(parts: Sequence[tuple[NDArray[np.generic], ...]], width: int) -> list[Vector]:
    return [
        np.concatenate([part[w] for part in parts]).astype(np.float64) if parts else np.zeros(0) for w in range(width)
    ]
