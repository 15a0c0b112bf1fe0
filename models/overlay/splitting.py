"""Overlay in parts: channels. A plan, restricted to some channels, pays its access costs and the trees of those channels.

Core cost is a sum over channels, in both topologies. Every part keeps all users with their whole traffic, so that
capacities hold in it as they do in the plan; what a user pays at a broker is shared out between the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from yardline.models import checks
from yardline.models.checks import Vector
from yardline.models.overlay import assembly
from yardline.models.overlay.data import Overlay
from yardline.models.program import Program


def budget(instance: Overlay) -> Vector:
    """What the shares of all parts may come to at most: users x brokers."""
    return instance.price


def parts(instance: Overlay, split: Sequence[Any]) -> list[list[int]]:
    """The channels of each part, checked: no channel twice."""
    result = [checks.index_vector(row, f"split[{p}]", bound=instance.T).tolist() for p, row in enumerate(split)]
    everything = [c for row in result for c in row]
    if len(set(everything)) < len(everything):
        raise ValueError("split names a channel twice: expected each channel in one part at most")
    return result


def restricted(instance: Overlay, channels: Sequence[int]) -> Overlay:
    """The instance with some channels only; traffic and possible places stay those of the whole."""
    here = np.isin(np.arange(instance.T), channels)
    part = Overlay(
        generate=np.where(here, instance.generate, 0.0),
        subscribes=_members(instance.subscribes.toarray().astype(bool) & here),
        access_cost=instance.access_cost,
        core_cost=instance.core_cost,
        capacity=instance.capacity,
        topology=instance.topology,
    )
    part.__dict__["traffic"] = instance.traffic  # in the place where a cached property keeps its value
    return part


def _members(table: Any) -> csr_array:
    return csr_array(table.astype(np.int64))


def program(instance: Overlay, channels: Sequence[int], share: Vector) -> tuple[Program, Vector]:
    """The program of a part, places priced by its share, and which columns (users x brokers, -1: none) those are."""
    part = restricted(instance, channels)
    part.__dict__["price"] = checks.frozen(share)
    made = assembly.assemble(part)
    x = made.family("x")
    columns = np.full((instance.U, instance.B), -1)
    columns[tuple(x.index.reshape(-1, 2).T)] = np.arange(len(x.index)) + x.start
    return made, columns


def size(instance: Overlay, channels: Sequence[int]) -> int:
    """About how many columns a part has."""
    return assembly.size(restricted(instance, channels))
