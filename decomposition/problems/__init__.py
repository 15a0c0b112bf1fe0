"""What a problem brings to the loops: one file each, with the few functions that differ.

    guide(instance, program, point)         what of the relaxation's point the roundings need: plain arrays
    rounded(instance, guide, rng)           one random rounding, possibly of no use
    repaired(instance, guide, found, rng)   the plan that it becomes

`sample`, `extended` and the like are described in sampled.py.
"""

from __future__ import annotations

import importlib
from types import ModuleType


def brought(problem: str) -> ModuleType:
    """The module of a problem."""
    return importlib.import_module(f"yardline.decomposition.problems.{problem}")
