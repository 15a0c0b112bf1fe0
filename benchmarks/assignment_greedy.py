"""`python benchmarks/assignment_greedy.py [subscribers]`: `greedy-offline` against the same rule as a plain numpy loop.

The loop looks at all candidate leaves of a subscriber with a few numpy calls. Both must choose the same leaf for everybody.
Times are seconds of CPU, so that what else runs on the machine does not count.
The second part times `greedy-offline`, `balance` and `closest` at a million subscribers (`MILLION=0` leaves it out).
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

import yardline as yl
from yardline.models.assignment import limits
from yardline.models.assignment.judge import evaluate
from yardline.solvers.heuristics.assignment.balance import balance
from yardline.solvers.heuristics.assignment.closest import closest
from yardline.solvers.heuristics.assignment.greedy_offline import greedy_offline


class Plain:
    """One level, uniform events, two dimensions: the state of the loop."""

    def __init__(self, instance):
        self.instance, self.found = instance, limits.candidates(instance)
        self.caps = limits.caps(instance)[instance.leaves]
        self.loads, self.fair = np.zeros(len(self.caps), dtype=np.int64), (instance.kappa * instance.m)[instance.leaves]
        self.alpha = int(instance.alpha[0])
        shape = (len(self.caps), self.alpha, instance.d)
        self.low, self.high = np.full(shape, np.inf), np.full(shape, -np.inf)
        self.count = np.zeros(len(self.caps), dtype=np.int64)
        self.own = np.zeros((len(self.caps), self.alpha))

    def solve(self):
        """Those with the fewest candidates that are not full first."""
        leaf = np.zeros(self.instance.m, dtype=np.int64)
        order = self.ordered(np.arange(self.instance.m))
        for done in range(len(order)):
            s = order[done]
            leaf[s] = pick = self.place(s)
            self.loads[pick] += 1
            if self.loads[pick] == self.caps[pick]:
                order[done + 1 :] = self.ordered(order[done + 1 :])
        return self.instance.leaves[leaf]

    def ordered(self, left):
        live = (self.found.sets & (self.loads < self.caps)).sum(axis=1)
        return left[np.argsort(live[self.found.of[left]], kind="stable")]

    def place(self, s):
        """The leaf whose filter holds the interest or grows least; ties to the least load."""
        a, c = self.instance.low[s], self.instance.high[s]
        mine = np.flatnonzero(self.found.sets[self.found.of[s]] & (self.loads < self.caps))
        held = ((self.low[mine] <= a) & (self.high[mine] >= c)).all(axis=2).any(axis=1)
        used = self.loads[mine] / self.fair[mine]
        if held.any():
            return mine[np.argmin(np.where(held, used, np.inf))]
        more = np.stack([self.growth(mine, r, a, c) for r in range(self.alpha)], axis=1)
        best = more.min(axis=1)
        i = np.lexsort((used, best))[0]
        self.grow(mine[i], int(np.argmin(more[i])), a, c)
        return mine[i]

    def growth(self, mine, r, a, c):
        """Of box r of these leaves, less what it has in common with the others; infinite where it is not the next one."""
        low, high = np.minimum(self.low[mine, r], a), np.maximum(self.high[mine, r], c)
        more = np.prod(high - low, axis=1) - np.where(self.count[mine] > r, self.own[mine, r], 0.0)
        more = np.maximum(0.0, more - self.common(mine, r, low, high))
        return np.where(self.count[mine] >= r, more, np.inf)

    def common(self, mine, r, low, high):
        """What boxes have in common with the leaves' boxes other than r: inclusion and exclusion, largest subset first."""
        others = [q for q in range(self.alpha) if q != r]
        total = np.zeros(len(mine))
        for chosen in range((1 << len(others)) - 1, 0, -1):
            subset = [others[i] for i in range(len(others)) if chosen >> i & 1]
            x = np.maximum(low, self.low[mine][:, subset].max(axis=1))
            y = np.minimum(high, self.high[mine][:, subset].min(axis=1))
            volume = np.where((x < y).all(axis=1), np.prod(np.where(x < y, y - x, 0.0), axis=1), 0.0)
            total += volume if len(subset) % 2 else -volume
        return total

    def grow(self, l, r, a, c):
        self.low[l, r], self.high[l, r] = np.minimum(self.low[l, r], a), np.maximum(self.high[l, r], c)
        self.count[l] = max(self.count[l], r + 1)
        one = np.array([l])
        for q in range(int(self.count[l])):
            shared = self.common(one, q, self.low[one, q], self.high[one, q])[0]
            self.own[l, q] = np.prod(self.high[l, q] - self.low[l, q]) - shared


def timed(work):
    begun = time.process_time()
    result = work()
    return time.process_time() - begun, result


def against_a_loop(subscribers: int) -> None:
    for workload in ("assignment-1", "assignment-2", "assignment-3"):
        instance = yl.generate(workload, seed=2, subscribers=subscribers, brokers=100)
        greedy_offline(instance, np.random.default_rng(0), load="max")  # compiled, candidates known
        quick, plan = timed(lambda instance=instance: greedy_offline(instance, np.random.default_rng(0), load="max"))
        slow, leaf = timed(Plain(instance).solve)
        same = np.array_equal(plan.leaf, leaf)
        words = f"greedy-offline {quick:.3f} s, numpy loop {slow:.1f} s, ratio {slow / quick:.0f}, same plan: {same}"
        print(f"{workload} {subscribers:,} x 100, seed 2: {words}", flush=True)
        assert same


def a_million() -> None:
    for workload in ("assignment-1", "assignment-2", "assignment-3"):
        drawn, instance = timed(lambda name=workload: yl.generate(name, seed=2, subscribers=1_000_000, brokers=100))
        known, _ = timed(lambda instance=instance: limits.candidates(instance))
        words = f"generated {drawn:.1f} s, candidates {known:.1f} s"
        for method in (greedy_offline, balance, closest):
            seconds, plan = timed(lambda m=method, i=instance: m(i, np.random.default_rng(0)))
            judgement = evaluate(instance, plan)
            words += f"; {method.__name__} {seconds:.1f} s, cost {judgement.cost:.4g}, valid {judgement.valid}"
        print(f"{workload} 1,000,000 x 100, seed 2: {words}", flush=True)


if __name__ == "__main__":
    against_a_loop(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
    if os.environ.get("MILLION") != "0":
        a_million()
