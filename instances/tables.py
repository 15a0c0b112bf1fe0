"""Parquet tables beside a JSON instance: numbers as arrays, lists of one length as matrices, others as lists."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np


def read(path: Path) -> Any:
    """A table of one column as that column; of several as a mapping by name."""
    import pyarrow
    import pyarrow.parquet as parquet

    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path.name} is not a Parquet table: {error}") from None
    columns = {name: _array(table.column(name).combine_chunks(), name) for name in table.column_names}
    return next(iter(columns.values())) if len(columns) == 1 else columns


def _array(column: Any, name: str) -> Any:
    """A column as numpy: one number a row, or one row of numbers a row where all have the same length."""
    import pyarrow.types as kinds

    if column.null_count:
        return column.to_pylist()
    if kinds.is_fixed_size_list(column.type):
        return np.asarray(column.flatten()).reshape(len(column), column.type.list_size)
    if kinds.is_list(column.type) or kinds.is_large_list(column.type):
        lengths = np.diff(np.asarray(column.offsets))
        if len(lengths) and (lengths == lengths[0]).all() and column.flatten().null_count == 0:
            return np.asarray(column.flatten()).reshape(len(column), int(lengths[0]))
        return column.to_pylist()
    if kinds.is_integer(column.type) or kinds.is_floating(column.type):
        return np.asarray(column)
    return column.to_pylist()


def packed(columns: dict[str, Any]) -> bytes:
    """Columns of numbers (or rows of numbers) as one Parquet table."""
    import pyarrow
    import pyarrow.parquet as parquet

    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table({name: _column(value) for name, value in columns.items()}), buffer)
    return buffer.getvalue()


def write(path: Path, columns: dict[str, Any]) -> None:
    """The same as a file."""
    path.write_bytes(packed(columns))


def _column(value: Any) -> Any:
    import pyarrow

    array = np.asarray(value)
    if array.ndim == 1:
        return pyarrow.array(array)
    return pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(array.reshape(-1)), array.shape[1])
