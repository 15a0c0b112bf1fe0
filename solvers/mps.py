"""Programs as MPS files: written for any other solver, read back without losing a bit.

Numbers are written so that they come back as the same float64, so a program keeps its hash through a file; that is what lets
`verify` check a certificate of a user's own model against the exported file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array, csr_array

from yardline.models.checks import Vector
from yardline.models.program import Program

OBJECTIVE = "cost"


def text(program: Program, *, names: bool = True, relax: bool = False) -> str:
    """The program in free MPS; without `names`, columns and rows are numbered."""
    return "\n".join(_lines(program, names, relax)) + "\n"


def _lines(program: Program, names: bool, relax: bool) -> Iterator[str]:
    rows = _names(program.rows, "r", names)
    columns = _names(program.columns, "c", names)
    yield "NAME yardline FREE"  # CBC takes short names for the fixed format otherwise
    yield "ROWS"
    yield f" N {OBJECTIVE}"
    kinds = [_kind(low, high) for low, high in zip(program.row_low, program.row_high, strict=True)]
    yield from (f" {kind} {row}" for kind, row in zip(kinds, rows, strict=True))
    yield "COLUMNS"
    yield from _columns(program, rows, columns, relax)
    yield "RHS"
    if program.offset:
        yield f" RHS {OBJECTIVE} {-program.offset!r}"
    for kind, row, low, high in zip(kinds, rows, program.row_low.tolist(), program.row_high.tolist(), strict=True):
        side = high if kind == "L" else low
        if kind != "N" and side:
            yield f" RHS {row} {side!r}"
    yield "RANGES"
    for kind, row, low, high in zip(kinds, rows, program.row_low.tolist(), program.row_high.tolist(), strict=True):
        if kind == "G" and high < math.inf:
            yield f" RNG {row} {_range(low, high)!r}"
    yield "BOUNDS"
    for column, low, high in zip(columns, program.col_low.tolist(), program.col_high.tolist(), strict=True):
        yield f" LO BND {column} {low!r}"
        yield f" UP BND {column} {high!r}"
    yield "ENDATA"


def _names(given: Sequence[str], letter: str, names: bool) -> list[str]:
    """Names as MPS can hold them: no blanks, each once; else numbers."""
    if names:
        plain = ["_".join(name.split()) or letter for name in given]
        if len(set(plain)) == len(plain) and OBJECTIVE not in plain:
            return plain
    return [f"{letter}{position}" for position in range(len(given))]


def _kind(low: float, high: float) -> str:
    if low == high:
        return "E"
    if low > -math.inf:
        return "G"
    return "L" if high < math.inf else "N"


def _range(low: float, high: float) -> float:
    """The width that gives `high` back when added to `low`."""
    width = high - low
    for candidate in (width, math.nextafter(width, math.inf), math.nextafter(width, -math.inf)):
        if low + candidate == high:
            return candidate
    raise ValueError(f"a row between {low!r} and {high!r} cannot be written to MPS without loss")


def _columns(program: Program, rows: list[str], columns: list[str], relax: bool) -> Iterator[str]:
    by_column = program.matrix.tocsc()
    by_column.sort_indices()
    whole = False
    for j, column in enumerate(columns):
        if not relax and bool(program.integer[j]) != whole:
            whole = not whole
            yield f" MARKER 'MARKER' '{'INTORG' if whole else 'INTEND'}'"
        yield f" {column} {OBJECTIVE} {float(program.cost[j])!r}"
        for position in range(by_column.indptr[j], by_column.indptr[j + 1]):
            yield f" {column} {rows[by_column.indices[position]]} {float(by_column.data[position])!r}"
    if whole:
        yield " MARKER 'MARKER' 'INTEND'"


def read(path: Path) -> Program:
    """The program in an MPS file (free format, minimisation), as this module writes it."""
    reader = _Reader()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            reader.take(line)
        except (ValueError, IndexError, KeyError) as error:
            raise ValueError(f"line {number}: {line.strip()[:60]!r} is not understood ({error})") from None
    return reader.program()


class _Reader:
    """MPS line by line."""

    def __init__(self) -> None:
        self.section = ""
        self.whole = False
        self.kinds: list[str] = []
        self.row_of: dict[str, int] = {}
        self.column_of: dict[str, int] = {}
        self.integer: list[bool] = []
        self.cost: dict[int, float] = {}
        self.entries: list[tuple[int, int, float]] = []
        self.sides: dict[int, float] = {}
        self.ranges: dict[int, float] = {}
        self.bounds: dict[tuple[str, int], float] = {}
        self.offset = 0.0
        self.objective = ""

    def take(self, line: str) -> None:
        words = line.split()
        if not words or line.startswith("*"):
            return
        if not line[0].isspace():
            self.section = words[0]
            if self.section not in ("NAME", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA"):
                raise ValueError(f"unknown section {self.section}")
            return
        getattr(self, f"_{self.section.lower()}")(words)

    def _rows(self, words: list[str]) -> None:
        kind, name = words
        if kind == "N" and not self.objective:
            self.objective = name
        else:
            self.row_of[name] = len(self.kinds)
            self.kinds.append(kind)

    def _columns(self, words: list[str]) -> None:
        if words[1] == "'MARKER'":
            self.whole = words[2] == "'INTORG'"
            return
        column = self.column_of.setdefault(words[0], len(self.column_of))
        if column == len(self.integer):
            self.integer.append(self.whole)
        for name, value in zip(words[1::2], words[2::2], strict=True):
            if name == self.objective:
                self.cost[column] = float(value)
            else:
                self.entries.append((self.row_of[name], column, float(value)))

    def _rhs(self, words: list[str]) -> None:
        for name, value in zip(words[1::2], words[2::2], strict=True):
            if name == self.objective:
                self.offset = -float(value)
            else:
                self.sides[self.row_of[name]] = float(value)

    def _ranges(self, words: list[str]) -> None:
        for name, value in zip(words[1::2], words[2::2], strict=True):
            self.ranges[self.row_of[name]] = float(value)

    def _bounds(self, words: list[str]) -> None:
        kind, _, name, *value = words
        column = self.column_of[name]
        if kind == "BV":
            self.bounds["LO", column], self.bounds["UP", column], self.integer[column] = 0.0, 1.0, True
        elif kind == "FX":
            self.bounds["LO", column] = self.bounds["UP", column] = float(value[0])
        elif kind in ("LO", "UP"):
            self.bounds[kind, column] = float(value[0])
        else:
            raise ValueError(f"bound {kind} leaves the column without a limit: expected LO, UP, FX or BV")

    def program(self) -> Program:
        """What the lines added up to."""
        rows, columns = len(self.kinds), len(self.column_of)
        low, high = (np.array([self._side(r, upper) for r in range(rows)]) for upper in (False, True))
        r, c, v = (np.array(part) for part in zip(*self.entries, strict=True)) if self.entries else (np.zeros(0),) * 3
        matrix = csr_array(coo_array((v, (r.astype(np.int64), c.astype(np.int64))), shape=(rows, columns)))
        matrix.sum_duplicates()
        return Program(
            cost=self._array(self.cost, columns, 0.0),
            matrix=matrix,
            row_low=low.reshape(rows),
            row_high=high.reshape(rows),
            col_low=np.array([self.bounds.get(("LO", j), 0.0) for j in range(columns)]),
            col_high=np.array([self.bounds.get(("UP", j), math.inf) for j in range(columns)]),
            integer=np.array(self.integer, dtype=bool),
            implied=np.zeros(columns, dtype=bool),
            columns=list(self.column_of),
            rows=list(self.row_of),
            offset=self.offset,
        )

    def _side(self, row: int, upper: bool) -> float:
        kind, side = self.kinds[row], self.sides.get(row, 0.0)
        if kind == "E":
            return side
        if kind == "G":
            return (side + self.ranges[row] if row in self.ranges else math.inf) if upper else side
        if kind == "L":
            return side if upper else (side - self.ranges[row] if row in self.ranges else -math.inf)
        return math.inf if upper else -math.inf

    @staticmethod
    def _array(values: dict[int, float], count: int, default: float) -> Vector:
        return np.array([values.get(position, default) for position in range(count)])
