"""Channelization in parts: flows. A plan, restricted to some flows, is a plan for them, with K groups and the whole budget.

Every flow pays for itself, so the cost is a sum over parts. A group may reach into every part, so each may use all K, and how
many it uses cannot be charged for: what can be chosen is the split. (What has a price is a want: see group.py.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from yardline.models import checks
from yardline.models.channelization import assembly
from yardline.models.channelization.data import Channelization
from yardline.models.checks import Vector
from yardline.models.program import Program


def budget(instance: Channelization) -> Vector:
    """Nothing is shared."""
    return np.zeros((0, 0))


def parts(instance: Channelization, split: Sequence[Any]) -> list[list[int]]:
    """The flows of each part, checked: no flow twice."""
    result = [checks.index_vector(row, f"split[{p}]", bound=instance.n).tolist() for p, row in enumerate(split)]
    everything = [i for row in result for i in row]
    if len(set(everything)) < len(everything):
        raise ValueError("split names a flow twice: expected each flow in one part at most")
    return result


def restricted(instance: Channelization, flows: Sequence[int]) -> Channelization:
    """The instance with some flows only."""
    own = np.array(sorted(flows), dtype=np.int64)
    return replace(
        instance,
        rates=instance.rates[own],
        wants=csr_array(csr_array(instance.wants)[:, own]),
        receive_weight=instance.receive_weight[:, own] if instance.weights_per_flow else instance.receive_weight,
        send_weight=instance.send_weight[own],
    )


def program(instance: Channelization, flows: Sequence[int], share: Vector) -> tuple[Program, Vector]:
    """The program of a part; no columns are shared."""
    return assembly.assemble(restricted(instance, flows)), np.zeros((0, 0), dtype=np.int64)


def size(instance: Channelization, flows: Sequence[int]) -> int:
    """About how many columns a part has."""
    return assembly.size(restricted(instance, flows))
