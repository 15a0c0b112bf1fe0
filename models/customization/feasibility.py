"""When a customization instance has no valid plan.

The root can send whatever it can make to everybody. So a plan exists unless some node asks for a format that no chain
of conversions makes from the source.
"""

from __future__ import annotations

import numpy as np

from yardline.models.customization import graph
from yardline.models.customization.data import Customization


def why_infeasible(instance: Customization) -> str | None:
    """The reason in words, or None where there is a valid plan."""
    wanted = graph.terminals(instance)
    out_of_reach = wanted[~graph.made(instance)[wanted[:, 1]]]
    if len(out_of_reach) == 0:
        return None
    node, wish = out_of_reach[0].tolist()
    others = len(np.unique(out_of_reach, axis=0)) - 1
    more = f" ({others} more such request{'s' if others > 1 else ''})" if others else ""
    return f"node {node} asks for format {wish}, which nothing makes from format {instance.source}{more}"
