"""Checks of incoming data: the offending field and value first, then what was expected.

Every function returns what it was given in the form that the package works with (read-only arrays), or raises a ValueError.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]
A = TypeVar("A", bound=NDArray[Any])


def fail(field: str, seen: object, expected: str) -> NoReturn:
    """Refuse a value by name."""
    shown = repr(seen)
    raise ValueError(f"{field} is {shown if len(shown) <= 60 else shown[:57] + '...'}: expected {expected}")


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at the names that were probably meant.

    >>> nearest("rate", ["rates", "wants"])
    "did you mean 'rates'?"
    """
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(map(repr, close)) + "?"
    return "there is " + ", ".join(known) if known else "there is none"


class Fields:
    """The fields of a JSON object, taken one by one; `done` refuses what nobody took."""

    def __init__(self, document: object, where: str = "") -> None:
        if not isinstance(document, Mapping):
            fail(where or "the document", document, "an object with named fields")
        self.left: dict[str, Any] = dict(document)
        self.taken: set[str] = set()
        self.where = where

    def path(self, name: str) -> str:
        """The full name of a field, for messages."""
        return f"{self.where}.{name}" if self.where else name

    def need(self, name: str) -> Any:
        """The value of a required field."""
        if name not in self.left:
            raise ValueError(f"{self.path(name)} is missing: it is required")
        return self.take(name)

    def take(self, name: str, default: Any = None) -> Any:
        """The value of an optional field."""
        self.taken.add(name)
        return self.left.pop(name, default)

    def done(self) -> None:
        """Refuse unknown fields: a typo must not be ignored."""
        for name in self.left:
            raise ValueError(f"{self.path(name)} is not a known field: {nearest(name, self.taken)}")


def number(value: object, field: str, *, low: float = 0.0) -> float:
    """A finite number, at least `low`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        fail(field, value, f"a number >= {low:g}")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result) or result < low:
        fail(field, value, f"a finite number >= {low:g}")
    return result + 0.0  # -0.0 becomes 0.0


def integer(value: object, field: str, *, low: int = 0, high: int | None = None) -> int:
    """A whole number in [low, high]; 3.0 counts as 3."""
    wanted = f"a whole number >= {low}" if high is None else f"a whole number from {low} to {high}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        fail(field, value, wanted)
    if not _whole(value) or value < low or (high is not None and value > high):
        fail(field, value, wanted)
    return int(value)


def _whole(value: Any) -> bool:
    """Whether a number is whole and fits a float64."""
    try:
        return math.isfinite(value) and value == int(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def choice(value: object, field: str, options: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in options:
        fail(field, value, "one of " + ", ".join(options))
    return value


def flag(value: object, field: str) -> bool:
    """True or false, nothing else."""
    if not isinstance(value, (bool, np.bool_)):
        fail(field, value, "true or false")
    return bool(value)


def text(value: object, field: str) -> str:
    """A string."""
    if not isinstance(value, str):
        fail(field, value, "a string")
    return value


def listing(value: object, field: str, *, length: int | None = None, of: str = "entries") -> Sequence[Any]:
    """A list (or array), of a given length."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, (Sequence, np.ndarray)):
        fail(field, value, "a list")
    if length is not None and len(value) != length:
        raise ValueError(f"{field} has {len(value)} {of}: expected {length}")
    return value  # type: ignore[return-value]


def vector(
    value: object, field: str, *, length: int | None = None, low: float | None = 0.0, of: str = "entries"
) -> Vector:
    """Finite numbers, at least `low` (None: of any sign), as a read-only array."""
    items = listing(value, field, length=length, of=of)
    if isinstance(items, np.ndarray) and items.ndim != 1:
        fail(field, f"an array of shape {items.shape}", "a list of numbers")
    return _finite(_floats(items, field), field, low)


def matrix(
    value: object, field: str, *, shape: tuple[int | None, int | None] = (None, None), low: float | None = 0.0
) -> Vector:
    """Rows of finite numbers, all of one length, as a read-only two-dimensional array."""
    rows = listing(value, field, length=shape[0], of="rows")
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        result = _floats(rows, field)
    else:
        width = shape[1] if shape[1] is not None else (len(listing(rows[0], f"{field}[0]")) if len(rows) else 0)
        for r, row in enumerate(rows):
            listing(row, f"{field}[{r}]", length=width, of="numbers")
        flat = [entry for row in rows for entry in row]
        result = _floats(flat, field, width).reshape(len(rows), width)
    if shape[1] is not None and len(result) and result.shape[1] != shape[1]:
        raise ValueError(f"{field} has rows of {result.shape[1]} numbers: expected {shape[1]}")
    return _finite(result, field, low)


def _floats(items: Sequence[Any] | NDArray[Any], field: str, width: int | None = None) -> Vector:
    """Numbers as float64: no booleans, no strings, no nested lists."""
    if isinstance(items, np.ndarray):
        if items.dtype.kind not in "iuf":
            fail(field, items.dtype.name, "an array of numbers")
        return np.array(items, dtype=np.float64)
    odd = {type(item) for item in items} - {int, float}
    if odd and not all(map(_is_number, items)):  # numpy's numbers are welcome
        position = next(p for p, item in enumerate(items) if not _is_number(item))
        fail(_position(field, position, width), items[position], "a number")
    try:
        return np.array(items, dtype=np.float64)
    except OverflowError:
        position = next(p for p, item in enumerate(items) if abs(item) > 1.7e308)
        fail(_position(field, position, width), items[position], "a finite number")


def _is_number(item: object) -> bool:
    return isinstance(item, (int, float, np.integer, np.floating)) and not isinstance(item, bool)


def _position(field: str, flat: int, width: int | None) -> str:
    return f"{field}[{flat}]" if width is None else f"{field}[{flat // width}][{flat % width}]"


def _finite(result: Vector, field: str, low: float | None) -> Vector:
    bad = ~np.isfinite(result) if low is None else ~(np.isfinite(result) & (result >= low))
    if bad.any():
        where = tuple(int(p) for p in np.argwhere(bad)[0])
        place = field + "".join(f"[{p}]" for p in where)
        fail(place, float(result[where]), "a finite number" if low is None else f"a finite number >= {low:g}")
    result += 0.0  # -0.0 becomes 0.0
    return frozen(result)


def index_vector(value: object, field: str, *, bound: int, length: int | None = None, of: str = "entries") -> Indices:
    """Indices below `bound`, one per entry."""
    items = listing(value, field, length=length, of=of)
    if isinstance(items, np.ndarray) and items.dtype.kind in "iu":
        result = items.astype(np.int64)
        for position in np.flatnonzero((result < 0) | (result >= bound))[:1]:
            fail(f"{field}[{position}]", int(result[position]), f"an index from 0 to {bound - 1}")
    else:
        result = np.array([_index(item, f"{field}[{p}]", bound) for p, item in enumerate(items)], dtype=np.int64)
    return frozen(result)


def _index(item: object, field: str, bound: int) -> int:
    if isinstance(item, (bool, np.bool_)) or not isinstance(item, (int, float, np.integer, np.floating)):
        fail(field, item, f"an index from 0 to {bound - 1}")
    if not _whole(item) or not 0 <= item < bound:
        fail(field, item, f"an index from 0 to {bound - 1}" if bound else "nothing: there is nothing to refer to")
    return int(item)


def index_sets(value: object, field: str, *, bound: int, length: int | None = None, of: str = "rows") -> csr_array:
    """A set of indices below `bound` per row, as a read-only 0/1 matrix in CSR form with sorted rows."""
    if isinstance(value, csr_array):
        return _known_sets(value, field, bound, length, of)
    rows = listing(value, field, length=length, of=of)
    pointers = np.zeros(len(rows) + 1, dtype=np.int64)
    indices: list[int] = []
    for r, row in enumerate(rows):
        entries = listing(row, f"{field}[{r}]")
        members = sorted(_index(item, f"{field}[{r}][{p}]", bound) for p, item in enumerate(entries))
        for first, second in pairwise(members):
            if first == second:
                raise ValueError(f"{field}[{r}] names {first} twice: expected each index once")
        indices.extend(members)
        pointers[r + 1] = len(indices)
    return frozen_sets(np.array(indices, dtype=np.int64), pointers, bound)


def _known_sets(value: csr_array, field: str, bound: int, length: int | None, of: str) -> csr_array:
    if length is not None and value.shape[0] != length:
        raise ValueError(f"{field} has {value.shape[0]} {of}: expected {length}")
    if value.shape[1] != bound:
        raise ValueError(f"{field} has {value.shape[1]} columns: expected {bound}")
    tidy = csr_array(value != 0, dtype=np.int64)
    tidy.sum_duplicates()
    return frozen_sets(tidy.indices.astype(np.int64), tidy.indptr.astype(np.int64), bound)


def frozen_sets(indices: Indices, pointers: Indices, bound: int) -> csr_array:
    """Sets in CSR form: row r holds indices[pointers[r]:pointers[r+1]]."""
    ones = np.ones(len(indices), dtype=np.int64)
    result = csr_array((ones, indices, pointers), shape=(len(pointers) - 1, bound))
    result.sort_indices()
    for part in (result.data, result.indices, result.indptr):
        part.setflags(write=False)
    return result


def members(sets: csr_array) -> list[list[int]]:
    """Sets in CSR form as plain lists."""
    flat, pointers = sets.indices.tolist(), sets.indptr.tolist()
    return [flat[a:b] for a, b in pairwise(pointers)]


def frozen(array: A) -> A:
    """The same array, read-only."""
    array.setflags(write=False)
    return array
