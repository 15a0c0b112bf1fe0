"""Overlay in the loops: a broker per user by its fractions, room by packing, then trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from yardline.decomposition import flow
from yardline.decomposition.problems.overlay_moves import exchanged, helped, settled
from yardline.models.checks import Indices, Vector
from yardline.models.overlay import splitting, wiring
from yardline.models.overlay.data import Overlay, OverlayPlan
from yardline.models.overlay.feasibility import why_infeasible
from yardline.models.overlay.parties import parties
from yardline.models.overlay.points import Replacements, closure_tree, decode
from yardline.models.program import Program

Guide = Mapping[str, Any]
MOVES = 3_000
"""Users times brokers up to which each trial is improved by moving single users."""


def guide(instance: Overlay, program: Program, point: Vector) -> dict[str, Any]:
    """Fractions of places (users x brokers) and, for topology `tree`, of links (brokers x brokers)."""
    share, links = np.zeros((instance.U, instance.B)), np.zeros((instance.B, instance.B))
    x = program.family("x")
    share[tuple(x.index.reshape(-1, 2).T)] = point[x.span]
    if instance.topology == "tree" and instance.B > 1:
        z = program.family("z")
        links[tuple(z.index.T)] = point[z.span]
    return {"share": share, "links": links}


def rounded(instance: Overlay, guide: Guide, rng: Generator) -> Indices:
    """A broker for each user with the probability of its fraction, among some brokers drawn by theirs.

    How many brokers those are is drawn, too: few of them save core cost, which the fractions of single users hide.
    """
    share = np.maximum(guide["share"], 0.0)
    drawn = np.log(instance.traffic @ share + 1e-9) + rng.gumbel(size=instance.B)
    few = np.argsort(-drawn, kind="stable")[: int(rng.integers(1, instance.B + 1))]
    open_ = np.isin(np.arange(instance.B), few)
    chance = np.log(share + np.where(open_, 1e-3, 1e-9)) + rng.gumbel(size=share.shape)
    chance += np.where(open_, 0.0, -1e3)
    return np.asarray(np.where(instance.possible, chance, -np.inf).argmax(axis=1), dtype=np.int64)


def repaired(instance: Overlay, guide: Guide, broker: Indices, rng: Generator) -> OverlayPlan:
    """Users moved where room is short, as few and as cheaply as can be; then trees; then single moves that pay."""
    stay = np.arange(instance.B) == broker[:, None]
    dear = instance.price / max(1e-12, float(instance.price.max(initial=0.0)))
    price = np.where(stay, -1.0, 0.0) * (1.0 + instance.traffic[:, None]) + dear - guide["share"]
    packing = (price, instance.possible, instance.traffic, instance.limit)
    found = flow.inserted(*packing)
    found = flow.packed(*packing) if found is None else found
    placed = broker if found is None else found
    tree = instance.topology == "tree"
    links = exchanged(instance, placed, _tree(instance, guide["links"], rng), rng) if tree else None
    if instance.U * instance.B <= MOVES:
        placed = settled(instance, placed, links)
        links = None if links is None else exchanged(instance, placed, links, rng)
    return wired(instance, placed, links)


def _tree(instance: Overlay, share: Vector, rng: Generator) -> Indices:
    """Topology `tree`: a spanning tree by the links' fractions."""
    every = np.stack(np.triu_indices(instance.B, 1), axis=1)
    chance = np.log(share[every[:, 0], every[:, 1]] + 1e-3) + rng.gumbel(size=len(every))
    return np.asarray(every[wiring.forest(every, -chance, instance.B)])


def wired(instance: Overlay, broker: Indices, links: Indices | None) -> OverlayPlan:
    """The plan with its tree, or (mesh) with a Steiner tree per party: spanning trees with brokers that help added."""
    if links is not None or instance.B == 1:
        tree = np.zeros((0, 2), dtype=np.int64) if links is None else links
        extra = {"links": tree.tolist()} if instance.topology == "tree" else {}
        return OverlayPlan.of(instance, broker=broker, **extra)
    replaced, known, used = Replacements(instance), {}, [np.zeros((0, 3), dtype=np.int64)]
    for t, party in enumerate(parties(instance)):
        brokers = frozenset(broker[list(party.users)].tolist())
        if brokers not in known:
            known[brokers] = replaced.by_useful(closure_tree(replaced.distance, helped(replaced.distance, brokers)[0]))
        used.append(np.insert(known[brokers], 0, t, axis=1))
    places = np.stack([np.arange(instance.U), broker], axis=1)
    return decode(instance, {"x": places, "T": np.concatenate(used)})


WORDS = "cells of channels and one for access alone, access costs shared between them"
CROWD = 10
"""Subscribers in a cell of a channel that is too large for one cell, about."""


def split(instance: Overlay, count: int, columns: int, rng: Generator, attempt: int) -> list[splitting.Part]:
    """Cells in their order, blocks of about equal size; and everybody's access by itself, which takes what is left over.

    A channel of more than so many columns falls into cells of some subscribers and their share of the publishers.
    """
    cells = [cell for c in _moving(instance) for cell in _cells(instance, c, columns, rng)]
    if count == 1 or not cells:
        whole = _moving(instance) if count == 1 else []
        return [{"everybody": True, "cells": whole}]
    weight = np.array([splitting.size(instance, {"everybody": False, "cells": [cell]}) for cell in cells], dtype=float)
    count = count or 1 + int(weight.sum() / columns)
    block = np.minimum(count - 1, ((np.cumsum(weight) - weight / 2) * count / weight.sum()).astype(np.int64))
    blocks = [[cell for cell, k in zip(cells, block, strict=True) if k == own] for own in np.unique(block)]
    return [*({"everybody": False, "cells": block} for block in blocks), {"everybody": True, "cells": []}]


def _moving(instance: Overlay) -> list[int]:
    """Channels on which something is sent."""
    found: list[int] = np.flatnonzero(instance.rates.sum(axis=0) > 0).tolist()
    return found


def _cells(instance: Overlay, channel: int, columns: int, rng: Generator) -> list[Any]:
    """A channel as one cell, or its subscribers dealt to cells at random, each with a share of the publishers."""
    whole = splitting.cell_of(instance, channel)
    size = splitting.size(instance, {"everybody": False, "cells": [channel]})
    if size <= columns:
        return [channel]
    crowds = max(1, min(len(whole.publishers), len(whole.subscribers) // CROWD))
    subscribers, order = rng.permutation(whole.subscribers), np.argsort(-instance.rates[whole.publishers, channel])
    return [
        {
            "channel": channel,
            "publishers": np.sort(whole.publishers[order[k::crowds]]).tolist(),
            "subscribers": np.sort(subscribers[k::crowds]).tolist(),
            "rooted": False,
        }
        for k in range(crowds)
    ]


def shares(instance: Overlay, split: list[splitting.Part]) -> list[Vector]:
    """At first every part pays for the traffic of its own cells, as far as they are its users."""
    access = np.where(instance.open, instance.access_cost, 0.0)
    return [_moved(instance, part)[:, None] * access for part in split]


def _moved(instance: Overlay, part: splitting.Part) -> Vector:
    """What each user sends and receives in the cells of a part."""
    total = np.zeros(instance.U)
    for row in part["cells"]:
        cell = splitting.cell_of(instance, row)
        rate = instance.rates[cell.publishers, cell.channel]
        total[cell.subscribers] += rate.sum()
        total[cell.publishers] += np.where(np.isin(cell.publishers, cell.subscribers), 0.0, rate) * cell.rooted
    return total


def decides(instance: Overlay, part: splitting.Part) -> Vector:
    """A part places its users."""
    result = np.zeros(instance.possible.shape)
    who = splitting.members(instance, part)
    result[who] = instance.possible[who]
    return result


def weights(instance: Overlay) -> Vector:
    """Users are drawn by their traffic."""
    return instance.traffic + 1e-9


def sample(instance: Overlay, chosen: Indices) -> Overlay:
    """The instance with the chosen users only; capacities shrink with the traffic, if everybody still fits somewhere."""
    part = replace(
        instance,
        generate=instance.generate[chosen],
        subscribes=csr_array(csr_array(instance.subscribes)[chosen]),
        access_cost=instance.access_cost[chosen],
    )
    factor = float(part.traffic.sum()) / max(1e-300, float(instance.traffic.sum()))
    if factor == 0:
        return part
    smaller = replace(part, capacity=instance.capacity * factor)
    return part if why_infeasible(smaller) else smaller


def extended(instance: Overlay, chosen: Indices, plan: OverlayPlan, rng: Generator) -> tuple[OverlayPlan, Vector]:
    """Every user where access and the way to its channels' brokers cost least, as far as there is room; and the regret."""
    table = instance.subscribes.toarray().astype(bool)
    moving = table.any(axis=0) & (instance.rates.sum(axis=0) > 0)
    distance = wiring.closure(instance.core_cost)
    hosts = np.zeros((instance.T, instance.B), dtype=bool)
    for b in range(instance.B):
        hosts[:, b] = table[chosen[plan.broker == b]].any(axis=0)
    near = np.where(hosts[:, None, :], distance[None], np.inf).min(axis=2)  # channels x brokers: from the nearest host
    near = np.where(np.isfinite(near) & moving[:, None], near, 0.0)
    total = instance.rates.sum(axis=0)
    price = instance.price + table @ (total[:, None] * near) + instance.rates @ near
    found = flow.packed(price, instance.possible, instance.traffic, instance.limit) if instance.U else plan.broker
    broker = np.where(instance.possible, price, np.inf).argmin(axis=1) if found is None else found
    links = plan.links if instance.topology == "tree" else None
    if instance.U * instance.B <= MOVES:
        broker = settled(instance, broker, links)
    least = np.where(instance.possible, price, np.inf).min(axis=1, initial=np.inf)
    return wired(instance, broker, links), price[np.arange(instance.U), broker] - least
