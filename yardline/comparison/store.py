"""Rows on disk: `DIR/runs.parquet` and `DIR/bounds.parquet`, each whole at any moment. A result is first a line of
`DIR/journal.jsonl`, which is emptied when it is in them: whatever ends a comparison, no finished run is lost. A row's key is in
it once.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

from yardline.comparison.bounds import with_bounds
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
    **dict.fromkeys(("solver", "code", "parameters"), "string"),
}
BOUND_COLUMNS: dict[str, str] = {
    **dict.fromkeys(("instance", "name", "problem", "method"), "string"),
    "seed": "int64",
    "status": "string",
    "bound": "double",
    "certified": "bool",
    **dict.fromkeys(("valid_because", "checked"), "string"),
    "seconds": "double",
    **dict.fromkeys(("error", "code"), "string"),
}
BROKEN = "broken"
LOST = "lost: "
"""How the error of a run begins that the engine lost: the next command tries it again."""

ROOM = 2**16
"""Bytes that the folder must have room for before anything is started."""


class Store:
    """The rows of a comparison, in memory and (with a folder) on disk."""

    def __init__(self, folder: Path | None, settings: Settings) -> None:
        self.folder, self.settings = folder, settings
        self.runs: dict[str, dict[str, Any]] = {}
        self.bounds: dict[str, dict[str, Any]] = {}
        self.broken: list[dict[str, Any]] = []
        self.refuted: list[str] = []
        self.written, self.cost, self.dirty = time.monotonic(), 0.0, False
        self.journal: TextIO | None = None
        self.lock: TextIO | None = None
        if folder is not None:
            self._prepare(folder)

    def _prepare(self, folder: Path) -> None:
        """Refuse a folder that cannot be written, is in use, or belongs to another comparison; read what is in it."""
        if "://" in str(folder) or str(folder).split("/")[0].endswith(":"):
            raise ValueError(f"{folder}: rows are written by this process: expected a folder of this machine")
        with blaming(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder) as probe:
                probe.write(b"\0" * ROOM)
                probe.flush()
                os.fsync(probe.fileno())
            self._claim(folder)
        self._same_settings(folder / "settings.json")
        self._remember(_read(folder / "runs.parquet"), _read(folder / "bounds.parquet"))
        for kind, row in _journal(folder / "journal.jsonl"):
            self._remember([row] if kind == "method" else [], [row] if kind == "bound" else [])
            self.dirty = True

    def _claim(self, folder: Path) -> None:
        """One comparison at a time: the claim ends with this process, however it ends."""
        self.lock = (folder / ".lock").open("w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError("another comparison is writing to it: wait for that, or use another folder") from None

    def _same_settings(self, note: Path) -> None:
        if note.is_file():
            with blaming(note):
                before = json.loads(note.read_text())
            if before != self.settings.document():
                raise BadFile(
                    f"{note.parent}: it holds a comparison with {before}: use another folder, or the same settings"
                )

    def _remember(self, runs: Iterable[dict[str, Any]], bounds: Iterable[dict[str, Any]]) -> None:
        """Rows of before; those that were lost, and broken instances, are looked at anew."""
        for row in runs:
            if row["status"] != BROKEN and not str(row.get("error") or "").startswith(LOST):
                self.runs[_key("method", row)] = row
        for row in bounds:
            if not str(row.get("error") or "").startswith(LOST):
                self.bounds[_key("bound", row)] = row

    def has(self, key: str, code: str) -> bool:
        """Whether a row is there, of the same version of a user's own method."""
        row = self.runs.get(key) or self.bounds.get(key)
        return row is not None and (row.get("code") or "") == code

    def begin(self, broken: Iterable[dict[str, Any]]) -> None:
        """Work begins: from now on the folder belongs to these settings."""
        self.broken = list(broken)
        if self.folder is None:
            return
        whole_file(self.folder / "settings.json", (json.dumps(self.settings.document()) + "\n").encode())
        self.journal = (self.folder / "journal.jsonl").open("a")
        self.dirty = True
        self.flush()

    def add(self, kind: str, row: Mapping[str, Any]) -> None:
        """One more result: in the journal at once, in the tables soon."""
        table = self.runs if kind == "method" else self.bounds
        table[_key(kind, row)] = dict(row)
        self.dirty = True
        if self.journal is not None:
            with blaming(self.journal.name):
                self.journal.write(json.dumps([kind, row]) + "\n")
                self.journal.flush()
        if time.monotonic() - self.written > max(2.0, 20 * self.cost):
            self.flush()

    def flush(self) -> None:
        """Everything in the tables, each file whole; then the journal may begin anew."""
        if not self.dirty:
            return
        begun = time.monotonic()
        self.refuted = with_bounds(self.runs, self.bounds)
        if self.folder is not None:
            _write(self.folder / "bounds.parquet", list(self.bounds.values()), BOUND_COLUMNS)
            _write(self.folder / "runs.parquet", [*self.runs.values(), *self.broken], RUN_COLUMNS)
        if self.journal is not None:
            self.journal.truncate(0)
        self.written = time.monotonic()
        self.cost, self.dirty = self.written - begun, False

    def close(self) -> None:
        """Somebody else may write to the folder now."""
        for stream in (self.journal, self.lock):
            if stream is not None:
                with contextlib.suppress(OSError):  # a full disk was said before: what is kept of a line is half a line
                    stream.close()
        self.journal = self.lock = None


def broken_row(name: str, why: str, settings: Settings) -> dict[str, Any]:
    """The row of an instance that could not be read."""
    nothing = dict.fromkeys(("instance", "problem", "method"), "")
    return {**nothing, "name": name, "seed": 0, "status": BROKEN, "error": why, **settings.document()}


def _key(kind: str, row: Mapping[str, Any]) -> str:
    return f"{kind}|{row['instance']}|{row['method']}|{row['seed']}"


def _journal(path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    """The lines of a journal; the last may be half a line."""
    if path.is_file():
        for line in path.read_bytes().split(b"\n"):
            try:
                kind, row = json.loads(line)
            except ValueError:
                continue
            yield kind, row


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
    arrays = [pyarrow.array([row.get(name) for row in rows], kinds[kind]) for name, kind in columns.items()]
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), buffer)
    whole_file(path, buffer.getvalue())
