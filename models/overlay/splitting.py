"""Overlay in parts: cells of channels. A plan, restricted to a part, pays for access and for the trees of the part's cells.

Core cost is a sum over (publisher, channel), in both topologies: what u publishes on c reaches the brokers of c's
subscribers. A cell is some publishers and some subscribers of one channel; its messages reach these subscribers, from the
publisher's broker if the cell is `rooted`, and otherwise from wherever the first subscriber is: a tree that joins fewer
brokers costs no more. A channel's number stands for the cell of all its publishers and subscribers, rooted.

A part has the users of its cells, or everybody, each with its whole traffic, so that capacities hold in it as they do in
the plan; what a user pays at a broker is shared out between the parts. No (publisher, channel) is in two cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from yardline.models import checks
from yardline.models.checks import Fields, Indices, Vector
from yardline.models.overlay import assembly
from yardline.models.overlay.data import Overlay
from yardline.models.program import Program

Part = Mapping[str, Any]  # "everybody": whether all users are in it; "cells": channels' numbers, and cells


@dataclass(frozen=True, slots=True)
class Cell:
    """Messages of some publishers on a channel to some of its subscribers."""

    channel: int
    publishers: Indices
    subscribers: Indices
    rooted: bool

    @property
    def users(self) -> Indices:
        """Whose places matter."""
        return np.union1d(self.subscribers, self.publishers) if self.rooted else self.subscribers


def budget(instance: Overlay) -> Vector:
    """What the shares of all parts may come to at most: users x brokers."""
    return instance.price


def parts(instance: Overlay, split: Sequence[Any]) -> list[Part]:
    """The parts, checked: no message twice, and to subscribers only."""
    result: list[Part] = []
    seen: set[tuple[int, int]] = set()
    for p, given in enumerate(split):
        fields = Fields(given, f"split[{p}]")
        everybody = fields.need("everybody")
        if not isinstance(everybody, bool):
            checks.fail(fields.path("everybody"), everybody, "true or false")
        rows = checks.listing(fields.need("cells"), fields.path("cells"))
        fields.done()
        for k, row in enumerate(rows):
            _check_cell(instance, row, f"split[{p}].cells[{k}]", seen)
        result.append({"everybody": everybody, "cells": rows})
    return result


def _check_cell(instance: Overlay, row: Any, field: str, seen: set[tuple[int, int]]) -> None:
    if isinstance(row, Mapping):
        fields = Fields(row, field)
        checks.integer(fields.need("channel"), fields.path("channel"), high=instance.T - 1)
        for name in ("publishers", "subscribers"):
            checks.index_vector(fields.need(name), fields.path(name), bound=instance.U)
        if not isinstance(fields.need("rooted"), bool):
            checks.fail(fields.path("rooted"), row["rooted"], "true or false")
        fields.done()
    else:
        checks.integer(row, field, high=instance.T - 1)
    cell = cell_of(instance, row)
    if not instance.subscribes.toarray()[cell.subscribers, cell.channel].all():
        raise ValueError(f"{field} names users who do not subscribe to channel {cell.channel}")
    pairs = {(u, cell.channel) for u in cell.publishers.tolist()}
    if seen & pairs:
        raise ValueError(
            f"{field} names a publisher of channel {cell.channel} twice: expected each in one cell at most"
        )
    seen |= pairs


def cell_of(instance: Overlay, row: Any) -> Cell:
    """A cell as its part names it."""
    if isinstance(row, Mapping):
        publishers, subscribers = (
            np.unique(np.array(row[name], dtype=np.int64)) for name in ("publishers", "subscribers")
        )
        return Cell(row["channel"], publishers, subscribers, row["rooted"])
    audience = instance.subscribes.T.tocsr()
    subscribers = np.sort(audience.indices[audience.indptr[row] : audience.indptr[row + 1]]).astype(np.int64)
    return Cell(row, np.flatnonzero(instance.rates[:, row] > 0), subscribers, True)


def members(instance: Overlay, part: Part) -> Indices:
    """The users of a part."""
    if part["everybody"]:
        return np.arange(instance.U)
    found = [cell_of(instance, row).users for row in part["cells"]]
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))


def restricted(instance: Overlay, part: Part) -> Overlay:
    """The instance of a part: a channel for each of its cells; traffic and possible places stay those of the whole."""
    who, cells = members(instance, part), [cell_of(instance, row) for row in part["cells"]]
    generate, subscribes = np.zeros((len(who), len(cells))), np.zeros((len(who), len(cells)), dtype=np.int64)
    for k, cell in enumerate(cells):
        here = np.searchsorted(who, cell.subscribers)
        subscribes[here, k] = 1
        if cell.rooted:
            generate[np.searchsorted(who, cell.publishers), k] = instance.rates[cell.publishers, cell.channel]
        elif len(here):
            generate[here[0], k] = _no_more(instance.rates[cell.publishers, cell.channel].tolist())
    made = Overlay(
        generate=generate,
        subscribes=csr_array(subscribes),
        access_cost=instance.access_cost[who],
        core_cost=instance.core_cost,
        capacity=instance.capacity,
        topology=instance.topology,
    )
    made.__dict__["traffic"] = instance.traffic[who]  # in the place where a cached property keeps its value
    return made


def _no_more(rates: list[float]) -> float:
    """A number that is not above the exact sum of the rates (fsum is off by half a digit at most)."""
    total = math.fsum(rates)
    return math.nextafter(total, 0.0) if len(rates) > 1 else total


def program(instance: Overlay, part: Part, share: Vector) -> tuple[Program, Vector]:
    """The program of a part, places priced by its share, and which columns (users x brokers, -1: none) those are."""
    who, made = members(instance, part), restricted(instance, part)
    made.__dict__["price"] = checks.frozen(share[who])
    result = assembly.assemble(made)
    x = result.family("x")
    columns = np.full((instance.U, instance.B), -1)
    u, b = x.index.reshape(-1, 2).T
    columns[who[u], b] = np.arange(len(x.index)) + x.start
    return result, columns


def size(instance: Overlay, part: Part) -> int:
    """About how many columns a part has."""
    return assembly.size(restricted(instance, part))
