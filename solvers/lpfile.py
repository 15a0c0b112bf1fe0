"""Programs as CPLEX LP files, readable by people, HiGHS and CBC alike.

CBC drops a constant in the objective (so it is written as a column fixed at 1), and words such as `free` or names that begin
with a digit cannot be read back (so such names get a letter in front).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from yardline.models.checks import Vector
from yardline.models.program import Program

RESERVED = {"free", "inf", "infinity", "st", "s.t.", "bin", "binary", "gen", "general", "end", "bounds", "int", "sos"}
LONGEST = 200  # CBC breaks at 260
CONSTANT = "constant_one"


def text(program: Program, *, relax: bool = False) -> str:
    """The program as an LP file."""
    return "\n".join(_lines(program, relax)) + "\n"


def _lines(program: Program, relax: bool) -> Iterator[str]:
    columns, rows = _safe(program.columns, "x"), _safe(program.rows, "r")
    yield "\\ written by yardline"
    yield "Minimize"
    constant = [f"{program.offset:+.17g} {CONSTANT}"] if program.offset else []
    costs = [f"{value:+.17g} {name}" for value, name in zip(program.cost, columns, strict=True) if value]
    # an objective without any term is an error to some readers
    yield from _wrapped("cost:", [*costs, *constant] or ([f"+0 {columns[0]}"] if columns else []))
    yield "Subject To"
    matrix = program.matrix
    for r, name in enumerate(rows):
        span = slice(matrix.indptr[r], matrix.indptr[r + 1])
        terms = [f"{v:+.17g} {columns[c]}" for v, c in zip(matrix.data[span], matrix.indices[span], strict=True)]
        yield from _row(name, terms, float(program.row_low[r]), float(program.row_high[r]), columns)
    yield "Bounds"
    yield from _bounds(columns, program.col_low, program.col_high)
    if constant:
        yield f" {CONSTANT} = 1"
    whole = [name for name, flag in zip(columns, program.integer, strict=True) if flag]
    if whole and not relax:
        yield "General"
        yield from (f" {name}" for name in whole)
    yield "End"


def _row(name: str, terms: list[str], low: float, high: float, columns: list[str]) -> Iterator[str]:
    """A row; one with two different limits becomes two."""
    terms = terms or ([f"+0 {columns[0]}"] if columns else [])
    if low == high:
        yield from _wrapped(f"{name}:", [*terms, f"= {low:.17g}"])
        return
    both = low > -math.inf and high < math.inf
    if low > -math.inf:
        yield from _wrapped(f"{name}{'_low' if both else ''}:", [*terms, f">= {low:.17g}"])
    if high < math.inf:
        yield from _wrapped(f"{name}{'_high' if both else ''}:", [*terms, f"<= {high:.17g}"])


def _bounds(columns: list[str], low: Vector, high: Vector) -> Iterator[str]:
    for name, least, most in zip(columns, low, high, strict=True):
        yield f" {least:.17g} <= {name} <= {most:.17g}"


def _wrapped(head: str, words: Sequence[str]) -> Iterator[str]:
    """Some readers limit the length of a line."""
    line = f" {head}"
    for word in words:
        if len(line) + len(word) > 200:
            yield line
            line = "  "
        line += f" {word}"
    yield line


def _safe(names: Sequence[str], letter: str) -> list[str]:
    """Names that come back from every reader, each once."""
    plain = [re.sub(r"[^A-Za-z0-9_().,]", "_", name)[:LONGEST] for name in names]
    plain = [f"{letter}_{name}" if _odd(name) else name for name in plain]
    if len(set(plain)) < len(plain):
        return [f"{letter}{position}" for position in range(len(plain))]
    return plain


def _odd(name: str) -> bool:
    return not name or not name[0].isalpha() or name[0] in "eE" or name.lower() in RESERVED
