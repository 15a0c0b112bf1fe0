"""What there is: methods, bounds, workloads, experiments and kinds of certificates, by problem and name.

A decorator registers a function with one line, its paper and its options (its keyword parameters that have defaults).
Everything that ships with the package stands in one of the PLACES of its kind and is found by being there; everything else
comes through the entry-point group `yardline.methods` or from the user's own script. A look-up imports what may hold the
answer: a module or folder named after a problem serves that problem alone.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from yardline.models.checks import fail, nearest
from yardline.models.problem import problem_names

Kind = Literal["method", "bound", "workload", "experiment", "certificate"]
F = TypeVar("F", bound=Callable[..., Any])

PLACES: Mapping[Kind, tuple[str, ...]] = {
    "method": ("yardline.solvers", "yardline.decomposition"),
    "bound": ("yardline.solvers", "yardline.decomposition"),
    "certificate": ("yardline.solvers.certificates",),
    "workload": ("yardline.instances.workloads",),
    "experiment": ("yardline.experiments",),
}
SHIPPED = tuple(sorted({place for places in PLACES.values() for place in places}))
ENTRY_POINTS = "yardline.methods"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One registered function."""

    kind: Kind
    problem: str
    name: str
    function: Callable[..., Any]
    summary: str
    paper: str
    options: Mapping[str, Any]  # name -> default
    shipped: bool  # from one of the PLACES or by entry point, hence known to every worker
    tasks: bool = False  # whether it runs its trials or parts as tasks, which `--engine` places
    generic: bool = False  # made for every problem: gives way to one of the problem's own

    @property
    def wants_run(self) -> bool:
        """Whether the function takes the keyword `run`."""
        return "run" in inspect.signature(self.function).parameters

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options as given, each turned into the type of its parameter."""
        hints = get_type_hints(inspect.unwrap(self.function))
        for name in given:
            if name not in self.options:
                raise ValueError(f"{self.kind} {self.name} has no option {name!r}: {nearest(name, self.options)}")
        kinds = {name: hints.get(name, type(default)) for name, default in self.options.items()}
        return {name: _typed(value, kinds[name], f"option {name}") for name, value in given.items()}


_entries: dict[tuple[Kind, str, str], Entry] = {}
_loading: list[bool] = []


def _register(
    kind: Kind, problem: str, name: str, summary: str, paper: str, *, tasks: bool = False, generic: bool = False
) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        known = _entries.get((kind, problem, name))
        if generic and known is not None and not known.generic:
            return function  # whichever is imported first, the problem's own stays
        parameters = inspect.signature(function).parameters.values()
        options = {p.name: p.default for p in parameters if p.default is not p.empty and p.name != "run"}
        line = summary or (inspect.getdoc(function) or "").strip().split("\n")[0]
        entry = Entry(
            kind=kind,
            problem=problem,
            name=name,
            function=function,
            summary=line,
            paper=paper,
            options=options,
            shipped=bool(_loading) or function.__module__.startswith(SHIPPED),
            tasks=tasks,
            generic=generic,
        )
        _entries[kind, problem, name] = entry
        return function

    return decorate


def method(
    problem: str, name: str, *, summary: str = "", paper: str = "", tasks: bool = False, generic: bool = False
) -> Callable[[F], F]:
    """Register `f(instance, rng) -> solution` as a method; a generic one gives way to a problem's own of that name."""
    return _register("method", problem, name, summary, paper, tasks=tasks, generic=generic)


def bound(
    problem: str, name: str, *, summary: str = "", paper: str = "", tasks: bool = False, generic: bool = False
) -> Callable[[F], F]:
    """Register `f(instance, rng, *, run) -> Answer` as a lower bound; a generic one gives way to a problem's own."""
    return _register("bound", problem, name, summary, paper, tasks=tasks, generic=generic)


def workload(problem: str, name: str, *, summary: str = "", paper: str = "") -> Callable[[F], F]:
    """Register `f(rng, **parameters) -> instance` as a workload."""
    return _register("workload", problem, name, summary, paper)


def experiment(problem: str, name: str, *, summary: str = "", paper: str = "") -> Callable[[F], F]:
    """Register a table or figure of a paper."""
    return _register("experiment", problem, name, summary, paper)


def certificate(kind: str, *, summary: str = "") -> Callable[[F], F]:
    """Register a checker of one kind of certificate (for all problems)."""
    return _register("certificate", "", kind, summary, "")


def load(kind: Kind | None = None, problem: str | None = None) -> None:
    """Import what registers entries of a kind and a problem (all without), and what stands behind the entry points; once."""
    _loading.append(True)
    try:
        for place in SHIPPED if kind is None else PLACES[kind]:
            for module in _modules(place):
                if not problem or serves(module, problem):
                    importlib.import_module(module)
        _load_entry_points()
    finally:
        _loading.pop()


@cache
def _modules(place: str) -> tuple[str, ...]:
    """The modules below a place, less those of places inside it; hot loops (`_name`) register nothing."""
    if importlib.util.find_spec(place) is None:
        return ()
    path = importlib.import_module(place).__path__
    found = [module.name for module in pkgutil.walk_packages(path, place + ".")]
    inside = tuple(other for other in SHIPPED if other.startswith(place + "."))
    return tuple(name for name in found if not name.startswith(inside) and not name.rpartition(".")[2].startswith("_"))


def serves(module: str, problem: str) -> bool:
    """Whether a module may register something for a problem: none of its folders, nor itself, is named after another."""
    others = tuple(name for name in problem_names() if name != problem)
    return not any(part.startswith(others) for part in module.split("."))


@cache
def _load_entry_points() -> None:
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        point.load()


def entries(kind: Kind, problem: str | None = None) -> list[Entry]:
    """Everything registered of one kind, in the order of problem and name."""
    load(kind, problem)
    found = [e for e in _entries.values() if e.kind == kind and problem in (None, e.problem)]
    return sorted(found, key=lambda e: (e.problem, e.name))


def find(kind: Kind, problem: str, name: str) -> Entry:
    """One entry, or an error that names the nearest ones."""
    load(kind, problem)
    entry = _entries.get((kind, problem, name))
    if entry is None:
        known = [e.name for e in entries(kind, problem)]
        of = f" of {problem}" if problem else ""
        raise ValueError(f"there is no {kind}{of} called {name!r}: {nearest(name, known)}")
    return entry


def find_workload(name: str) -> Entry:
    """A workload by its full name, `<problem>-<workload>`."""
    for entry in entries("workload"):
        if entry.name == name:
            return entry
    raise ValueError(f"there is no workload {name!r}: {nearest(name, [e.name for e in entries('workload')])}")


def _typed(value: Any, hint: Any, field: str) -> Any:
    """A value, possibly a string from the command line, as the type that a parameter asks for."""
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            fail(field, value, "one of " + ", ".join(map(str, get_args(hint))))
        return value
    if get_args(hint):  # `int | None` and the like: the first that fits
        for part in get_args(hint):
            try:
                return _typed(value, part, field)
            except ValueError:
                continue
        fail(field, value, str(hint))
    if hint is type(None):
        return None if value in (None, "", "none") else fail(field, value, "none")
    if hint is bool:
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        return words[str(value).lower()] if str(value).lower() in words else fail(field, value, "true or false")
    if hint in (int, float):
        try:
            number = hint(value)
        except (TypeError, ValueError, OverflowError):
            fail(field, value, "a whole number" if hint is int else "a number")
        if number != number or abs(number) == float("inf"):
            fail(field, value, "a finite number")
        return number
    return str(value)


__all__ = [
    *("Entry", "Kind", "bound", "certificate", "entries", "experiment", "find", "find_workload", "load", "method"),
    *("problem_names", "serves", "workload"),
]
