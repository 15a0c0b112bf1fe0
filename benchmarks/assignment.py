"""`python benchmarks/assignment.py`: plans and certified bounds of assignment at one size, all workload settings."""

from __future__ import annotations

import sys
import time

import yardline as yl
from yardline.versions import versions

SETTINGS = [
    *(("assignment-1", {"interest_skew": i, "broad_interests": b}) for i in "LH" for b in "LH"),
    ("assignment-2", {}),
    ("assignment-3", {}),
]


def bench(subscribers: int, seconds: float) -> None:
    for workload, parameters in SETTINGS:
        instance = yl.generate(workload, seed=2, subscribers=subscribers, brokers=100, **parameters)
        begun = time.perf_counter()
        bounded = yl.bound(instance, "best", time_limit=seconds)
        words = f"bound {bounded.bound or 0:.4g} ({time.perf_counter() - begun:.0f} s)"
        for method in ("greedy-offline", "local-search", "slp"):
            begun = time.perf_counter()
            solved = yl.solve(instance, method, time_limit=seconds)
            over = f"{solved.cost / bounded.bound:.2f}" if solved.cost and bounded.bound else "-"
            words += f"; {method} {solved.cost or 0:.4g} {solved.status} {over} ({time.perf_counter() - begun:.0f} s)"
        print(f"{workload} {parameters} {subscribers:,} x 100, seed 2: {words}", flush=True)


if __name__ == "__main__":
    print(versions("highs"))
    bench(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, float(sys.argv[2]) if len(sys.argv) > 2 else 60.0)
