"""When an overlay instance has no valid plan: users, their traffic, and the room of the brokers open to them.

Trees can always be wired, so only places count: every user goes to one open broker, no broker takes more than its
(widened) capacity.
Quick tests come first; what they leave open is decided by an integer program over the places alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from yardline.models.checks import Indices, Vector
from yardline.models.overlay.data import Overlay

PATIENCE = 60.0  # seconds for the integer program; what is still open then counts as feasible
SHRINK = 5.0  # seconds for making a reason smaller
LARGE = 100_000  # pairs (user, broker) from which on the quickest reason is better than the smallest


def why_infeasible(instance: Overlay) -> str | None:
    """The reason in words, or None where there is a valid plan (or none was excluded in the time given)."""
    alone = _alone(instance)
    if alone or _packed(instance) is not None:
        return alone
    crowd = _crowded(instance)
    if crowd is not None:
        return _too_much(instance, *crowd)
    everyone = np.arange(instance.U)
    if _placed(instance, everyone) is not False:
        return None
    return _indivisible(instance, _smaller(instance, everyone))


def _alone(instance: Overlay) -> str | None:
    """A user that fits nowhere, whoever else is there."""
    for user in np.flatnonzero(~instance.possible.any(axis=1)).tolist():
        brokers = np.flatnonzero(instance.open[user])
        if not len(brokers):
            return f"user {user} is open to no broker (access_cost[{user}] is null throughout)"
        brings = f"user {user} brings traffic {instance.traffic[user]:g}"
        return f"{brings}, more than any broker open to it may take ({_rooms(instance, brokers)})"
    return None


def _packed(instance: Overlay) -> Indices | None:
    """A placement by simple rules (few choices or heavy first, into the most or the least room), or None."""
    w, may = instance.traffic, instance.possible
    orders = np.argsort(-w, kind="stable"), np.lexsort((-w, may.sum(axis=1)))
    for order in orders:
        for roomiest in (True, False):
            found = _pack(instance, order, roomiest)
            if found is not None:
                return found
    return None


def _pack(instance: Overlay, order: Indices, roomiest: bool) -> Indices | None:
    w, load = instance.traffic, np.zeros(instance.B)
    broker = np.zeros(instance.U, dtype=np.int64)
    for u in order.tolist():
        room = instance.limit - load - w[u]
        fits = instance.possible[u] & (room >= 0)
        if not fits.any():
            return None
        key = np.where(fits, -room if roomiest else room, np.inf)
        broker[u] = b = int(key.argmin()) if np.isfinite(key).any() or not roomiest else int(fits.argmax())
        load[b] += w[u]
    return broker if _fits(instance, broker, np.arange(instance.U)) else None


def _fits(instance: Overlay, broker: Indices, users: Indices) -> bool:
    """Whether loads are within the limits as the judge adds them up."""
    load = np.bincount(broker, weights=instance.traffic[users], minlength=instance.B)
    return bool((load <= instance.limit).all())


def _crowded(instance: Overlay) -> tuple[list[int], list[int]] | None:
    """Users and brokers such that the users can only be there and bring more than all of these may take together."""
    for brokers in _suspects(instance):
        inside = np.zeros(instance.B, dtype=bool)
        inside[brokers] = True
        users = np.flatnonzero(~(instance.possible & ~inside).any(axis=1))
        if _over(instance, users, brokers):
            return _fewest(instance, users, brokers), brokers
    return None


def _suspects(instance: Overlay) -> Iterator[list[int]]:
    """Sets of brokers worth a look: each alone, all together, and where dividing users at will overfills."""
    limited = np.flatnonzero(np.isfinite(instance.limit)).tolist()
    yield from ([b] for b in limited)
    whole = len(limited) == instance.B
    large = instance.possible.size > LARGE
    if whole and large:
        yield limited
    yield _overfull(instance)
    if whole and not large:
        yield limited


def _overfull(instance: Overlay) -> list[int]:
    """The brokers whose room has a price when users may be divided and the excess is least: a linear program."""
    from scipy.optimize import linprog  # slow to import: only where it is needed

    user, broker = np.nonzero(instance.possible & np.isfinite(instance.limit))
    free = np.asarray((instance.possible & np.isinf(instance.limit)).any(axis=1))  # these can always be placed
    keep = ~free[user] & (instance.traffic[user] > 0)
    user, broker = user[keep], broker[keep]
    users, user = np.unique(user, return_inverse=True)
    count = len(user)
    if not count:
        return []
    scale = float(instance.traffic.max())
    placed: Any = coo_array((np.ones(count), (user, np.arange(count))), shape=(len(users), count + instance.B))
    load: Any = coo_array(
        (
            np.concatenate([instance.traffic[users][user] / scale, -np.ones(instance.B)]),
            (np.concatenate([broker, np.arange(instance.B)]), np.arange(count + instance.B)),
        )
    )
    cost = np.concatenate([np.zeros(count), np.ones(instance.B)])
    limit = np.where(np.isfinite(instance.limit), instance.limit, 0.0) / scale
    result = linprog(cost, A_ub=load.tocsr(), b_ub=limit, A_eq=placed.tocsr(), b_eq=np.ones(len(users)), method="highs")
    if result.status != 0 or not result.fun > 0:
        return []
    return [int(b) for b in np.flatnonzero(result.ineqlin.marginals < -1e-9)]


def _over(instance: Overlay, users: Indices, brokers: Sequence[int]) -> bool:
    """Whether the users bring more than the brokers may take, by more than rounding errors."""
    brought, room = instance.traffic[users].sum(), instance.limit[list(brokers)].sum()
    return bool(brought > room * (1 + 1e-12))


def _fewest(instance: Overlay, users: Indices, brokers: Sequence[int]) -> list[int]:
    """The heaviest of the users that are already too much."""
    heavy = users[np.argsort(-instance.traffic[users], kind="stable")]
    count = next(k for k in range(1, len(heavy) + 1) if _over(instance, heavy[:k], brokers))
    return sorted(heavy[:count].tolist())


def _placed(instance: Overlay, users: Indices, patience: float = PATIENCE) -> bool | None:
    """Whether these users can all be placed (None: not known in time), by an integer program.

    A solver forgives more than the problem does, so a placement is checked, and one that is over a limit is excluded.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import: only where it is needed

    until = time.monotonic() + patience
    user, broker = np.nonzero(instance.possible[users])
    count, w = len(user), instance.traffic[users]
    scale = np.where(np.isfinite(instance.limit) & (instance.limit > 0), instance.limit, 1.0)
    serve = coo_array((np.ones(count), (user, np.arange(count))), shape=(len(users), count)).tocsr()
    load = coo_array((w[user] / scale[broker], (broker, np.arange(count))), shape=(instance.B, count)).tocsr()
    rows = [LinearConstraint(serve, 1.0, 1.0), LinearConstraint(load, -np.inf, instance.limit / scale)]
    while time.monotonic() < until:
        left: Any = {"time_limit": until - time.monotonic()}
        found = milp(
            np.zeros(count),
            constraints=rows,
            integrality=np.ones(count, dtype=np.int64),
            bounds=Bounds(0.0, 1.0),
            options=left,
        )
        if found.status == 2:
            return False
        if found.x is None:
            return None
        taken = found.x > 0.5
        if _fits(instance, _brokers(user, broker, taken, len(users)), users):
            return True
        rows.append(LinearConstraint(*_not_again(instance, w, user, broker, taken)))
    return None


def _brokers(user: Indices, broker: Indices, taken: NDArray[np.bool_], count: int) -> Indices:
    result = np.zeros(count, dtype=np.int64)
    result[user[taken]] = broker[taken]
    return result


def _not_again(
    instance: Overlay, w: Vector, user: Indices, broker: Indices, taken: NDArray[np.bool_]
) -> tuple[Vector, float, float]:
    """The next row: the users at the first broker over its limit must not all be there."""
    load = np.bincount(broker[taken], weights=w[user[taken]], minlength=instance.B)
    here = taken & (broker == int((load > instance.limit).argmax()))
    return here.astype(np.float64)[None, :], -np.inf, float(here.sum() - 1.0)


def _smaller(instance: Overlay, users: Indices) -> Indices:
    """Fewer users that cannot all be placed either: each left out in turn, the lightest first, while time lasts."""
    until = time.monotonic() + SHRINK
    for u in users[np.argsort(instance.traffic[users], kind="stable")].tolist():
        left = until - time.monotonic()
        if left > 0 and _placed(instance, users[users != u], left) is False:
            users = users[users != u]
    return users


def _too_much(instance: Overlay, users: list[int], brokers: list[int]) -> str:
    brought = float(instance.traffic[users].sum())
    who = f"{_listed('user', users)} can only use {_listed('broker', brokers)}"
    take = f"which may take {float(instance.capacity[brokers].sum()):g}" + (" together" if len(brokers) > 1 else "")
    return f"{who}, {take}, but bring{'s' if len(users) == 1 else ''} traffic {brought:g}"


def _indivisible(instance: Overlay, users: Indices) -> str:
    brokers = np.flatnonzero(instance.possible[users].any(axis=0))
    loads = ", ".join(f"{instance.traffic[u]:g}" for u in users[:12].tolist()) + (", ..." if len(users) > 12 else "")
    who = f"{_listed('user', users.tolist())} (traffic {loads}) can only use {_listed('broker', brokers.tolist())}"
    return f"{who} and cannot be divided among them without going over a capacity ({_rooms(instance, brokers)})"


def _listed(what: str, members: list[int]) -> str:
    """`user 3`, `users 3, 17 and 40`; long lists are cut."""
    names = [str(m) for m in members[:12]] + ([f"{len(members) - 12} more"] if len(members) > 12 else [])
    return f"{what} {names[0]}" if len(names) == 1 else f"{what}s {', '.join(names[:-1])} and {names[-1]}"


def _rooms(instance: Overlay, brokers: Indices) -> str:
    shown = [f"broker {b}: {instance.capacity[b]:g}" for b in brokers[:8].tolist()]
    return ", ".join(shown) + (", ..." if len(brokers) > 8 else "")
