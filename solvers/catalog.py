"""The solvers by name. Each is a module with `solve(program, ...) -> Outcome` and `version()`."""

from __future__ import annotations

import importlib
from types import ModuleType

from yardline.models.checks import nearest

SOLVERS = {"highs": "yardline.solvers.highs", "cbc": "yardline.solvers.cbc"}


def solver(name: str) -> ModuleType:
    """The module of a solver; an unknown name is an error that names the nearest, never another solver."""
    if name not in SOLVERS:
        raise ValueError(f"there is no solver {name!r}: {nearest(name, SOLVERS)}")
    return importlib.import_module(SOLVERS[name])
