"""Rows on disk: `DIR/runs.parquet` and `DIR/bounds.parquet`, rewritten whole as results come, so that they can be read at any
moment and a stopped comparison goes on where it was. A row's key is in it once.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from yardline.comparison.plan import Settings
from yardline.instances.files import BadFile, blaming, whole_file

RUN_COLUMNS: dict[str, str] = {
    **dict.fromkeys(("instance", "name", "problem", "method"), "string"),
    "seed": "int64",
    "status": "string",
    **dict.fromkeys(("cost", "bound"), "double"),
    "certified": "bool",
    **dict.fromkeys(("gap", "seconds"), "double"),
    "error": "string",
    "rule": "string",
    "own_bound": "double",
    **dict.fromkeys(("bound_method", "terms", "versions"), "string"),
    "time_limit": "double",
    "solver": "string",
}
BOUND_COLUMNS: dict[str, str] = {
    **dict.fromkeys(("instance", "name", "problem", "method"), "string"),
    "seed": "int64",
    "status": "string",
    "bound": "double",
    "certified": "bool",
    "valid_because": "string",
    "seconds": "double",
    "error": "string",
}


class Store:
    """The rows of a comparison, in memory and (with a folder) on disk."""

    def __init__(self, folder: Path | None, settings: Settings) -> None:
        self.folder = folder
        self.runs: dict[str, dict[str, Any]] = {}
        self.bounds: dict[str, dict[str, Any]] = {}
        self.written, self.cost, self.dirty = 0.0, 0.0, False
        if folder is not None:
            self._prepare(folder, settings)

    def _prepare(self, folder: Path, settings: Settings) -> None:
        """Refuse a folder that cannot be written or belongs to another comparison; read what is in it."""
        with blaming(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise ValueError("it cannot be written: expected a writable folder")
        note = folder / "settings.json"
        if note.is_file():
            with blaming(note):
                before = json.loads(note.read_text())
            if before != settings.document():
                raise BadFile(
                    f"{folder}: it holds a comparison with {before}: use another folder, or the same settings"
                )
        whole_file(note, (json.dumps(settings.document()) + "\n").encode())
        self.runs = {_key("method", row): row for row in _read(folder / "runs.parquet")}
        self.bounds = {_key("bound", row): row for row in _read(folder / "bounds.parquet")}

    def add(self, kind: str, row: Mapping[str, Any]) -> None:
        """One more result; written soon."""
        table = self.runs if kind == "method" else self.bounds
        table[_key(kind, row)] = dict(row)
        self.dirty = True
        if time.monotonic() - self.written > max(2.0, 20 * self.cost):
            self.flush()

    def flush(self) -> None:
        """Everything on disk, each file whole."""
        if self.folder is None or not self.dirty:
            return
        begun = time.monotonic()
        with_bounds(self.runs, self.bounds)
        _write(self.folder / "bounds.parquet", list(self.bounds.values()), BOUND_COLUMNS)
        _write(self.folder / "runs.parquet", list(self.runs.values()), RUN_COLUMNS)
        self.written = time.monotonic()
        self.cost, self.dirty = self.written - begun, False


def with_bounds(runs: dict[str, dict[str, Any]], bounds: dict[str, dict[str, Any]]) -> None:
    """Each run with the best bound of its instance, and its gap: one bound serves all methods."""
    from yardline.results import gap_of, reconciled

    best: dict[str, tuple[float, bool, str]] = {}
    for row in bounds.values():
        if row.get("bound") is not None:
            _offer(best, row["instance"], row["bound"], bool(row["certified"]), row["method"])
    for row in runs.values():  # what a method proved itself holds for all
        if row.get("own_bound") is not None and row["status"] in ("optimal", "feasible"):
            _offer(best, row["instance"], row["own_bound"], False, row["method"])
    for row in runs.values():
        bound, certified, method = best.get(row["instance"], (None, False, ""))
        valid = row["status"] in ("optimal", "feasible")
        least = reconciled(row["cost"] if valid else None, bound, f"{row['method']} against {method}")
        row |= {"bound": least, "certified": certified, "bound_method": method}
        row["gap"] = gap_of(row["cost"], least) if valid else None


def _offer(best: dict[str, tuple[float, bool, str]], instance: str, bound: float, certified: bool, method: str) -> None:
    """Keep the best bound of an instance; a certified one unless another is clearly better."""
    known = best.get(instance)
    if known is None:
        best[instance] = (bound, certified, method)
        return
    slack = 1e-6 * abs(known[0]) + 1e-12
    clearly = bound > known[0] + slack
    if clearly or (certified and not known[1] and bound >= known[0] - slack):
        best[instance] = (bound, certified, method)


def _key(kind: str, row: Mapping[str, Any]) -> str:
    return f"{kind}|{row['instance']}|{row['method']}|{row['seed']}"


def _read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    import pyarrow.parquet as parquet

    with blaming(path):
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


def _write(path: Path, rows: list[dict[str, Any]], columns: Mapping[str, str]) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    kinds = {"string": pyarrow.string(), "int64": pyarrow.int64(), "double": pyarrow.float64(), "bool": pyarrow.bool_()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    table = pyarrow.Table.from_pylist([{name: row.get(name) for name in columns} for row in rows], schema=schema)
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    whole_file(path, buffer.getvalue())
