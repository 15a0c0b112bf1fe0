"""Many random small instances with weights against brute force: bound <= optimum <= plan, and every plan is valid.

A thousand of them where slow tests run; YARDLINE_EXAMPLES=10000 draws as many as that, always the same ones first.
"""

from __future__ import annotations

import itertools
import math
import os
from typing import Any

import in_process
import numpy as np
import pytest
from customization.brute_force import least_cost
from customization.support import read

from yardline.models.customization.judge import evaluate

EXAMPLES = int(os.environ.get("YARDLINE_EXAMPLES", "1000"))
CHUNKS = 20
METHODS = ("exact", "optimal-paper", "portfolio", "iterative", "all-in-root", "all-in-leaves", "single-format")
BOUNDS = ("paper", "dual-ascent", "cuts", "best")
EXACT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("exact", {"by": "sets"}),
    ("exact", {"by": "cuts"}),
    ("optimal-paper", {}),
)


def drawn(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(2, 5))
    order = rng.permutation(m).tolist()
    grown = {(order[rng.integers(k)], order[k]) for k in range(1, m)}  # everything can be made from order[0]
    others = rng.permutation(list(itertools.permutations(range(m), 2)))[: rng.integers(5)]
    chosen = sorted(grown | set(map(tuple, others.tolist())))
    costs, weights = [0, 1, 2, 3, 5, 8, 0.5, 2.25], [0, 0.5, 1, 2, 3]
    document = {
        "parent": [None, *(int(rng.integers(v)) for v in range(1, n))],
        "requests": [np.flatnonzero(rng.random(m) < 0.35).tolist() for _ in range(n)],
        "formats": [{"name": f"f{f}", "transmission": float(rng.choice(costs))} for f in range(m)],
        "conversions": [{"from": f, "to": g, "cost": float(rng.choice(costs))} for f, g in chosen],
        "source": order[0] if rng.random() < 0.9 else int(rng.integers(m)),
        "alpha": float(rng.choice([0.1, 1, 10])),
        "beta": float(rng.choice([0.5, 1, 3])),
        "link_weight": rng.choice(weights, n).tolist(),
        "node_weight": rng.choice(weights, n).tolist(),
    }
    return document


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_between_bounds_and_plans(chunk: int) -> None:
    solvable = 0
    for seed in range(chunk, EXAMPLES, CHUNKS):
        document = drawn(seed)
        made, best = read(document), least_cost(document)
        if best == math.inf:
            assert in_process.method(made, "exact").infeasible, seed
            continue
        solvable += 1
        for name in METHODS:
            judged = evaluate(made, in_process.plan_of(in_process.method(made, name)))  # type: ignore[arg-type]
            assert judged.valid, (seed, name, judged.violations)
            assert judged.cost >= best * (1 - 1e-9) - 1e-12, (seed, name)
        for name, options in EXACT:
            found = in_process.plan_of(in_process.method(made, name, **options))
            assert evaluate(made, found).cost == pytest.approx(best, rel=1e-9, abs=1e-12), (seed, name, options)  # type: ignore[arg-type]
        for name in BOUNDS:
            bound = in_process.bound(made, name).bound
            assert bound is not None, (seed, name)
            assert bound <= best * (1 + 1e-9) + 1e-12, (seed, name)
    assert solvable > 0.5 * len(range(chunk, EXAMPLES, CHUNKS))  # enough of them say something
