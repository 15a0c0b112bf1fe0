"""What commands print: results as a few lines, tables, progress on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

if TYPE_CHECKING:
    from yardline.models.method import Finding


def verbose() -> bool:
    """Whether -v was given anywhere on the command line."""
    return "-v" in sys.argv or "--verbose" in sys.argv


def fail(code: int, message: str) -> NoReturn:
    """One line on stderr, and out."""
    print(f"yardline: {message}", file=sys.stderr)
    sys.exit(code)


def show(document: Mapping[str, Any], lines: Sequence[tuple[str, str]], as_json: bool) -> None:
    """A result: one JSON document, or a few labelled lines."""
    if as_json:
        print(json.dumps(document, allow_nan=False))
        return
    width = max(len(label) for label, _ in lines)
    for label, words in lines:
        print(f"{label:<{width}}  {words}")


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout."""
    from rich.console import Console
    from rich.table import Table

    wide = None if sys.stdout.isatty() else 150
    drawn = Table(title=title, title_justify="left", header_style="bold")
    for name in header:
        drawn.add_column(name, overflow="fold")
    for row in rows:
        drawn.add_row(*row)
    Console(width=wide).print(drawn)


def number(value: float | None) -> str:
    """A number for people."""
    return "none" if value is None else f"{value:,.6g}"


def percent(value: float | None) -> str:
    """A fraction for people."""
    if value is None:
        return "unknown"
    return "0 %" if abs(value) <= 1e-6 else f"{100 * value:.3g} %"  # as far as the solvers can tell


class Progress:
    """Findings as they come: a live line on a terminal, one line per event in a log; and the trace file."""

    def __init__(self, quiet: bool, trace: TextIO | None) -> None:
        self.quiet, self.trace = quiet, trace
        self.live = sys.stderr.isatty()
        self.value: float | None = None
        self.bound: float | None = None
        self.last = 0.0

    def hear(self, finding: Finding) -> None:
        """Show and record one finding."""
        self.value = finding.value if finding.value is not None else self.value
        self.bound = finding.bound if finding.bound is not None else self.bound
        if self.trace is not None:
            record = {"seconds": finding.seconds, "bound": self.bound, "value": self.value, "event": finding.event}
            print(json.dumps(record), file=self.trace, flush=True)
        if not self.quiet:
            self._show(finding)

    def _show(self, finding: Finding) -> None:
        line = (
            f"{finding.seconds:8.1f} s  plan {number(self.value):>12}  bound {number(self.bound):>12}  {finding.event}"
        )
        if self.live:
            print(f"\r\x1b[2K{line}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.last > 1.0:  # a log wants the story, not every step
            self.last = time.monotonic()
            print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the terminal tidy."""
        if self.live and not self.quiet:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


@contextmanager
def progress(quiet: bool, trace: Path | None) -> Iterator[Progress]:
    """Progress of one run."""
    stream = trace.open("w") if trace is not None else None
    shown = Progress(quiet, stream)
    try:
        yield shown
    finally:
        shown.close()
        if stream is not None:
            stream.close()
