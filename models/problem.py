"""A problem is a folder beside this file. Its files are its parts, each with one duty:

data.py         INSTANCE and SOLUTION: frozen, validated at birth
judge.py        evaluate(instance, solution) -> Judgement: cost, terms, every violated rule
feasibility.py  why_infeasible(instance) -> a reason in the problem's words, or None
formulation.py  build(instance, relax=False) -> Pyomo model, near the mathematics
assembly.py     assemble(instance) -> Program, the same program as arrays;
                decode(instance, chosen) -> Solution;  encode(instance, program, solution) -> point
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from yardline.models.checks import Indices, Vector, nearest
from yardline.models.instance import Instance, Solution
from yardline.models.judgement import Judgement
from yardline.models.program import Program


@cache
def problem_names() -> tuple[str, ...]:
    """All problems, by folder."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if m.ispkg))


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem; its modules are imported when first needed."""

    name: str

    def __post_init__(self) -> None:
        if self.name not in problem_names():
            raise ValueError(f"there is no problem {self.name!r}: {nearest(self.name, problem_names())}")

    def part(self, name: str) -> ModuleType:
        """One of the problem's modules."""
        return importlib.import_module(f"yardline.models.{self.name}.{name}")

    def remark(self, instance: Instance) -> str | None:
        """What whoever made an instance should know of it, where the problem's feasibility.py has a `remark`."""
        say = getattr(self.part("feasibility"), "remark", None)
        return None if say is None else cast("str | None", say(instance))

    def read_instance(self, document: Mapping[str, Any]) -> Instance:
        """The instance that a document states."""
        return cast(Instance, self.part("data").INSTANCE.from_document(document))

    def read_solution(self, document: Mapping[str, Any], instance: Instance) -> Solution:
        """The plan that a document states."""
        return cast(Solution, self.part("data").SOLUTION.from_document(document, instance))

    def evaluate(self, instance: Instance, solution: Solution) -> Judgement:
        """The judge."""
        return cast(Judgement, self.part("judge").evaluate(instance, solution))

    def why_infeasible(self, instance: Instance) -> str | None:
        """Why there is no valid plan, or None where there is one."""
        return cast("str | None", self.part("feasibility").why_infeasible(instance))

    def formulate(self, instance: Instance, *, relax: bool = False) -> Any:
        """The Pyomo model."""
        return self.part("formulation").build(instance, relax=relax)

    def assemble(self, instance: Instance) -> Program:
        """The same program as arrays."""
        return cast(Program, self.part("assembly").assemble(instance))

    def decode(self, instance: Instance, chosen: Mapping[str, Indices]) -> Solution:
        """The plan of a point: per family of columns, the indices whose value is 1."""
        return cast(Solution, self.part("assembly").decode(instance, chosen))

    def encode(self, instance: Instance, program: Program, solution: Solution) -> Vector:
        """The point of a valid plan; it costs no more than the plan."""
        return cast(Vector, self.part("assembly").encode(instance, program, solution))


def problem_of(instance: Instance) -> Problem:
    """The problem that an instance belongs to."""
    return Problem(instance.problem)
