"""The multilayer graph of an instance: a vertex (v, f) says "node v has format f".

Arcs are sends (parent of v, f) -> (v, f) and conversions (v, f) -> (v, g). A plan is a set of arcs that leads from
(root, source) to every request; what a least plan needs of it is a tree.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from yardline.models.checks import Indices
from yardline.models.customization import tree
from yardline.models.customization.data import Customization

Vertex = tuple[int, int]
BY_LINK = -1  # how a vertex is entered, if not by a conversion


def made(instance: Customization) -> NDArray[np.bool_]:
    """The formats that conversions can make from the source, itself included."""
    return _reached(instance.conversions, instance.m, instance.source)


def makers(instance: Customization) -> dict[int, NDArray[np.bool_]]:
    """For each requested format, the formats that can be turned into it, itself included."""
    back = instance.conversions[:, ::-1]
    return {h: _reached(back, instance.m, h) for h in np.unique(terminals(instance)[:, 1]).tolist()}


def useful(instance: Customization) -> NDArray[np.bool_]:
    """The vertices on some way from the source to some request: nodes x formats."""
    wanted = np.zeros((instance.n, instance.m), dtype=bool)
    wanted[tuple(terminals(instance).T)] = True
    below = tree.gathered(wanted, instance.parent, instance.top_down)
    result = np.zeros(below.shape, dtype=bool)
    for h, able in makers(instance).items():
        result |= np.logical_and.outer(below[:, h], able)
    return result & made(instance)


def _reached(arcs: Indices, m: int, start: int) -> NDArray[np.bool_]:
    steps = csr_array((np.ones(len(arcs)), (arcs[:, 0], arcs[:, 1])), shape=(m, m))
    result = np.zeros(m, dtype=bool)
    result[breadth_first_order(steps, start, return_predecessors=False)] = True
    return result


def terminals(instance: Customization) -> Indices:
    """The requests, rows (node, format), without what the root has anyway."""
    nodes = np.repeat(np.arange(instance.n), np.diff(instance.requests.indptr))
    pairs = np.stack([nodes, instance.requests.indices], axis=1).astype(np.int64)
    return pairs[(pairs != (0, instance.source)).any(axis=1)]  # type: ignore[no-any-return]


def entrances(
    instance: Customization, sends: Iterable[tuple[int, int]], converts: Iterable[tuple[int, int]]
) -> dict[Vertex, int]:
    """How each vertex is first reached by a plan's arcs (v, f) and (v, conversion): by link or by which conversion."""
    on_link, at_node = _by_node(sends), _by_node(converts)
    entered: dict[Vertex, int] = {}
    for level in instance.top_down:
        for v in level.tolist():
            above = int(instance.parent[v])
            arrived = [f for f in on_link.get(v, ()) if (above, f) in entered] if v else [instance.source]
            entered.update(((v, f), BY_LINK) for f in arrived)
            _convert(instance, v, arrived, at_node.get(v, ()), entered)
    return entered


def _by_node(arcs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    result: dict[int, list[int]] = {}
    for v, item in arcs:
        result.setdefault(v, []).append(item)
    return result


def _convert(
    instance: Customization, v: int, arrived: list[int], conversions: Iterable[int], entered: dict[Vertex, int]
) -> None:
    """Apply the conversions of one node to what has arrived there, as long as they make something new."""
    outputs: dict[int, list[tuple[int, int]]] = {}
    for c in conversions:
        f, g = instance.conversions[c].tolist()
        outputs.setdefault(f, []).append((c, g))
    fresh = list(arrived)
    while fresh:
        for c, g in outputs.get(fresh.pop(), ()):
            if (v, g) not in entered:
                entered[v, g] = c
                fresh.append(g)


def before(instance: Customization, vertex: Vertex, entrance: int) -> Vertex:
    """The vertex that an entrance comes from."""
    v, f = vertex
    return (int(instance.parent[v]), f) if entrance == BY_LINK else (v, int(instance.conversions[entrance, 0]))


def way(instance: Customization, entered: dict[Vertex, int], vertex: Vertex) -> Iterable[tuple[Vertex, int]]:
    """The vertices on the way to one, from it up to the root's, with how each is entered."""
    root = (0, instance.source)
    while vertex != root:
        yield vertex, entered[vertex]
        vertex = before(instance, vertex, entered[vertex])


def needed(instance: Customization, entered: dict[Vertex, int]) -> dict[Vertex, int]:
    """What the requests need of the vertices reached: a tree, each vertex with how it is entered."""
    kept: dict[Vertex, int] = {}
    for w, h in terminals(instance).tolist():
        if (w, h) not in entered:
            continue
        for vertex, entrance in way(instance, entered, (w, h)):
            if vertex in kept:
                break
            kept[vertex] = entrance
    return kept
