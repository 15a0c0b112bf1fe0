"""`make demo`: all methods on all shipped instances, compared on Spark: costs, certified bounds, gaps, how they were checked."""

from __future__ import annotations

import sys
import time
from typing import Any

import yardline as yl
from yardline.cli.comparing import Live, complain, exit_code
from yardline.cli.output import number, percent, table
from yardline.comparison.compare import Comparison
from yardline.results import gap_of, reconciled

SECONDS = 12.0
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
    """One table over all shipped instances."""
    begun = time.monotonic()
    live = Live(quiet=False)
    compared = yl.compare(list(yl.examples()), time_limit=SECONDS, listener=live.hear)
    live.close()
    header = ("instance", "method", "cost", "certified bound", "gap", "seconds", "how the bound was checked")
    title = "What each method costs, and how far that can be from the best possible plan"
    table(title, header, _rows(compared))
    complain(compared)
    print(f"{time.monotonic() - begun:.0f} s. Every cost is the judge's; {_certified(compared)}.")
    print(NEXT)
    sys.exit(exit_code(compared))


def _certified(compared: Comparison) -> str:
    good = sum(bool(row["certified"]) for row in compared.bounds)
    return f"{good} of {len(compared.bounds)} bounds were recomputed in rational arithmetic and hold"


def _rows(compared: Comparison) -> list[list[str]]:
    proved = {row["instance"]: row for row in compared.bounds if row["certified"]}
    return [_cells(row, proved.get(row["instance"], {})) for row in compared.runs if row["method"] != "portfolio"]


def _cells(row: dict[str, Any], proved: dict[str, Any]) -> list[str]:
    """Against the bound that was certified, even if an uncertified one is better."""
    valid = row["status"] in ("optimal", "feasible")
    cost = number(row["cost"]) if valid else f"{row['status']}: {row['rule']}" if row["rule"] else row["status"]
    bound = reconciled(row["cost"] if valid else None, proved.get("bound"), row["method"])
    gap = percent(gap_of(row["cost"], bound) if valid else None)
    return [row["name"], row["method"], cost, number(bound), gap, f"{row['seconds']:.1f}", proved.get("checked", "")]


if __name__ == "__main__":
    main()
