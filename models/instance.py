"""What every instance and every solution has: a problem, a JSON document, and a hash of what the judge reads."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array


class Instance(ABC):
    """An instance: frozen, validated at birth, arrays inside."""

    problem: ClassVar[str]
    name: str
    meta: Mapping[str, Any]

    @classmethod
    @abstractmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """The instance that a JSON document states (without "yardline" and "problem")."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """The JSON document of this instance (without "yardline", "problem", "name", "meta")."""

    def tables(self) -> dict[str, dict[str, Any]]:
        """Fields that may be too large for JSON, as columns of arrays: they can stand beside it as Parquet."""
        return {}

    def skeleton(self) -> dict[str, Any]:
        """The JSON document without what `tables` holds."""
        return self.document()

    @abstractmethod
    def statement(self) -> dict[str, Any]:
        """Everything that the judge reads, by name: what the hash covers."""

    @cached_property
    def hash(self) -> str:
        """Sha256 of the statement: the same for 1 and 1.0, for every order of fields and set members."""
        digest = hashlib.sha256(self.problem.encode())
        for field, value in sorted(self.statement().items()):
            digest.update(f"|{field}:".encode())
            _feed(digest, value)
        return digest.hexdigest()


class Solution(ABC):
    """A plan: frozen, well-formed for its instance (valid is what the judge finds out)."""

    problem: ClassVar[str]

    @classmethod
    @abstractmethod
    def from_document(cls, document: Mapping[str, Any], instance: Any) -> Self:
        """The plan that a JSON document states, for an instance."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """The JSON document of this plan."""


def _feed(digest: Any, value: object) -> None:
    """One value into the hash, with its kind and shape so that no two values look alike."""
    if value is None or isinstance(value, (bool, str)):
        digest.update(f"{type(value).__name__}={value}".encode())
    elif isinstance(value, (int, float)):
        _feed(digest, np.array([value], dtype=np.float64))
    elif isinstance(value, csr_array):
        _feed(digest, value.indptr.astype(np.int64))
        _feed(digest, value.indices.astype(np.int64))
    elif isinstance(value, np.ndarray):
        kind = "<i8" if value.dtype.kind in "iu" else "<f8"
        digest.update(f"{kind}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value, dtype=kind).tobytes())
    else:
        raise TypeError(f"cannot hash {type(value).__name__}")
