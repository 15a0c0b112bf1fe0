"""`python benchmarks/assignment.py`: plans and certified bounds of assignment at one size, all workload settings.

`python benchmarks/assignment.py building`: LPRelax of `slp` as arrays and through Pyomo.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import yardline as yl
from yardline.decomposition.assignment.boxes import filter_gen
from yardline.decomposition.assignment.formulation import build
from yardline.decomposition.assignment.lprelax import Choice, Sample, choices, program_of
from yardline.models.assignment import limits
from yardline.solvers.compiled import compiled
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


def lprelax(subscribers: int, brokers: int) -> tuple[Sample, Choice]:
    """LPRelax of a whole small instance, one level."""
    instance = yl.generate("assignment-3", seed=2, subscribers=subscribers, brokers=brokers)
    rng, of = np.random.default_rng(0), limits.candidates(instance)
    low, high = filter_gen(rng, instance.at, instance.low, instance.high, supers=5 * brokers, overlap=0.5)
    sample = Sample(
        low=instance.low,
        high=instance.high,
        weight=np.ones(subscribers),
        may=of.table(),
        below=np.arange(brokers),
        alpha=instance.alpha,
        cap=limits.caps(instance).astype(float),
    )
    return sample, choices(rng, instance, sample, low, high)


def building() -> None:
    for subscribers, brokers in ((200, 20), (400, 40)):
        sample, choice = lprelax(subscribers, brokers)
        seconds = []
        for make in (program_of, lambda *made: compiled(build(*made)).program):
            times = []
            for _ in range(3):
                begun = time.perf_counter()
                program = make(sample, choice)
                times.append(time.perf_counter() - begun)
            seconds.append(min(times))
        rows, columns = program.shape
        words = f"arrays {seconds[0]:.3f} s, Pyomo {seconds[1]:.2f} s, {seconds[1] / seconds[0]:.0f} x"
        print(f"LPRelax, {subscribers} subscribers x {brokers} brokers, {rows:,} x {columns:,}: {words}")


if __name__ == "__main__":
    print(versions("highs"))
    if sys.argv[1:] == ["building"]:
        building()
        sys.exit()
    bench(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, float(sys.argv[2]) if len(sys.argv) > 2 else 60.0)
