"""The paper's lower bounds: on what each link carries, and on all conversions together."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from yardline.models.checks import Vector
from yardline.models.customization import graph
from yardline.models.customization.data import Customization
from yardline.models.customization.layers import layers
from yardline.solvers.customization.ascent import Grid, ascend, nothing
from yardline.solvers.customization.recursion import least_plan, seconds_needed


def transmission_floor(instance: Customization) -> Vector:
    """T_low per link: the largest, over the formats requested below, of the cheapest format that can become it."""
    cheapest = np.zeros(instance.m)
    made = graph.made(instance)
    for h, able in graph.makers(instance).items():
        cheapest[h] = instance.tau[able & made].min(initial=np.inf)
    below = np.where(instance.requested_below, cheapest, 0.0).max(axis=1)
    below[0] = 0.0
    return instance.alpha * instance.link_weight * below


def conversion_floor(instance: Customization) -> float:
    """C_low: every requested format is made at least once, at the cheapest node; a tree of conversions at one node."""
    nodes = np.flatnonzero(instance.awaiting)
    if len(nodes) == 0:
        return 0.0
    at_once = Customization(
        parent=np.array([-1]),
        requests=csr_array(instance.requested_below[:1].astype(np.int64)),
        tau=instance.tau,
        conversions=instance.conversions,
        conversion_cost=instance.conversion_cost,
        source=instance.source,
        alpha=0.0,
        beta=instance.beta * float(instance.node_weight[nodes].min()),
    )
    if seconds_needed(at_once) < 5:
        found = least_plan(at_once)
        assert found is not None
        return found.bound
    grid = Grid.of(layers(at_once))
    raised = ascend(grid, np.ones(len(grid.cost), dtype=bool), nothing(grid, grid.graph.terminals))
    assert raised is not None
    return float(grid.bound(raised.value))
