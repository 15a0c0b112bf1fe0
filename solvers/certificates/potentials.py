"""The certificate `potentials`: potentials on the vertices of the multilayer graph, one set per request, in a tree of cases.

    {"kind": "potentials", ..., "bits": b, "cutoff": u or null, "bound": "p/q", "step": "p/q" or null, "plan": {...} or absent,
     "nodes": [{"branch": vertex, "in": node, "out": node},                                  plans that reach a vertex, or do not
               {"fix": DUALS, "from": [..], "to": [..], "then": node},                       arcs that only dear plans use
               {"duals": DUALS}, ...]}                                                       a leaf with its bound
    DUALS = {"potentials": [[terminal, [vertex, ...], [value, ...]], ...], "passing": [[vertex, value], ...]}

All numbers count units of 2**-bits; vertices and arcs are those of models/customization/layers.py, c the costs on the grid.
Some least plan is a tree of arcs, x, that reaches every terminal. For ANY p[t] >= 0 on the vertices, one per terminal t, and any
q >= 0 on the vertices that are neither terminals nor the root (such a vertex is entered only if it is left: `passing`), let

    d[a] = c[a] + q[head] - q[tail] - sum over t of max(0, p[t][head] - p[t][tail])             for each arc a.

    cost(x) >= sum over t of (p[t][t] - p[t][root])  +  sum over a of d[a] * x[a]               as x holds a way to each t
            >= L = sum over t of (p[t][t] - p[t][root])  -  sum over a of max(0, -d[a])         as x[a] is 0 or 1

Dual ascent makes such potentials with d >= 0; so do the duals of cuts. `fix`: with `from` at most the distances from the root
and `to` at most those to the next terminal, both in terms of max(0, d), a plan that uses the arc (u, w) costs at
least L + from[u] + max(0, d) + to[w]; where that reaches the cutoff, the arc is dropped for the nodes below. In the branch
`in` the vertex is a terminal, in `out` its arcs are dropped. So every plan costs at least the least of cutoff and leaves,
and where all costs are multiples of `step` that is rounded up. Potentials that are wrong prove less, never too much.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from yardline.models import checks, registry
from yardline.models.checks import Fields, Indices
from yardline.models.customization.data import Customization
from yardline.models.customization.layers import Layers, layers
from yardline.models.instance import Instance
from yardline.models.program import Program
from yardline.solvers.certificates.rational import Refused, rounded_up
from yardline.solvers.certificates.sets import with_plan
from yardline.solvers.certificates.verdict import Verdict, rational
from yardline.solvers.certificates.whole_costs import bits_of_sum, on_grid, step_of, worth

KIND = "potentials"
MOST = 1 << 60
Flags = NDArray[np.bool_]


@registry.certificate(
    KIND, summary="Potentials per request in the multilayer graph, with cases; rechecked in whole numbers."
)
def check(about: Instance | Program, fields: Fields) -> Verdict:
    """Recompute what potentials prove about an instance."""
    if not isinstance(about, Customization):
        raise Refused("it speaks about an instance of customization")
    graph = layers(about)
    bits = checks.integer(fields.need("bits"), "bits", low=-2000, high=2000)
    if bits > grid_of(graph):
        raise Refused(f"a grid of {bits} bits is too fine for the costs of this instance")
    cutoff, claimed, step = fields.take("cutoff"), rational(fields.need("bound"), "bound"), fields.take("step")
    units = least_leaf(graph, on_grid(graph.cost, bits), _whole_or_none(cutoff), fields.need("nodes"))
    plan = fields.take("plan")
    fields.done()
    bound = _rounded(graph, worth(units, bits), step)
    if bound < claimed:
        return Verdict(kind=KIND, holds=False, bound=bound, reason=f"it claims {claimed} but proves {bound}")
    return with_plan(KIND, about, bound, plan)


def grid_of(graph: Layers) -> int:
    """The bits of the finest grid on which sums of arcs' costs fit."""
    return bits_of_sum(float(graph.cost.sum()))


def _whole_or_none(cutoff: object) -> int | None:
    return None if cutoff is None else checks.integer(cutoff, "cutoff", high=MOST)


def _rounded(graph: Layers, bound: Fraction, step: object) -> Fraction:
    if step is None:
        return bound
    given, divisor = rational(step, "step"), step_of(graph.cost)
    if divisor is None or given <= 0 or (divisor / given).denominator != 1:
        raise Refused(f"not all costs are whole multiples of {given}")
    return rounded_up(bound, Fraction(0), given)


@dataclass(frozen=True, eq=False)
class Case:
    """What is left of the graph in a node of the tree."""

    alive: Flags  # per arc
    terminals: frozenset[int]


def least_leaf(graph: Layers, cost: Indices, cutoff: int | None, nodes: object) -> int:
    """The least bound over the leaves (and the cutoff); every node is the child of exactly one node before it."""
    listed = checks.listing(nodes, "nodes")
    if not len(listed):
        raise ValueError("nodes has no entries: expected at least a root")
    reached, worst = {0}, cutoff
    waiting = [(0, Case(np.ones(len(cost), dtype=bool), frozenset(graph.terminals.tolist())))]
    while waiting:
        position, case = waiting.pop()
        node = Fields(listed[position], f"nodes[{position}]")
        if "branch" in node.left:
            waiting += [
                (_child(node, s, position, reached, len(listed)), c) for s, c in _cases(graph, case, node).items()
            ]
        elif "fix" in node.left:
            if cutoff is None:
                raise Refused(f"{node.where} drops arcs, but there is no cutoff")
            after = _fixed(graph, cost, case, cutoff, node)
            waiting.append((_child(node, "then", position, reached, len(listed)), after))
        else:
            value, _ = proved(graph, cost, case, node.need("duals"), node.path("duals"))
            worst = value if worst is None else min(worst, value)
        node.done()
    if worst is None:
        raise Refused("it has no leaf")
    return worst


def _child(node: Fields, side: str, position: int, reached: set[int], count: int) -> int:
    child = checks.integer(node.need(side), node.path(side), low=position + 1, high=count - 1)
    if child in reached:
        raise ValueError(f"{node.path(side)} is {child}: expected a node that has no parent yet")
    reached.add(child)
    return child


def _cases(graph: Layers, case: Case, node: Fields) -> dict[str, Case]:
    """Plans that reach a vertex, and plans that do not."""
    v = checks.integer(node.need("branch"), node.path("branch"), high=graph.n - 1)
    if v in case.terminals or v == graph.root:
        raise Refused(f"{node.where} branches on a vertex that every plan reaches")
    without = case.alive & (graph.head != v) & (graph.tail != v)
    return {"in": Case(case.alive, case.terminals | {v}), "out": Case(without, case.terminals)}


def _fixed(graph: Layers, cost: Indices, case: Case, cutoff: int, node: Fields) -> Case:
    """The case without the arcs that only plans from the cutoff on use."""
    value, d = proved(graph, cost, case, node.need("fix"), node.path("fix"))
    near = [_labels(node.need(name), node.path(name), graph.n) for name in ("from", "to")]
    weight, (fro, to) = np.maximum(d, 0), near
    if fro[graph.root] > 0 or any(to[t] > 0 for t in case.terminals):
        raise Refused(f"{node.where} begins its distances above 0")
    alive = case.alive
    if (alive & (fro[graph.head] > fro[graph.tail] + weight)).any():
        raise Refused(f"{node.where} has a distance from the root that is too large")
    if (alive & (to[graph.tail] > to[graph.head] + weight)).any():
        raise Refused(f"{node.where} has a distance to a terminal that is too large")
    dear = fro[graph.tail] + weight + to[graph.head] >= cutoff - value
    return Case(alive & ~dear, case.terminals)


def _labels(given: object, field: str, count: int) -> Indices:
    numbers = checks.listing(given, field, length=count, of="vertices")
    return np.array([checks.integer(x, f"{field}[{p}]", high=MOST) for p, x in enumerate(numbers)], dtype=np.int64)


def proved(graph: Layers, cost: Indices, case: Case, given: object, field: str) -> tuple[int, Indices]:
    """The bound L of some potentials in a case, and what they leave of each arc's cost."""
    duals = Fields(given, field)
    usage, gained, heights = np.zeros(len(cost), dtype=np.int64), 0, 0
    p = np.zeros(graph.n, dtype=np.int64)
    for row, entry in enumerate(checks.listing(duals.need("potentials"), duals.path("potentials"))):
        t, vertices, values = _potential(entry, f"{duals.path('potentials')}[{row}]", graph.n)
        if t not in case.terminals:
            raise Refused(f"{field} has potentials for vertex {t}, which is not a terminal here")
        heights += int(values.max(initial=0))
        if heights >= MOST:
            raise Refused(f"{field} has potentials that are too large")
        p[vertices] = values
        arcs = _ranges(graph.into, vertices)
        usage[arcs] += np.maximum(0, p[graph.head[arcs]] - p[graph.tail[arcs]])
        gained += int(p[t]) - int(p[graph.root])
        p[vertices] = 0
    d = cost + _passing(graph, case, duals) - usage
    duals.done()
    over = d[case.alive & (d < 0)]
    return gained + sum(over.tolist()), d


def _potential(entry: object, field: str, count: int) -> tuple[int, Indices, Indices]:
    """Terminal, vertices (each once) and their values."""
    parts = checks.listing(entry, field, length=3, of="parts")
    t = checks.integer(parts[0], f"{field}[0]", high=count - 1)
    vertices = np.asarray(checks.index_vector(parts[1], f"{field}[1]", bound=count), dtype=np.int64)
    if len(np.unique(vertices)) < len(vertices):
        raise ValueError(f"{field}[1] names a vertex twice: expected each once")
    return t, vertices, _values(parts[2], f"{field}[2]", len(vertices))


def _values(given: object, field: str, count: int) -> Indices:
    values = checks.listing(given, field, length=count, of="vertices")
    if not all(type(value) is int and 0 <= value < MOST for value in values):
        raise ValueError(f"{field} holds something else: expected whole numbers from 0 to 2**60")
    return np.array(values, dtype=np.int64)


def _ranges(into: Indices, vertices: Indices) -> Indices:
    """All arcs into these vertices."""
    counts = into[vertices + 1] - into[vertices]
    ends = np.cumsum(counts)
    return np.arange(counts.sum()) + np.repeat(into[vertices] - ends + counts, counts)  # type: ignore[no-any-return]


def _passing(graph: Layers, case: Case, duals: Fields) -> Any:
    """q[head] - q[tail] per arc."""
    pairs = checks.listing(duals.take("passing", []), duals.path("passing"))
    q = np.zeros(graph.n, dtype=np.int64)
    for p, pair in enumerate(pairs):
        field = f"{duals.path('passing')}[{p}]"
        v, value = checks.listing(pair, field, length=2, of="numbers")
        v = checks.integer(v, f"{field}[0]", high=graph.n - 1)
        if v in case.terminals or v == graph.root:
            raise Refused(f"{field} names a vertex where plans may end")
        q[v] = _values([value], field, 1)[0]
    return q[graph.head] - q[graph.tail]
