"""The filters of all brokers while a heuristic lets them grow: plain arrays, as the kernels take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.checks import Indices, Vector

MOST_BOXES = 64
"""Boxes per broker that the heuristics make use of, whatever alpha allows."""


@dataclass(frozen=True, slots=True)
class Growing:
    """Boxes of every broker, how many there are, the measure of their union; and the density's table."""

    alpha: Indices
    low: Vector  # brokers x boxes x d
    high: Vector
    count: Indices
    size: Vector
    edges: Vector  # d x edges, padded
    cells: Indices  # per dimension; 0: uniform
    table: Vector  # mass cumulated in all dimensions, flat

    def arrays(self) -> tuple[Any, ...]:
        """In the order of the kernels' parameters, from alpha on."""
        return (self.alpha, self.low, self.high, self.count, self.size, self.edges, self.cells, self.table)

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
    shape = (instance.n, int(alpha.max()), instance.d)
    edges, cells, table = _density(instance)
    return Growing(
        alpha,
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(instance.n, np.int64),
        np.zeros(instance.n),
        edges,
        cells,
        table,
    )


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
