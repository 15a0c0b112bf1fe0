"""Where the instances of a comparison come from.

A source is a file, a folder of files, a workload spec (`assignment-3:subscribers=10000,brokers=20:seeds=1-10`), a Parquet
table of instances (a column `instance` of JSON documents), a path that only Spark can read (`hdfs://...`), or an Instance.
"""

from __future__ import annotations

import json
import pickle
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yardline as yl
from yardline.instances import files
from yardline.models import registry
from yardline.models.instance import Instance

ENDINGS = (".json", ".json.gz", ".stp")
KEPT_BYTES = 2**30
"""Pickled instances that stay in memory; others are read again when a task needs them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One instance: its name and how to make it; or why there is none."""

    name: str
    make: Callable[[], Instance] | None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An instance that was read: what planning needs of it."""

    hash: str
    name: str
    problem: str
    size: int  # bytes when pickled: larger ones run longer
    parameters: str = ""  # of the workload that it was drawn from, as JSON


def expand(given: Iterable[Any], spark: Callable[[], Any]) -> Iterator[Source]:
    """All instances behind the given sources."""
    for item in given:
        if isinstance(item, Instance):
            yield Source(name=item.name, make=lambda item=item: item)  # type: ignore[misc]
        else:
            yield from _named(str(item), spark)


def _named(text: str, spark: Callable[[], Any]) -> Iterator[Source]:
    path = Path(text)
    if "://" in text:
        yield from _remote(text, spark())
    elif path.is_dir() and not text.rstrip("/").endswith(".parquet"):
        inside = sorted(p for p in path.rglob("*") if p.name.endswith(ENDINGS))
        if not inside:
            raise ValueError(f"{text}: there are no instance files in it ({', '.join(ENDINGS)})")
        yield from (_file(str(p)) for p in inside)
    elif text.rstrip("/").endswith(".parquet") and path.exists():
        yield from _table(path)
    elif path.exists() or text in yl.examples():
        yield _file(text)
    elif text.partition(":")[0] in {entry.name for entry in registry.entries("workload")}:
        yield from _workload(text)
    else:
        yield Source(name=text, make=None, error=f"{text}: there is no such file, folder or workload")


def _file(path: str) -> Source:
    return Source(name=path, make=lambda: yl.load(path))


def _workload(spec: str) -> Iterator[Source]:
    """`name:parameter=value,...:seeds=1-10`, each part but the name optional."""
    name, *parts = spec.split(":")
    seeds, parameters = [0], {}
    for pair in (pair for part in parts for pair in part.split(",") if pair):
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"{spec}: {pair!r} is not understood: expected parameter=value or seeds=1-10")
        if key == "seeds":
            seeds = _seeds(value, spec)
        else:
            parameters[key] = value
    registry.find_workload(name).settings(parameters)  # a wrong parameter is an error before anything runs
    for seed in seeds:
        yield Source(
            name=f"{name}-{seed}",
            make=lambda seed=seed: yl.generate(name, seed=seed, **parameters),  # type: ignore[misc]
        )


def _seeds(value: str, spec: str) -> list[int]:
    first, dash, last = value.partition("-")
    if not first.isdigit() or (dash and not (last.isdigit() and int(first) <= int(last))):
        raise ValueError(f"{spec}: seeds={value} is not understood: expected a number, or a range such as 1-10")
    return list(range(int(first), int(last if dash else first) + 1))


def _table(path: Path) -> Iterator[Source]:
    """A Parquet table with a column `instance` of JSON documents (and perhaps `name`)."""
    import pyarrow.parquet as parquet

    try:
        with files.blaming(path):
            table = parquet.read_table(path)
            if "instance" not in table.column_names:
                raise ValueError("expected a column `instance` with JSON documents")
    except ValueError as error:
        yield Source(name=str(path), make=None, error=str(error))
        return
    yield from _rows(path.name, table.to_pylist())


def _rows(table: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[Source]:
    for position, row in enumerate(rows):
        text, label = row["instance"], row.get("name") or f"{table}[{position}]"
        yield Source(name=label, make=lambda text=text, label=label: _parsed(text, label))  # type: ignore[misc]


def _remote(path: str, spark: Any) -> Iterator[Source]:
    """Files, or a table, that only Spark can read."""
    try:
        if path.rstrip("/").endswith(".parquet"):
            yield from _rows(path, (row.asDict() for row in spark.read.parquet(path).collect()))
            return
        found = spark.sparkContext.binaryFiles(path).collect()
    except Exception as error:  # whatever the file system has to say
        yield Source(name=path, make=None, error=f"{path}: Spark cannot read it: {' '.join(str(error).split())[:200]}")
        return
    for name, data in found:
        yield Source(name=name, make=lambda data=data, name=name: _parsed(data, name))  # type: ignore[misc]


def _parsed(text: str | bytes, name: str) -> Instance:
    import gzip

    with files.blaming(name):
        if not isinstance(text, (str, bytes)):
            raise ValueError("expected a JSON document")
        data = text.encode() if isinstance(text, str) else bytes(text)
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if name.endswith(".stp"):
            return _written(data, ".stp")
        document = json.loads(data)
        if not isinstance(document, dict):
            raise ValueError("expected a JSON document")
        return files.instance_of(document)


def _written(data: bytes, ending: str) -> Instance:
    """Through a file, for readers that want one."""
    with tempfile.NamedTemporaryFile(suffix=ending) as stream:
        stream.write(data)
        stream.flush()
        return files.read_instance(stream.name)


class Shelf(Mapping[str, bytes]):
    """Instances by hash, pickled; the latest stay in memory, others are made again."""

    def __init__(self) -> None:
        self.makers: dict[str, Callable[[], Instance]] = {}
        self.kept: OrderedDict[str, bytes] = OrderedDict()
        self.bytes = 0

    def add(self, source: Source) -> Known:
        """Read an instance; what planning needs of it. Broken ones raise."""
        if source.make is None:
            raise ValueError(source.error)
        instance = source.make()
        data = pickle.dumps(instance, protocol=5)
        self.makers[instance.hash] = source.make
        self._keep(instance.hash, data)
        name = instance.name or Path(source.name).name
        drawn = json.dumps(dict(instance.meta), default=str) if "parameters" in instance.meta else ""
        return Known(hash=instance.hash, name=name, problem=instance.problem, size=len(data), parameters=drawn)

    def _keep(self, key: str, data: bytes) -> None:
        self.bytes += len(data) - len(self.kept.get(key, b""))
        self.kept[key] = data
        while self.bytes > KEPT_BYTES and len(self.kept) > 1:
            self.bytes -= len(self.kept.popitem(last=False)[1])

    def __getitem__(self, key: str) -> bytes:
        if key not in self.kept:
            self._keep(key, pickle.dumps(self.makers[key](), protocol=5))
        return self.kept[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.makers)

    def __len__(self) -> int:
        return len(self.makers)
