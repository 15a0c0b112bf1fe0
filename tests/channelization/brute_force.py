"""Channelization by enumeration, from the statement of the problem alone; on JSON documents, nothing of the package used."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

EPS = 1e-9
Document = dict[str, Any]


def receive_weight(document: Document, user: int, flow: int) -> float:
    given = document.get("receive_weight")
    if given is None:
        return 1.0
    return given[user][flow] if isinstance(given[user], list) else given[user]


def send_weight(document: Document, flow: int) -> float:
    return document["send_weight"][flow] if "send_weight" in document else 1.0


def weights(document: Document) -> tuple[float, float, float]:
    """w1, w2, w3."""
    given = document.get("weights", {})
    return given.get("receive", 1), given.get("send", 1), given.get("unicast", 1)


def cost(document: Document, plan: Document) -> float:
    """What a plan costs, summed term by term."""
    w1, w2, w3 = weights(document)
    rate = document["rates"]
    received = sum(
        receive_weight(document, j, i) * rate[i]
        for j, joined in enumerate(plan["subscriptions"])
        for g in joined
        for i in plan["groups"][g]
    )
    sent = sum(send_weight(document, i) * rate[i] for group in plan["groups"] for i in group)
    alone = sum(rate[i] for i, _ in plan.get("unicast", []))
    return w1 * received + w2 * sent + w3 * (w1 + w2) * alone


def valid(document: Document, plan: Document) -> bool:
    """Whether a plan keeps every rule."""
    groups, unicast = plan["groups"], {tuple(pair) for pair in plan.get("unicast", [])}
    if sum(1 for group in groups if group) > document["groups"] or (unicast and not document["hybrid"]):
        return False
    flows = [i for group in groups for i in group]
    if document["mode"] == "constrained" and len(flows) > len(set(flows)):
        return False
    if not _within(document, sum(document["rates"][i] for i, _ in unicast)):
        return False
    got = [{i for g in joined for i in groups[g]} for joined in plan["subscriptions"]]
    return all(i in got[j] or (i, j) in unicast for j, wanted in enumerate(document["wants"]) for i in wanted)


def _within(document: Document, unicast_rate: float) -> bool:
    limit = document.get("unicast_budget") if document["hybrid"] else None
    return limit is None or unicast_rate <= limit * (1 + EPS) + EPS


def optimum(document: Document) -> float:
    """The least cost of a valid plan; infinite where there is none."""
    return min((_best_subscription(document, groups) for groups in _all_groups(document)), default=math.inf)


def _all_groups(document: Document) -> Iterator[list[set[int]]]:
    """Every way to fill at most K groups (groups are alike, so up to their order)."""
    n, K = len(document["rates"]), document["groups"]
    if document["mode"] == "constrained":
        yield from _partitions(0, n, K, [])
        return
    subsets = [set(s) for size in range(1, n + 1) for s in itertools.combinations(range(n), size)]
    for count in range(min(K, n) + 1):  # one group per flow serves everybody perfectly: more than n never help
        yield from (list(chosen) for chosen in itertools.combinations_with_replacement(subsets, count))


def _partitions(flow: int, n: int, K: int, groups: list[set[int]]) -> Iterator[list[set[int]]]:
    """Every flow in no group, in one of those begun, or in a new one."""
    if flow == n:
        yield [set(group) for group in groups]
        return
    yield from _partitions(flow + 1, n, K, groups)
    for group in groups:
        group.add(flow)
        yield from _partitions(flow + 1, n, K, groups)
        group.remove(flow)
    if len(groups) < K:
        yield from _partitions(flow + 1, n, K, [*groups, {flow}])


def _best_subscription(document: Document, groups: list[set[int]]) -> float:
    """The least cost with these groups, over all subscriptions; what they leave undelivered goes by unicast."""
    w2 = weights(document)[1]
    rate = document["rates"]
    sent = w2 * sum(send_weight(document, i) * rate[i] for group in groups for i in group)
    front = [(0.0, 0.0)]  # cost so far, unicast rate so far
    for user in range(len(document["wants"])):
        options = _user_options(document, groups, user)
        front = _undominated([(c + a, r + b) for c, r in front for a, b in options])
    return sent + min((c for c, r in front if _within(document, r)), default=math.inf)


def _user_options(document: Document, groups: list[set[int]], user: int) -> list[tuple[float, float]]:
    """(cost, unicast rate) of every set of groups that the user may join."""
    w1, w2, w3 = weights(document)
    rate, result = document["rates"], []
    for joined in itertools.product((False, True), repeat=len(groups)):
        taken = [group for group, yes in zip(groups, joined, strict=True) if yes]
        missing = [i for i in document["wants"][user] if not any(i in group for group in taken)]
        if missing and not document["hybrid"]:
            continue
        received = sum(receive_weight(document, user, i) * rate[i] for group in taken for i in group)
        alone = sum(rate[i] for i in missing)
        result.append((w1 * received + w3 * (w1 + w2) * alone, alone))
    return result


def _undominated(options: list[tuple[float, float]]) -> list[tuple[float, float]]:
    kept: list[tuple[float, float]] = []
    for c, r in sorted(options):
        if not kept or r < kept[-1][1]:
            kept.append((c, r))
    return kept
