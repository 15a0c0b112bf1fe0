"""Instances, solutions and certificates as files. Errors name the file; a file is there whole or not at all.

Readers by ending: .json, .json.gz (both read and written), .stp (SteinLib, read). Large tables may live beside the JSON:
wherever a field holds an array, {"parquet": "name.parquet"} may stand in its place, relative to the JSON and inside its folder.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from yardline.instances import stp
from yardline.models import checks
from yardline.models.checks import Fields
from yardline.models.instance import Instance, Solution
from yardline.models.problem import Problem

VERSION = 1
MANY_ROWS = 50_000
"""Rows from which on a table is written as Parquet beside the JSON."""

LARGEST_FILE = 2**30  # bytes of JSON, unpacked; larger tables belong into Parquet


LARGEST_CERTIFICATE = 2**28


class BadFile(ValueError):
    """A file that cannot be used: which one, what is wrong in it, what was expected."""


@contextlib.contextmanager
def blaming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors about the content of a file get its name."""
    try:
        yield
    except BadFile:
        raise
    except RecursionError:
        raise BadFile(f"{path}: it is nested too deeply: expected a plain document") from None
    except (ValueError, zlib.error, EOFError) as error:
        raise BadFile(f"{path}: {_one_line(error)}") from None
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror or _one_line(error)}") from None


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def read_instance(path: str | os.PathLike[str]) -> Instance:
    """The instance in a file."""
    with blaming(path):
        document = READERS.get(Path(path).suffix, read_document)(Path(path))
        return instance_of(document, folder=Path(path).parent)


def instance_of(document: Mapping[str, Any], *, folder: Path | None = None) -> Instance:
    """The instance that a whole document states; its tables, if any, lie in the folder."""
    fields = Fields(document)
    _version(fields)
    problem = Problem(checks.text(fields.need("problem"), "problem"))
    fields.left["name"] = checks.text(fields.left.get("name", ""), "name")
    if not isinstance(fields.left.get("meta", {}), Mapping):
        checks.fail("meta", fields.left["meta"], "an object")
    return problem.read_instance(fields.left if folder is None else _with_tables(fields.left, folder))


def read_solution(path: str | os.PathLike[str], instance: Instance) -> Solution:
    """The plan in a file, for an instance."""
    with blaming(path):
        fields = Fields(read_document(Path(path)))
        if "yardline" in fields.left:
            _version(fields)
        if checks.text(fields.need("problem"), "problem") != instance.problem:
            raise ValueError(f"it is a plan for another problem: expected {instance.problem}")
        owner = fields.take("instance")
        if owner is not None and owner != instance.hash:
            raise ValueError(f"it is a plan for another instance ({str(owner)[:12]}): expected {instance.hash[:12]}")
        for provenance in ("method", "seed", "name", "meta"):
            fields.take(provenance)
        return Problem(instance.problem).read_solution(fields.left, instance)


def read_document(path: Path, *, most: int = LARGEST_FILE) -> dict[str, Any]:
    """The JSON object in a file, packed or not, of so many bytes at the most."""
    with path.open("rb") as stream:
        raw = gzip.GzipFile(fileobj=stream) if path.suffix == ".gz" else stream
        data = raw.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it holds more than {most:,} bytes: expected less (large tables go into Parquet beside it)")
    document = json.loads(data.decode("utf-8"), object_pairs_hook=_unique)
    if not isinstance(document, dict):
        checks.fail("the document", document, "an object with named fields")
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice} is given twice: expected each field once")
    return document


def _version(fields: Fields) -> None:
    version = fields.need("yardline")
    if type(version) is not int or version != VERSION:
        checks.fail("yardline", version, f"format version {VERSION}")


def _with_tables(document: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The document with its Parquet tables in place of the references to them (at the top or one level below)."""
    result = {}
    for name, value in document.items():
        if name == "meta" or not isinstance(value, Mapping):
            result[name] = value
        elif set(value) == {"parquet"}:
            result[name] = _table(value["parquet"], folder, name)
        else:
            result[name] = _with_tables(value, folder)
    return result


def _table(given: object, folder: Path, field: str) -> Any:
    from yardline.instances import tables

    path = (folder / checks.text(given, f"{field}.parquet")).resolve()
    if not path.is_relative_to(folder.resolve()):
        checks.fail(f"{field}.parquet", given, "a file inside the instance's folder")
    try:
        return tables.read(path)
    except OSError as error:
        raise ValueError(f"{field}.parquet names {given!r}: {_one_line(error)}") from None


def write_instance(instance: Instance, path: str | os.PathLike[str]) -> None:
    """An instance into a file; tables of many rows go beside it as Parquet."""
    large = {field: columns for field, columns in instance.tables().items() if _rows(columns) >= MANY_ROWS}
    if not large:
        write_document(instance_document(instance), path)
        return
    from yardline.instances import tables

    document = {**_head(instance), **instance.skeleton()}
    stem = Path(path).name.partition(".")[0]
    for field, columns in large.items():
        document[field] = {"parquet": f"{stem}-{field}.parquet"}
        whole_file(Path(path).with_name(f"{stem}-{field}.parquet"), tables.packed(columns))
    write_document(document, path)


def _rows(columns: Mapping[str, Any]) -> int:
    return max((len(column) for column in columns.values()), default=0)


def _head(instance: Instance) -> dict[str, Any]:
    head = {"yardline": VERSION, "problem": instance.problem, "name": instance.name}
    return {**head, "meta": dict(instance.meta)} if instance.meta else head


def instance_document(instance: Instance) -> dict[str, Any]:
    """The whole JSON document of an instance."""
    return {**_head(instance), **instance.document()}


def solution_document(
    instance: Instance, solution: Solution, *, method: str = "", seed: int = 0, meta: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The whole JSON document of a plan."""
    head = {"yardline": VERSION, "problem": instance.problem, "instance": instance.hash, "method": method, "seed": seed}
    return {**head, **solution.document(), **({"meta": dict(meta)} if meta else {})}


def write_document(document: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """A JSON document into a file, packed if the name ends in .gz; never half of it."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":")).encode()
    whole_file(path, gzip.compress(text, mtime=0) if str(path).endswith(".gz") else text + b"\n")


def whole_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file at once: under another name first, then renamed."""
    target = Path(path)
    with blaming(path):
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


READERS: dict[str, Callable[[Path], dict[str, Any]]] = {".stp": stp.read}
"""Further formats by ending: each returns the document of an instance."""
