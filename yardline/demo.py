"""`make demo`: all methods on all shipped instances, compared on Spark: costs, certified bounds, gaps, how they were checked."""

from __future__ import annotations

import sys
import time
from typing import Any

import yardline as yl
from yardline.cli.comparing import Live, complain, exit_code
from yardline.cli.output import number
from yardline.comparison.compare import Comparison
from yardline.comparison.summary import VALID
from yardline.comparison.table import aligned, gap
from yardline.comparison.table import time as clock
from yardline.models import registry
from yardline.results import gap_of, reconciled

SECONDS = 8.0
"""For each method and each bound."""

NEXT = """
Next:
  .venv/bin/yardline methods                                            what there is
  .venv/bin/yardline generate channelization-random -o my.json          an instance of your own
  .venv/bin/yardline solve my.json --bound -o plan.json                 a plan, a bound, the gap
  .venv/bin/yardline solve channelization-shared --method exact --certificate proof.json
  .venv/bin/yardline verify channelization-shared proof.json            check the proof in exact arithmetic
  .venv/bin/yardline compare my.json overlay-paper:users=12,brokers=3:seeds=1-5 --time-limit 10 -o out/first
  .venv/bin/yardline reproduce small-channelization -o out/small        an experiment, with the verdict on its claims
"""


def main() -> None:
    """A table per shipped instance."""
    begun = time.monotonic()
    live = Live(quiet=False)
    methods = dict.fromkeys(entry.name for entry in registry.entries("method") if entry.name != "portfolio")
    compared = yl.compare(list(yl.examples()), list(methods), time_limit=SECONDS, listener=live.hear)
    live.close()
    print("What each method costs, and how far that can be from the best possible plan\n")
    for name in dict.fromkeys(row["name"] for row in compared.runs):
        print("\n".join(_block([row for row in compared.runs if row["name"] == name], compared)), end="\n\n")
    complain(compared)
    print(f"{time.monotonic() - begun:.0f} s. Every cost is the judge's; {_certified(compared)}.")
    print(NEXT)
    sys.exit(exit_code(compared))


def _certified(compared: Comparison) -> str:
    good = sum(bool(row["certified"]) for row in compared.bounds)
    return f"{good} of {len(compared.bounds)} bounds were recomputed in rational arithmetic and hold"


def _block(rows: list[dict[str, Any]], compared: Comparison) -> list[str]:
    """One instance: its certified bound, and a line per method."""
    proved = next((row for row in compared.bounds if row["certified"] and row["instance"] == rows[0]["instance"]), None)
    bound = (
        "no certified bound" if proved is None else f"certified bound {number(proved['bound'])}, {proved['checked']}"
    )
    lines = [_cells(row, proved) for row in rows]
    return [f"{rows[0]['name']}: {bound}", *aligned([("method", "cost", "gap", "seconds"), *lines])]


def _cells(row: dict[str, Any], proved: dict[str, Any] | None) -> tuple[str, ...]:
    """Against the bound that was certified, even if an uncertified one is better."""
    valid = row["status"] in VALID
    bound = reconciled(row["cost"] if valid else None, None if proved is None else proved["bound"], row["method"])
    cells = (number(row["cost"]) if valid else "-", gap(gap_of(row["cost"], bound) if valid else None))
    why = "" if valid else f"{row['status']}: {row['rule']}" if row["rule"] else row["status"]
    return (row["method"], *cells, clock(row["seconds"]), why)


if __name__ == "__main__":
    main()
