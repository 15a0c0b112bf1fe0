"""The judge of assignment: what a plan costs and which rules it breaks. Knows nothing of any algorithm.

    cost = sum over ALL brokers of the measure of the union of their filter's boxes (volume, or the density's integral)

Rules: `leaf` (subscribers go to leaves), `latency` (near enough), `load` (no leaf beyond its cap),
`filter-complexity` (at most alpha boxes), `cover` (an interest lies inside its leaf's filter), `nesting` (a child's
filter lies inside its parent's). Inside means inside one box of the outer filter (containment `rectangle`) or inside
their union (`union`); it has no tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from yardline.models.assignment import limits
from yardline.models.assignment.boxes import covered, union_measure
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.checks import Indices, Vector
from yardline.models.judgement import Judgement, Violation


def evaluate(instance: Assignment, plan: AssignmentPlan) -> Judgement:
    """Cost, terms and violations of a plan."""
    measures = np.array([union_measure(instance, *plan.boxes(b)) for b in range(instance.n)])
    loads = np.bincount(plan.leaf, minlength=instance.n)
    latency = limits.chosen_latency(instance, plan.leaf)
    levels = np.bincount(instance.level, weights=measures)
    terms = {
        **_load_terms(instance, loads),
        **_delay_terms(latency, limits.shortest(instance)),
        "cost_per_level": [float(cost) for cost in levels],
    }
    return Judgement(
        cost=float(measures.sum()), terms=terms, violations=tuple(_violations(instance, plan, latency, loads))
    )


def _load_terms(instance: Assignment, loads: Indices) -> dict[str, object]:
    """Load factor over leaves with capacity, whether every leaf is within beta, deviation of the leaves' loads."""
    fair = instance.kappa * instance.m
    factors = loads[fair > 0] / fair[fair > 0]
    own = loads[instance.leaves]
    return {
        "load_factor": float(factors.max(initial=0.0)),
        "within_desired": bool((own <= limits.caps(instance, instance.beta)[instance.leaves]).all()),
        "load_deviation": float(own.std()),
    }


def _delay_terms(latency: Vector, shortest: Vector) -> dict[str, object]:
    """Root mean square and maximum of latency / shortest - 1; null where somebody's shortest is 0 and not kept."""
    if ((shortest == 0) & (latency > 0)).any():
        return {"rms_delay": None, "max_delay": None}
    delay = np.zeros(len(latency))
    np.divide(latency - shortest, shortest, out=delay, where=shortest > 0)
    rms = float(np.sqrt(np.mean(delay**2))) if len(delay) else 0.0
    return {"rms_delay": rms, "max_delay": float(delay.max(initial=0.0))}


def _violations(instance: Assignment, plan: AssignmentPlan, latency: Vector, loads: Indices) -> Iterator[Violation]:
    is_leaf = np.zeros(instance.n, dtype=bool)
    is_leaf[instance.leaves] = True
    for s in np.flatnonzero(~is_leaf[plan.leaf]).tolist():
        yield Violation(rule="leaf", where={"subscriber": s, "broker": int(plan.leaf[s])}, amount=1.0)
    over = latency - limits.latency_limits(instance)
    for s in np.flatnonzero((over > 0) & is_leaf[plan.leaf]).tolist():
        yield Violation(rule="latency", where={"subscriber": s, "broker": int(plan.leaf[s])}, amount=float(over[s]))
    excess = loads - limits.caps(instance)
    for b in np.flatnonzero((excess > 0) & is_leaf).tolist():
        yield Violation(rule="load", where={"broker": b}, amount=float(excess[b]))
    yield from _filter_violations(instance, plan)


def _filter_violations(instance: Assignment, plan: AssignmentPlan) -> Iterator[Violation]:
    counts = np.bincount(plan.broker, minlength=instance.n)
    for b in np.flatnonzero(counts > instance.alpha).tolist():
        yield Violation(rule="filter-complexity", where={"broker": b}, amount=float(counts[b] - instance.alpha[b]))
    by_leaf = np.argsort(plan.leaf, kind="stable")
    bounds = np.searchsorted(plan.leaf[by_leaf], np.arange(instance.n + 1))
    for b in range(instance.n):
        own = by_leaf[bounds[b] : bounds[b + 1]]
        for s in own[_outside(instance, instance.low[own], instance.high[own], plan, b)].tolist():
            yield Violation(rule="cover", where={"subscriber": s, "broker": b}, amount=1.0)
    for b in np.flatnonzero(instance.parent >= 0).tolist():
        above = int(instance.parent[b])
        for r in np.flatnonzero(_outside(instance, *plan.boxes(b), plan, above)).tolist():
            yield Violation(rule="nesting", where={"broker": b, "parent": above, "rectangle": r}, amount=1.0)


def _outside(instance: Assignment, low: Vector, high: Vector, plan: AssignmentPlan, b: int) -> NDArray[np.bool_]:
    """Which boxes are not contained in the filter of a broker."""
    return ~covered(low, high, *plan.boxes(b), containment=instance.containment)
