"""From what the tree was given to a valid plan, in up to three ways; the cheapest is taken.

    flow    the paper's: filters adjusted to what the flow placed; whom it left out comes in where filters grow least
    grown   (ours, only with `finish`) leaves begin with the boxes of which the program took at least `sure`, at most alpha;
            everybody comes in where filters grow least, fewest candidate leaves first, within the caps

    begun   (ours, only with `finish`) the same from nothing, before the first program: a valid plan to have if time runs out

The rounding has several times alpha boxes per leaf and its flow does not look at cost; `grown` keeps what the program was
sure of.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator

from yardline.decomposition.assignment.adjusting import adjusted
from yardline.decomposition.assignment.boxes import around
from yardline.decomposition.assignment.placing import moved_over
from yardline.decomposition.assignment.settings import Settings
from yardline.decomposition.assignment.sharing import Boxes, Down
from yardline.models.assignment.boxes import inside
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.assignment.judge import evaluate
from yardline.models.assignment.load import caps_of
from yardline.models.checks import Indices
from yardline.solvers.heuristics.assignment.search import Search
from yardline.solvers.heuristics.assignment.state import Growing, bottom_up, empty


def begun(instance: Assignment, settings: Settings) -> AssignmentPlan:
    """A valid plan before the first program: everybody where filters grow least; where that gets stuck, by flow."""
    plan = _grown(instance, {}, settings.load)
    if plan is not None:
        return plan
    leaf = moved_over(instance, np.full(instance.m, -1, dtype=np.int64))
    return adjusted(instance, np.random.default_rng(0), leaf, {}, grown=True).plan(instance, leaf)


def completed(
    instance: Assignment, rng: Generator, down: Down, settings: Settings, first: AssignmentPlan
) -> tuple[AssignmentPlan, list[str]]:
    """The plan, and words about how it was made."""
    plan, note = _by_flow(instance, rng, down, grown=settings.finish > 0)
    if not settings.finish:
        return plan, [note]
    plans = {"by flow": plan, "grown from sure boxes": _grown(instance, down.sure, settings.load), "begun": first}
    costs = {name: evaluate(instance, one).cost for name, one in plans.items() if one is not None}
    name = min(costs, key=lambda name: costs[name])
    words = ", ".join(f"{name} {cost:.6g}" for name, cost in costs.items())
    return plans[name] or first, [note, f"completed {words}"]


def _by_flow(instance: Assignment, rng: Generator, down: Down, *, grown: bool) -> tuple[AssignmentPlan, str]:
    """Filters for those whom the flow placed, then the others where filters grow least."""
    leaf, out = down.leaf, np.flatnonzero(down.leaf < 0)
    state = adjusted(instance, rng, leaf, down.boxes, grown=grown)
    note = f"{len(out):,} of {instance.m:,} placed by repair"
    if not len(out):
        return state.plan(instance, leaf), note
    search = Search.begun(instance, state, leaf, caps_of(instance, "max"))
    stuck = _inserted(search, out)
    if not stuck:
        return search.plan(), note
    old = np.where(search.where >= 0, instance.leaves[search.where], -1)
    new = moved_over(instance, old)
    moved = np.flatnonzero(new != old)
    _filled(instance, state, new, moved)
    return _tightened(instance, state, new), note + f", {len(moved) - stuck:,} moved over to make room for {stuck:,}"


def _inserted(search: Search, pool: Indices) -> int:
    """Put in whoever finds room; how many do not."""
    stuck = 0
    while len(pool) and not search.inserted(pool):
        pool = pool[search.where[pool] < 0]
        parcel = search.parcel[pool]
        few = np.diff(search.people.first)[search.people.of[parcel]]
        pool = np.delete(pool, np.lexsort((parcel, few))[0])  # the first of those left is the one who is stuck
        stuck += 1
    return stuck


def _filled(instance: Assignment, state: Growing, leaf: Indices, who: Indices) -> None:
    """Filters grow to hold some who have been given a leaf."""
    from yardline.solvers.heuristics.assignment import _filters

    _filters.fill(leaf[who], instance.low[who], instance.high[who], state)


def _grown(instance: Assignment, sure: Mapping[int, Boxes], load: str) -> AssignmentPlan | None:
    """Everybody comes in, within the caps of the reading of load, else within those of beta_max; None: it got stuck."""
    for reading in dict.fromkeys((load, "max")):
        state = empty(instance)
        for b in instance.leaves.tolist():
            low, high = sure.get(b, (np.zeros((0, instance.d)),) * 2)
            count = min(len(low), state.low.shape[1])
            state.low[b, :count], state.high[b, :count], state.count[b] = low[:count], high[:count], count
        bottom_up(instance, state)
        nowhere = np.full(instance.m, -1, dtype=np.int64)
        search = Search.begun(instance, state, nowhere, caps_of(instance, reading))
        if search.inserted(np.arange(instance.m)):
            return _tightened(instance, state, instance.leaves[search.where])
    return None


def _tightened(instance: Assignment, state: Growing, leaf: Indices) -> AssignmentPlan:
    """Boxes shrink to those who came in, each to the first box that holds it; a box that holds nobody goes."""
    order = np.argsort(leaf, kind="stable")
    ends = np.searchsorted(leaf[order], np.arange(instance.n + 1))
    for b in instance.leaves.tolist():
        mine = order[ends[b] : ends[b + 1]]
        held = inside(
            instance.low[mine], instance.high[mine], *(side[b, : state.count[b]] for side in (state.low, state.high))
        )
        group = np.unique(held.argmax(axis=1), return_inverse=True)[1] if len(mine) else np.zeros(0, dtype=np.int64)
        low, high = around(group, instance.low[mine], instance.high[mine])
        state.low[b, : len(low)], state.high[b, : len(low)], state.count[b] = low, high, len(low)
    bottom_up(instance, state)
    return state.plan(instance, leaf)
