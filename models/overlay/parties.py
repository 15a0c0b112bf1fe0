"""What the core must carry, stated once for all programs: parties of users and the arcs worth using.

A message that user u publishes on channel c must join the brokers of u and of all subscribers of c, wherever they are.
So its cost depends on the set of users {u} + subscribers(c) alone: a **party**. Parties with the same users share a
tree and their rates add up: all publishers that subscribe to c themselves are one party, and so are two users who write
to each other only.
The core cost of a plan is the sum over parties of rate * weight of a tree that joins the brokers of its users.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from yardline.models.checks import Indices, Vector
from yardline.models.overlay.data import Overlay

MOST = 50  # crowds larger than this say little that the capacity itself does not


@dataclass(frozen=True, slots=True)
class Party:
    """Users whose brokers one tree must join, the rate that flows on it."""

    users: tuple[int, ...]
    rate: float
    sources: tuple[tuple[int, int], ...]  # all (publisher, channel) whose messages it is

    @property
    def root(self) -> int:
        """The user at whose broker the tree is rooted."""
        return self.users[0]

    @property
    def others(self) -> tuple[int, ...]:
        """All users but the root."""
        return self.users[1:]


def parties(instance: Overlay) -> list[Party]:
    """All parties of two users or more, in the order of channels and publishers."""
    audience = instance.subscribes.T.tocsr()
    found: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for c in range(instance.T):
        subscribers = set(audience.indices[audience.indptr[c] : audience.indptr[c + 1]].tolist())
        for u in np.flatnonzero(instance.rates[:, c] > 0).tolist():
            found.setdefault(tuple(sorted(subscribers | {u})), []).append((u, c))
    return [Party(users, _rate(instance, sources), tuple(sources)) for users, sources in found.items()]


def _rate(instance: Overlay, sources: list[tuple[int, int]]) -> float:
    return float(sum(instance.rates[u, c] for u, c in sources))


def useful_links(instance: Overlay) -> Indices:
    """Links (i < j) that no two shorter links in a row replace at no extra cost; all of them in topology `tree`.

    The sum of the two is compared exactly, and both parts are shorter than the whole, so replacing comes to an end.
    """
    first, second = np.triu_indices(instance.B, 1)
    links = np.stack([first, second], axis=1)
    if instance.topology == "tree":
        return links
    d = instance.core_cost
    keep = [not _replaceable(d[i], d[j], d[i, j]) for i, j in links]
    return np.asarray(links[np.array(keep, dtype=bool)])


def _replaceable(a: Vector, b: Vector, whole: float) -> bool:
    """Whether a[k] + b[k] <= whole for some k with both parts positive, exactly (the error of a sum is a float)."""
    total = a + b
    back = total - a
    error = (a - (total - back)) + (b - back)
    shorter = (total < whole) | ((total == whole) & (error <= 0))
    return bool((shorter & (a > 0) & (b > 0)).any())


def crowds(instance: Overlay) -> list[tuple[int, int, list[int]]]:
    """(broker, k, users) such that no k + 1 of the users fit at the broker together, though each of them alone does."""
    result = []
    w = instance.traffic
    for b in np.flatnonzero(np.isfinite(instance.limit)).tolist():
        users = np.flatnonzero(instance.possible[:, b] & (w > 0))
        users = users[np.argsort(-w[users], kind="stable")]
        sums = np.concatenate([[0.0], np.cumsum(w[users])])
        before = 0
        for k in range(1, min(len(users), MOST)):
            window = sums[k + 1 :] - sums[: -k - 1]  # the k+1 lightest of the first p users
            over = np.flatnonzero(window > instance.limit[b] * (1 + 1e-12) + 1e-12 * sums[-1])
            count = k + 1 + int(over[-1]) if len(over) else 0
            if count == 0 and sums[-1] <= instance.limit[b]:
                break
            if count > before and count > k:
                result.append((b, k, sorted(users[:count].tolist())))
                before = count
    return result


def too_large(instance: Overlay, groups: list[Party]) -> list[tuple[int, int, int]]:
    """(party, i, j) with i <= j: the party does not fit at brokers i and j together, though each user may be there."""
    rest, room = _divisible(instance, groups)
    pairs = [(i, j) for i, j in zip(*np.triu_indices(instance.B), strict=True) if instance.B > 2 or i == j]
    pairs = [(i, j) for i, j in pairs if np.isfinite(room[i] + room[j])]
    result = []
    for t, party in enumerate(groups):
        may = instance.possible[list(party.users)]
        for i, j in pairs:
            both = room[i] if i == j else room[i] + room[j]
            if rest[t] > both and may[0, [i, j]].any() and may[:, [i, j]].any(axis=1).all():
                result.append((t, int(i), int(j)))
    return result


def wide(instance: Overlay, groups: list[Party]) -> list[tuple[int, int]]:
    """(party, n) with n >= 3: fewer than n brokers have no room for the party."""
    rest, room = _divisible(instance, groups)
    together = np.cumsum(np.sort(room)[::-1])
    least = np.minimum(1 + np.searchsorted(together, rest), instance.B)
    return [(t, n) for t, n in enumerate(least.tolist()) if n >= 3]


def _divisible(instance: Overlay, groups: list[Party]) -> tuple[Vector, Vector]:
    """The traffic of each party's users that have a choice, and the room that the others leave at each broker."""
    only = instance.possible.sum(axis=1) == 1
    forced = np.asarray(instance.traffic[only] @ instance.possible[only])
    choosing = np.where(only, 0.0, instance.traffic)
    rest = np.array([choosing[list(party.users)].sum() for party in groups])
    slack = 1e-12 * (1.0 + instance.traffic.sum())  # more than all rounding errors together
    return rest, np.maximum(0.0, instance.limit - forced) + slack
