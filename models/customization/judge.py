"""The judge of customization: what a plan costs and which rules it breaks. Knows nothing of any algorithm.

    cost = alpha * sum(link_weight[v] * tau[f]    for nodes v, formats f on the link into v)
         + beta  * sum(node_weight[v] * cost[c]   for nodes v, conversions c done at v)

A node has what its link brings (the root: the source format) and whatever its conversions make of that, repeatedly.
Rules: `request` (a node has every format that it requests), `send` (a node has every format that it sends to a child),
`conversion-input` (the input of a conversion becomes available at its node), `idle-link` (nothing is sent into a
subtree without requests), `root-link` (nothing is sent to the root).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from yardline.models.checks import Indices
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.judgement import Judgement, Violation


def evaluate(instance: Customization, plan: CustomizationPlan) -> Judgement:
    """Cost, terms and violations of a plan."""
    links, formats = _pairs(plan.sends)
    sent = links > 0  # the root has no link: what stands there is a violation, not a cost
    nodes, conversions = _pairs(plan.converts)
    load = float(np.sum(instance.link_weight[links[sent]] * instance.tau[formats[sent]]))
    work = float(np.sum(instance.node_weight[nodes] * instance.conversion_cost[conversions]))
    terms = {
        "transmission": instance.alpha * load,
        "conversion": instance.beta * work,
        "sends": int(sent.sum()),
        "conversions": len(nodes),
        "converting_nodes": len(np.unique(nodes)),
    }
    cost = terms["transmission"] + terms["conversion"]
    return Judgement(cost=cost, terms=terms, violations=tuple(_violations(instance, plan)))


def available(instance: Customization, plan: CustomizationPlan) -> NDArray[np.bool_]:
    """The formats that each node gets to have: nodes x formats."""
    have: NDArray[np.bool_] = plan.sends.toarray().astype(bool)
    have[0] = False
    have[0, instance.source] = True
    nodes, conversions = _pairs(plan.converts)
    f, g = instance.conversions[conversions].T
    while True:
        new = have[nodes, f] & ~have[nodes, g]
        if not new.any():
            return have
        have[nodes[new], g[new]] = True
        waiting = ~have[nodes, g]  # the others have nothing left to add
        nodes, f, g = nodes[waiting], f[waiting], g[waiting]


def _violations(instance: Customization, plan: CustomizationPlan) -> Iterator[Violation]:
    have = available(instance, plan)
    links, formats = _pairs(plan.sends)
    for f in formats[links == 0].tolist():
        yield Violation(rule="root-link", where={"node": 0, "format": f}, amount=1.0)
    nodes, wanted = _pairs(instance.requests)
    missing = ~have[nodes, wanted]
    yield from _listed("request", nodes[missing], wanted[missing])
    below = links > 0
    links, formats = links[below], formats[below]
    absent = ~have[instance.parent[links], formats]
    for v, f in zip(links[absent].tolist(), formats[absent].tolist(), strict=True):
        where = {"node": int(instance.parent[v]), "child": v, "format": f}
        yield Violation(rule="send", where=where, amount=1.0)
    idle = ~instance.awaiting[links]
    yield from _listed("idle-link", links[idle], formats[idle])
    nodes, conversions = _pairs(plan.converts)
    f, g = instance.conversions[conversions].T
    for p in np.flatnonzero(~have[nodes, f]).tolist():
        where = {"node": int(nodes[p]), "from": int(f[p]), "to": int(g[p])}
        yield Violation(rule="conversion-input", where=where, amount=1.0)


def _listed(rule: str, nodes: Indices, formats: Indices) -> Iterator[Violation]:
    for v, f in zip(nodes.tolist(), formats.tolist(), strict=True):
        yield Violation(rule=rule, where={"node": v, "format": f}, amount=1.0)


def _pairs(sets: object) -> tuple[Indices, Indices]:
    """Sets in CSR form as two arrays: rows and members."""
    rows = np.repeat(np.arange(sets.shape[0]), np.diff(sets.indptr))  # type: ignore[attr-defined]
    return rows, sets.indices.astype(np.int64)  # type: ignore[attr-defined]
