"""Times of customization: `python benchmarks/customization.py [FOLDER with .stp files]`. Seeds are fixed, times are noisy."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import yardline as yl


def row(what: str, instance: yl.Instance, method: str, **settings) -> None:
    yl.solve(yl.generate("customization-random", brokers=20, formats=4), method)  # compiled
    begun = time.perf_counter()
    solved = yl.solve(instance, method, **settings)
    gap = "" if solved.gap is None else f", gap {100 * solved.gap:.2f} %"
    print(f"{what}: {method} {solved.status} {solved.cost:g}{gap}, {time.perf_counter() - begun:.2f} s", flush=True)


def main() -> None:
    for formats in (8, 12, 16, 20):
        instance = yl.generate("customization-random", seed=1, formats=formats, matching_ratio=0.7)
        row(f"1,024 brokers, {instance.n} nodes, {formats} formats", instance, "exact", time_limit=120)
    row("1,024 brokers, 16 formats", yl.generate("customization-video", seed=1, matching_ratio=0.7), "iterative")
    instance = yl.generate("customization-random", seed=1, formats=62, matching_ratio=0.7)
    row("1,024 brokers, 62 formats", instance, "portfolio", time_limit=3)
    instance = yl.generate("customization-random", seed=1, brokers=122_000, formats=12, matching_ratio=0.7)
    row(f"{instance.n} nodes, 12 formats", instance, "exact", time_limit=120)
    for folder in sys.argv[1:]:
        for path in sorted(Path(folder).glob("*.stp")):
            row(path.name, yl.load(path), "exact", time_limit=60)


if __name__ == "__main__":
    main()
