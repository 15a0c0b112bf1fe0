"""A comparison as text: per problem a line per method, best mean gap first; then what failed, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from yardline.comparison.summary import NO_PLAN

HEADER = ("method", "valid", "mean gap", "worst gap", "wins", "optimal", "seconds")
SHOWN = 5
"""Reasons of failure that are printed; all are in the rows."""

Row = Mapping[str, Any]


def text(summary: Sequence[Row], runs: Sequence[Row], bounds: Sequence[Row]) -> str:
    """All of it, without colours: it reads alike in a terminal of 80 columns, a log and a notebook."""
    blocks = [_block(problem, summary, runs, bounds) for problem in sorted({line["problem"] for line in summary})]
    return "\n\n".join([*blocks, *filter(None, ["\n".join(_failures(runs))])])


def _block(problem: str, summary: Sequence[Row], runs: Sequence[Row], bounds: Sequence[Row]) -> str:
    """The table of one problem."""
    instances = {row["instance"] for row in runs if row["problem"] == problem}
    certified = {row["instance"] for row in bounds if row["problem"] == problem and row["certified"]}
    title = f"{problem}: {counted(len(instances), 'instance')}, {len(instances & certified)} with a certified bound"
    lines = [_cells(line) for line in summary if line["problem"] == problem]
    return "\n".join([title, *aligned([HEADER, *lines])])


def _cells(line: Row) -> tuple[str, ...]:
    other = [f"{line[word]} {word}" for word in NO_PLAN if line[word]]
    counts = (f"{line['valid']}/{line['runs']}", gap(line["mean_gap"]), gap(line["worst_gap"]))
    return (line["method"], *counts, str(line["wins"]), str(line["optimal"]), time(line["seconds"]), ", ".join(other))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns side by side, a rule under the first row; names and remarks to the left, numbers to the right.

    >>> for line in aligned([("method", "wins"), ("greedy", "3", "1 failed")]):
    ...     print(line)
    method  wins
    ------------
    greedy     3  1 failed
    """
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if k else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]  # remarks have no column
        lines.append("  ".join([*cells, *row[len(widths) :]]).rstrip())
    return [lines[0], "-" * (sum(widths) + 2 * len(widths) - 2), *lines[1:]]


def _failures(runs: Iterable[Row]) -> list[str]:
    """Why runs failed, each reason once."""
    why = Counter((row["method"], row["error"]) for row in runs if row["status"] == "failed")
    lines = [f"failed: {method}, {counted(count, 'run')}: {error}" for (method, error), count in why.most_common(SHOWN)]
    return [*lines, f"failed: {counted(len(why) - SHOWN, 'further reason')}"] if len(why) > SHOWN else lines


def counted(count: int, thing: str) -> str:
    """A number of things, in words.

    >>> counted(1, "run"), counted(3, "run")
    ('1 run', '3 runs')
    """
    return f"{count} {thing}" + ("" if count == 1 else "s")


def gap(value: float | None) -> str:
    """A gap for people; none where no plan was valid, or no bound is known."""
    if value is None:
        return "-"
    return "0 %" if abs(value) <= 1e-6 else f"{100 * value:.3g} %"  # as far as the solvers can tell


def time(seconds: float | None) -> str:
    """Seconds for people.

    >>> time(0.0004), time(0.7631), time(12.34), time(None)
    ('<0.01', '0.76', '12.3', '-')
    """
    if seconds is None:
        return "-"
    return "<0.01" if seconds < 0.01 else f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}"
