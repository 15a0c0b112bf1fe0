"""LPRelax in Pyomo, near the maths of lprelax.py: to read, to extend, and to hold the arrays against."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from yardline.decomposition.assignment.lprelax import Choice, Sample


def build(sample: Sample, choice: Choice) -> pyo.ConcreteModel:
    """The program of a sample; rows and columns have the names that the arrays give them."""
    leaves = {j: np.flatnonzero(row).tolist() for j, row in enumerate(sample.may)}
    brokers = {j: sorted({int(sample.below[l]) for l in of}) for j, of in leaves.items()}
    boxes: dict[int, list[int]] = {i: np.flatnonzero(choice.broker == i).tolist() for i in range(len(sample.alpha))}
    around = _around(choice)
    m = pyo.ConcreteModel("lprelax")
    m.x = pyo.Var([(j, l) for j, of in leaves.items() for l in of], bounds=(0, 1))
    m.y = pyo.Var([(i, k) for i, of in boxes.items() for k in of], bounds=(0, 1))
    m.total = pyo.Objective(expr=sum(float(choice.measure[k]) * m.y[i, k] for i, of in boxes.items() for k in of))

    @m.Constraint([i for i, of in boxes.items() if of])  # type: ignore[untyped-decorator]
    def C1(m: Any, i: int) -> Any:
        return sum(m.y[i, k] for k in boxes[i]) <= int(sample.alpha[i])

    @m.Constraint(list(leaves))  # type: ignore[untyped-decorator]
    def C2(m: Any, j: int) -> Any:
        return sum(m.x[j, l] for l in leaves[j]) >= 1

    users = {l: [j for j in leaves if sample.may[j, l] and sample.weight[j] > 0] for l in range(len(sample.cap))}

    @m.Constraint([l for l, of in users.items() if of])  # type: ignore[untyped-decorator]
    def C3(m: Any, l: int) -> Any:
        return sum(float(sample.weight[j]) * m.x[j, l] for j in users[l]) <= float(sample.cap[l])

    @m.Constraint([(j, i) for j, of in brokers.items() for i in of])  # type: ignore[untyped-decorator]
    def C4(m: Any, j: int, i: int) -> Any:
        held = sum(m.y[i, k] for k in around.get((j, i), []))
        return held - sum(m.x[j, l] for l in leaves[j] if sample.below[l] == i) >= 0

    return m


def _around(choice: Choice) -> dict[tuple[int, int], list[int]]:
    """The boxes of a broker that hold a subscriber."""
    result: dict[tuple[int, int], list[int]] = {}
    for k, i in enumerate(choice.broker.tolist()):
        for j in choice.holds.indices[choice.holds.indptr[k] : choice.holds.indptr[k + 1]].tolist():
            result.setdefault((j, i), []).append(k)
    return result
