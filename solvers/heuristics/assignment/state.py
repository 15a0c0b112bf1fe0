"""The filters of all brokers while a heuristic lets them grow: plain arrays in one tuple, as the kernels take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.checks import Indices, Vector

MOST_BOXES = 64
"""Boxes per broker that the heuristics make use of, whatever alpha allows."""


class Growing(NamedTuple):
    """Boxes of every broker, how many there are, what they measure; the tree above them; and the density's table."""

    parent: Indices
    alpha: Indices
    low: Vector  # brokers x boxes x d
    high: Vector
    count: Indices  # type: ignore[assignment]  # hides that of tuples, which nobody asks
    size: Vector  # of the union; of more boxes than the kernels intersect, the sum
    own: Vector  # brokers x boxes: what no other box of the broker holds
    edges: Vector  # d x edges, padded
    cells: Indices  # per dimension; 0: uniform
    table: Vector  # mass cumulated in all dimensions, flat
    scratch: Vector  # boxes that kernels write to

    def plan(self, instance: Assignment, leaf: Indices) -> AssignmentPlan:
        """The plan of what has grown."""
        there = np.arange(self.low.shape[1]) < self.count[:, None]
        broker = np.nonzero(there)[0]
        return AssignmentPlan.from_arrays(
            instance, leaf=leaf, broker=broker, low=self.low[there], high=self.high[there]
        )


def empty(instance: Assignment) -> Growing:
    """No boxes yet."""
    alpha = np.minimum(instance.alpha, min(MOST_BOXES, max(1, instance.m)))
    most, n, d = int(alpha.max()), instance.n, instance.d
    boxes = (np.zeros((n, most, d)), np.zeros((n, most, d)), np.zeros(n, np.int64), np.zeros(n), np.zeros((n, most)))
    return Growing(instance.parent, alpha, *boxes, *_density(instance), np.zeros((8, d)))


def _density(instance: Assignment) -> tuple[Vector, Indices, Vector]:
    if instance.edges is None:
        return np.zeros((instance.d, 2)), np.zeros(instance.d, np.int64), np.zeros(1)
    cells = np.array([len(e) - 1 for e in instance.edges], dtype=np.int64)
    edges = np.zeros((instance.d, int(cells.max()) + 1))
    for k, values in enumerate(instance.edges):
        edges[k, : len(values)] = values
    table = np.pad(instance.mass, [(1, 0)] * instance.d)
    for k in range(instance.d):
        table = table.cumsum(axis=k)
    return edges, cells, np.ascontiguousarray(table).ravel()


def bottom_up(instance: Assignment, state: Growing) -> None:
    """The filters of inner brokers anew, children before parents: each grows around its children's boxes."""
    from yardline.solvers.heuristics.assignment import _filters

    first, children = children_of(instance)
    for b in reversed(instance.top_down):
        if first[b] < first[b + 1]:
            _filters.around_children(b, first, children, state)


def children_of(instance: Assignment) -> tuple[Indices, Indices]:
    """The children of broker b: children[first[b] : first[b + 1]]."""
    children = np.argsort(instance.parent, kind="stable")
    first = np.searchsorted(instance.parent[children], np.arange(instance.n + 1))
    return first.astype(np.int64), children.astype(np.int64)
