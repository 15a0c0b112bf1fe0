"""yardline: how far is a publish/subscribe dissemination plan from the best possible one?

    import yardline as yl
    instance = yl.load("instance.json")
    result = yl.solve(instance, method="exact", time_limit=60)
    result.cost, result.bound, result.gap, result.solution

Nothing is imported before it is needed.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

__version__ = "0.1.0"

_HOME = {
    **dict.fromkeys(("load", "save", "solve", "bound", "evaluate", "verify"), "yardline.api"),
    **dict.fromkeys(("formulate", "extract", "generate", "examples"), "yardline.api"),
    **dict.fromkeys(("Solved", "Bounded", "Evaluation", "Verified"), "yardline.results"),
    **dict.fromkeys(("MethodFailed", "Contradiction"), "yardline.results"),
    **dict.fromkeys(("method", "workload", "experiment"), "yardline.models.registry"),
    **dict.fromkeys(("Unsuitable", "Unavailable", "Answer", "Run"), "yardline.models.method"),
    **dict.fromkeys(("compare", "Comparison"), "yardline.comparison.compare"),
    **dict.fromkeys(("reproduce", "Reproduced"), "yardline.experiments.running"),
    **dict.fromkeys(("Claim", "Experiment", "Verdict", "Workload"), "yardline.experiments.description"),
    **dict.fromkeys(("solve_model", "export", "Modelled"), "yardline.modelling"),
    "relax_round": "yardline.rounding",
    "BadFile": "yardline.instances.files",
    "Instance": "yardline.models.instance",
    "Solution": "yardline.models.instance",
    "register_bound": "yardline.models.registry",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), "bound" if name == "register_bound" else name)
    return _of_a_problem(name)


def _of_a_problem(name: str) -> Any:
    """The instance and plan classes of the problems (`yl.Channelization`), and their folders (`yl.channelization`)."""
    if not name.startswith("_"):
        from yardline.models.problem import problem_names

        if name in problem_names():
            own = importlib.util.find_spec(
                f"yardline.{name}"
            )  # a front door of the problem's own, with more than its data
            return importlib.import_module(own.name if own is not None else f"yardline.models.{name}.data")
        for problem in problem_names():
            if name.lower().startswith(problem):
                return getattr(importlib.import_module(f"yardline.models.{problem}.data"), name)
    raise AttributeError(f"module 'yardline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOME, "__version__"])
