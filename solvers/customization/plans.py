"""Plans as tables of entries (how each node comes to have each format), and their improvement over a few formats at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csr_array

from yardline.models.checks import Indices, Vector
from yardline.models.customization import graph
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.layers import Layers
from yardline.models.customization.subsets import post_order

NONE, LINK, SOURCE = -1, -2, -3  # as in _neighbourhood.py
MOST_CELLS = 4e7


@dataclass(frozen=True, eq=False)
class Costs:
    """What the compiled functions need of an instance."""

    parent: Indices
    order: Indices  # nodes with requests below, children first
    wanted: NDArray[np.bool_]
    price: Vector  # formats x formats, infinite where there is no conversion
    work: Vector  # weight of conversions per node
    send: Vector

    @classmethod
    def of(cls, instance: Customization) -> Costs:
        """The costs of an instance as plain arrays."""
        price = np.full((instance.m, instance.m), np.inf)
        price[tuple(instance.conversions.T)] = instance.conversion_cost
        wanted = instance.requests.toarray() > 0
        work = instance.beta * instance.node_weight
        return cls(np.array(instance.parent), post_order(instance), wanted, price, work, np.array(instance.send_cost))

    def closed(self, distance: Vector) -> Costs:
        """The same with whole chains of conversions as single steps."""
        price = distance.copy()
        np.fill_diagonal(price, np.inf)
        return replace(self, price=price)

    def sending(self, chosen: NDArray[np.bool_]) -> Costs:
        """The same with no sends but those chosen."""
        return replace(self, send=np.where(chosen, self.send, np.inf))

    def total(self, entry: Indices) -> float:
        """What a plan costs."""
        from yardline.solvers.customization import _neighbourhood

        return float(_neighbourhood.cost_of(self.price, self.work, self.send, entry))

    def improve(self, entry: Indices, formats: Indices) -> None:
        """Make a plan cheapest over some formats, in place."""
        from yardline.solvers.customization import _neighbourhood

        _neighbourhood.improve(
            self.parent, self.order, self.wanted, self.price, self.work, self.send, entry, np.sort(formats)
        )


def entries_of_arcs(instance: Customization, layered: Layers, arcs: Indices) -> Indices:
    """The entries of a tree of arcs."""
    entry = np.full((instance.n, instance.m), NONE)
    entry[0, instance.source] = SOURCE
    head, item = layered.head[arcs], layered.item[arcs]
    link = item == graph.BY_LINK
    entry[layered.node[head[link]], layered.format[head[link]]] = LINK
    entry[layered.node[head[~link]], layered.format[head[~link]]] = instance.conversions[item[~link], 0]
    return entry


def entries_of_plan(instance: Customization, plan: CustomizationPlan) -> Indices:
    """The entries of what the requests need of a plan."""
    pairs = (list(zip(*map(np.ndarray.tolist, part.nonzero()), strict=True)) for part in (plan.sends, plan.converts))
    sends, converts = pairs
    entry = np.full((instance.n, instance.m), NONE)
    entry[0, instance.source] = SOURCE
    for (v, f), by in graph.needed(instance, graph.entrances(instance, sends, converts)).items():
        entry[v, f] = LINK if by == graph.BY_LINK else instance.conversions[by, 0]
    return entry


def plan_of_entries(instance: Customization, entry: Indices) -> CustomizationPlan:
    """The plan of a table of entries."""
    v, f = np.nonzero(entry >= 0)
    codes = instance.conversions @ np.array([instance.m, 1])  # sorted, as the conversions are
    done = np.searchsorted(codes, entry[v, f] * instance.m + f)
    shape = (instance.n, len(instance.conversions))
    converts = csr_array((np.ones(len(v), dtype=np.int64), (v, done)), shape=shape)
    return CustomizationPlan.of(instance, sends=csr_array((entry == LINK).astype(np.int64)), converts=converts)


def neighbourhood(costs: Costs, rng: Generator, size: int) -> Indices:
    """Some formats: one or half of them at random, the others next to these by cheap conversions."""
    m = len(costs.price)
    if m <= size:
        return np.arange(m)
    chosen = rng.choice(m, rng.choice([1, size // 2]), replace=False)
    near = np.minimum(costs.price[chosen].min(axis=0), costs.price[:, chosen].min(axis=1)) + rng.exponential(10.0, m)
    near[chosen] = np.inf
    return np.concatenate([chosen, np.argsort(near)[: size - len(chosen)]])


def fitting(instance: Customization, most: int) -> int:
    """How many formats at a time the tables have room for."""
    return max(1, min(most, instance.m, int(np.log2(max(2.0, MOST_CELLS / instance.n)))))
