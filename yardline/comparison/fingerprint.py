"""A mark of the code of a user's own method: rows of another version are not rows of this one.

It covers the function and whatever it looks up in its own module, on and on; not what is imported from elsewhere.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
from types import CodeType, FunctionType, ModuleType, NoneType
from typing import Any

from yardline.models import registry


def fingerprint(entry: registry.Entry) -> str:
    """Of a function's code, its defaults, and what it uses of its own module: functions, classes, plain values."""
    words = repr((_marks(entry.function, set()), sorted(entry.options.items())))
    return hashlib.sha256(words.encode()).hexdigest()[:12]


def _marks(thing: Any, seen: set[int]) -> Any:
    """What makes a thing the same thing; what is not of its own module or is not plain counts by its type alone."""
    thing = inspect.unwrap(thing) if callable(thing) else thing  # compiled or decorated: what was written counts
    if isinstance(thing, (str, bytes, int, float, complex, NoneType)):
        return repr(thing)
    if id(thing) in seen:
        return "again"
    seen.add(id(thing))
    if isinstance(thing, (list, tuple)):
        return [_marks(part, seen) for part in thing]
    if isinstance(thing, (set, frozenset)):
        return sorted(map(repr, thing))
    if isinstance(thing, dict):
        return [(repr(key), _marks(value, seen)) for key, value in thing.items()]
    if isinstance(thing, type):
        members = vars(thing).items()
        return [
            (name, _marks(value, seen)) for name, value in members if not name.startswith("__") or name == "__init__"
        ]
    return _function(thing, seen) if isinstance(thing, FunctionType) else type(thing).__name__


def _function(function: FunctionType, seen: set[int]) -> Any:
    """A function's own code, and all that its names mean in its module."""
    module = function.__globals__
    used = [(name, module[name]) for name in sorted(_names_in(function.__code__)) if name in module]
    own = [(name, value) for name, value in used if _is_of(module.get("__name__"), value)]
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    more = (function.__defaults__, function.__kwdefaults__, cells, [value for _, value in own])
    return (_parts(function.__code__), [name for name, _ in own], _marks(list(more), seen))


def _is_of(module: str | None, value: Any) -> bool:
    """Whether something was written in a module: what it imports has versions of its own."""
    return not isinstance(value, ModuleType) and getattr(value, "__module__", module) == module


def _names_in(code: CodeType) -> set[str]:
    """The names that a function, and those inside it, look up in their module."""
    inner = [_names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    own = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return own.union(*inner)


def _parts(code: CodeType) -> tuple[Any, ...]:
    constants = tuple(
        _parts(c) if isinstance(c, CodeType) else sorted(map(repr, c)) if isinstance(c, frozenset) else repr(c)
        for c in code.co_consts
    )
    return (code.co_code, constants, code.co_names, code.co_varnames)
