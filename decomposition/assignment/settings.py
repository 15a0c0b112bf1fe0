"""The constants of SLP, and what it is about: one broker's children, the subscribers shared out among them, filters."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from yardline.models import checks
from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment
from yardline.models.checks import Indices, Vector

LEAST: dict[str, int] = {"first": 1, "tries": 1, "redraws": 0, "iterations": 0, "lp_steps": 1, "finish": 0}
"""Of the options that are whole numbers."""

Table = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options; methods.py says what each means."""

    load: str
    sample: str
    sample_factor: float
    inner_factor: float
    supers: float
    overlap: float
    eps: float
    c: float
    first: int
    tries: int
    redraws: int
    iterations: int
    lp: str
    lp_accuracy: float
    lp_steps: int
    step: float
    share: float
    sure: float
    finish: int

    @classmethod
    def of(cls, options: dict[str, Any]) -> Settings:
        """From the options of a method, checked."""
        return cls(**{field.name: _checked(field.name, options[field.name]) for field in fields(cls)})


def _checked(name: str, value: Any) -> Any:
    path = f"option {name}"
    if isinstance(value, str):
        return value
    if name in LEAST:
        return checks.integer(value, path, low=LEAST[name])
    number = checks.number(value, path, low=1e-6 if name == "step" else 0.0)
    if name in ("overlap", "share") and number >= 1:
        checks.fail(path, value, "below 1")
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One broker's children and the subscribers to be shared out among them."""

    instance: Assignment
    who: Indices
    leaves: Indices  # positions of the leaves below
    below: Indices  # the child of each
    children: Indices  # brokers
    beta: float

    def caps(self, factor: float) -> Indices:
        """Absolute caps of the leaves."""
        return limits.caps(self.instance, factor)[self.instance.leaves[self.leaves]]

    def candidates(self) -> tuple[Table, Indices]:
        """Candidate sets cut down to the leaves of the part, and which each of its subscribers has."""
        found = limits.candidates(self.instance)
        return np.ascontiguousarray(found.sets[:, self.leaves]), found.of[self.who]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Boxes of children, ordered by child, how much of each the fractional program took, and what it was worth."""

    child: Indices
    low: Vector
    high: Vector
    y: Vector
    indicator: float

    def expanded(self, eps: float) -> Filters:
        """Boxes longer by eps in every dimension, half on each side."""
        more = eps * (self.high - self.low) / 2
        return replace(self, low=self.low - more, high=self.high + more)

    def sure(self, least: float, most: Indices) -> Filters:
        """The boxes of which the program took at least so much, of each child the largest shares, at most so many."""
        order = np.lexsort((-self.y, self.child))
        rank = np.arange(len(order)) - np.searchsorted(self.child, self.child[order])
        kept = np.sort(order[(rank < most[self.child[order]]) & (self.y[order] >= least)])
        return replace(self, child=self.child[kept], low=self.low[kept], high=self.high[kept], y=self.y[kept])

    def boxes(self, i: int) -> tuple[Vector, Vector]:
        """Those of one child."""
        first, last = np.searchsorted(self.child, (i, i + 1))
        return self.low[first:last], self.high[first:last]


def part_of(instance: Assignment, node: int, who: Indices, beta: float, *, by_level: bool) -> Part:
    """The children of a node (-1: the publisher) and the leaves below each; without levels, all leaves."""
    if not by_level:
        below = np.arange(len(instance.leaves))
        return Part(instance=instance, who=who, leaves=below, below=below, children=instance.leaves, beta=beta)
    children = np.flatnonzero(instance.parent == node)
    above = np.full(instance.n, -1, dtype=np.int64)
    above[children] = np.arange(len(children))
    for b in instance.top_down:
        if above[b] < 0 and instance.parent[b] >= 0:
            above[b] = above[instance.parent[b]]
    below = above[instance.leaves]
    leaves = np.flatnonzero(below >= 0)
    return Part(instance=instance, who=who, leaves=leaves, below=below[leaves], children=children, beta=beta)


def covered(part: Part, filters: Filters, some: Indices | None = None) -> Table:
    """Subscribers of the part (or some of them) x leaves: near enough, and the child's filter holds the interest in one box."""
    from yardline.decomposition.assignment import _held

    sets, of = part.candidates()
    if some is not None:
        of = of[some]
    who = part.who if some is None else part.who[some]
    start = np.searchsorted(filters.child, np.arange(len(part.children) + 1))
    low, high = part.instance.low[who], part.instance.high[who]
    result: Table = _held.covering(low, high, of, sets, part.below, filters.low, filters.high, start)
    return result
