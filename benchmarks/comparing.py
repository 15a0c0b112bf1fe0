"""`python benchmarks/comparing.py`: what a comparison on Spark costs beside the runs themselves.

RUNS (200) runs of one second on local[2], against the same in a plain loop; TINY (1,000) tiny instances x 3 methods and a bound.
"""

from __future__ import annotations

import os
import time

import yardline as yl
from yardline.decomposition.tasks.session import session
from yardline.versions import versions

RUNS, TINY = int(os.environ.get("RUNS", 200)), int(os.environ.get("TINY", 1000))


@yl.method("channelization", "one-second")
def one_second(instance, rng):
    """A run of one second."""
    import time

    time.sleep(1.0)
    return {"groups": [list(range(instance.n))], "subscriptions": [[0]] * instance.m}


def timed(work):
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


class FirstRow:
    """When the first result came."""

    def __init__(self):
        self.begun, self.seconds = time.perf_counter(), None

    def hear(self, progress):
        if progress.done and self.seconds is None:
            self.seconds = time.perf_counter() - self.begun


def bench_start_up() -> None:
    first = FirstRow()
    yl.compare(["channelization-shared"], ["random"], ["lp"], master="local[2]", listener=first.hear)
    print(f"start-up to first row: {first.seconds:.1f} s (reach: 20 s warm)")


def bench_speed_up() -> None:
    instance = yl.load("channelization-shared")
    yl.solve(instance, "one-second")
    loop, _ = timed(lambda: [yl.solve(instance, "one-second", seed=seed) for seed in range(5)])
    spark = session("local[2]")
    yl.compare([instance], ["one-second"], ["lp"], seeds=4, spark=spark)  # workers start, Spark's and ours
    seconds, compared = timed(lambda: yl.compare([instance], ["one-second"], ["lp"], seeds=RUNS, spark=spark))
    assert len(compared.runs) == RUNS
    assert compared.failed == 0
    speed_up, overhead = loop / 5 * RUNS / seconds, (seconds * 2 - RUNS) / RUNS
    print(f"{RUNS} runs of 1 s on local[2]: {seconds:.1f} s, speed-up {speed_up:.2f} (reach: 1.7), ", end="")
    print(f"{1000 * overhead:.0f} ms beside each run (reach: 50)")


def bench_tiny() -> None:
    spec = f"channelization-random:flows=5,users=4,groups=2:seeds=1-{TINY}"
    spark = session("local[2]")
    seconds, compared = timed(lambda: yl.compare([spec], ["random", "flow-merge", "exact"], spark=spark))
    assert compared.failed == 0
    runs = len(compared.runs)
    print(f"{runs} tiny runs with {len(compared.bounds)} bounds: {seconds:.0f} s, ", end="")
    print(f"10,000 instances would take {seconds / TINY * 10_000 / 60:.1f} min (reach: 10)")


if __name__ == "__main__":
    print(versions("highs"))
    for benchmark in (bench_start_up, bench_speed_up, bench_tiny):
        benchmark()
