"""`make bench`: each benchmark prints what it measures as ratios or times of one run, with seeds, sizes and versions."""

from __future__ import annotations

import time

import yardline as yl
from yardline.models.problem import problem_of
from yardline.solvers import highs
from yardline.versions import versions


def timed(work):
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def bench_flow_merge() -> None:
    instance = yl.generate("channelization-random", seed=1, flows=2000, users=250, groups=100)
    yl.solve(instance, "flow-merge")  # compiled
    seconds, solved = timed(lambda: yl.solve(instance, "flow-merge"))
    print(
        f"flow-merge, 2,000 flows x 250 users x 100 groups: {seconds:.2f} s, {solved.terms['over_perfect']:.2f} over perfect"
    )


def bench_building() -> None:
    instance = yl.generate("channelization-random", seed=1, flows=40, users=30)
    problem = problem_of(instance)
    arrays, program = timed(lambda: problem.assemble(instance))
    pyomo, _ = timed(lambda: problem.formulate(instance))
    print(
        f"model building, {program.shape[0]:,} rows: arrays {arrays:.3f} s, Pyomo {pyomo:.3f} s, ratio {pyomo / arrays:.0f}"
    )


def bench_worker() -> None:
    instance = yl.load("channelization-shared")
    yl.solve(instance, "random")
    seconds, _ = timed(lambda: [yl.solve(instance, "random", seed=s) for s in range(200)])
    print(f"overhead of a run in the worker: {1000 * seconds / 200:.1f} ms")


def bench_exact_against_tree() -> None:
    for name in ("channelization-small", "channelization-hybrid"):
        instance = yl.load(name)
        program = problem_of(instance).assemble(instance)
        mip, _ = timed(lambda program=program: highs.solve(program, time_limit=60))
        tree, proved = timed(lambda instance=instance: yl.bound(instance, "tree", time_limit=60))
        check, _ = timed(lambda instance=instance, proved=proved: yl.verify(instance, proved.certificate))
        print(f"{name}: HiGHS {mip:.1f} s; tree with proof {tree:.1f} s (HiGHS inside), checked in {check:.2f} s")


if __name__ == "__main__":
    print(versions("highs"))
    for benchmark in (bench_flow_merge, bench_building, bench_worker, bench_exact_against_tree):
        benchmark()
