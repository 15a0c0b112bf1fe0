"""The versions that a result was made with."""

from __future__ import annotations

import importlib.metadata
import platform
from functools import cache

from yardline.solvers.catalog import solver as solver_module


@cache
def versions(solver: str) -> dict[str, str]:
    """Provenance: yardline, Python, the solver and numpy."""
    from yardline import __version__

    return {
        "yardline": __version__,
        "python": platform.python_version(),
        solver: solver_module(solver).version(),
        "numpy": importlib.metadata.version("numpy"),
    }
