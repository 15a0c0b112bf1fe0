"""Between plans and points of the program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from yardline.models.assignment.boxes import inside, union_measure
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.assignment.pieces import Pieces, axis_values, contributions, pieces, twins
from yardline.models.checks import Indices, Vector
from yardline.models.program import Family, Names, Program

Filters = dict[int, tuple[Vector, Vector]]  # boxes per broker


def decode(instance: Assignment, chosen: Mapping[str, Indices]) -> AssignmentPlan:
    """The plan of a 0/1 point: x says who goes where; boxes are those of f that are paid for (by z) and needed."""
    p = pieces(instance)
    leaf = np.full(instance.m, instance.leaves[0])
    x, f, z = (chosen[name].reshape(-1, 2) for name in ("x", "f", "z"))
    leaf[x[:, 0]] = x[:, 1]
    open_boxes = np.zeros(p.usable.shape, dtype=bool)
    open_boxes[f[:, 0], f[:, 1]] = True
    if instance.containment == "union":
        busy = np.bincount(leaf, minlength=instance.n) > 0
        for b in reversed(instance.top_down):
            if instance.parent[b] >= 0:
                busy[instance.parent[b]] |= busy[b]
        broker, box = np.nonzero(open_boxes & busy[:, None])
    else:
        broker, box = np.nonzero(_needed(instance, p, leaf, open_boxes, z))
    return AssignmentPlan.from_arrays(instance, leaf=leaf, broker=broker, low=p.low[box], high=p.high[box])


def _needed(instance: Assignment, p: Pieces, leaf: Indices, chosen: Indices, z: Indices) -> Indices:
    """Open boxes with all cells paid for, inside such a box of the parent; of those, what subscribers use."""
    paid = np.zeros((instance.n, len(p.measure)), dtype=bool)
    paid[z[:, 0], z[:, 1]] = True
    within = inside(p.low, p.high, p.low, p.high)
    good = np.zeros_like(chosen)
    for b in instance.top_down:
        good[b] = chosen[b] & ~(p.covers & ~paid[b]).any(axis=1)
        if instance.parent[b] >= 0:
            good[b] &= within[:, good[instance.parent[b]]].any(axis=1)
    used = np.zeros_like(chosen)
    for s, b in enumerate(leaf.tolist()):
        box = np.flatnonzero(good[b] & p.holds[s])[:1]
        while b >= 0 and len(box):
            used[b, box] = True
            b = int(instance.parent[b])
            box = np.flatnonzero(good[b] & within[box[0]])[:1] if b >= 0 else box
    return used


def encode(instance: Assignment, program: Program, plan: AssignmentPlan) -> Vector:
    """The point of a valid plan. Boxes shrink to what they hold, so the point costs no more than the plan."""
    p = pieces(instance)
    leaf, filters = _ordered(instance, p, plan)
    number = {_key(low, high): r for r, (low, high) in enumerate(zip(p.low, p.high, strict=True))}
    y: set[tuple[int, ...]] = set()
    if instance.containment == "union":
        boxes = _union_boxes(instance, leaf, filters, number)
    else:
        boxes = _tight_boxes(instance, leaf, filters, number, y)
    f = {(b, r) for b, chosen in boxes.items() for r in chosen}
    z = {(b, int(c)) for b, r in f for c in np.flatnonzero(p.covers[r])}
    picks: dict[str, set[tuple[int, ...]]] = {"x": set(enumerate(leaf.tolist())), "f": set(f), "z": set(z), "y": y}
    point = np.zeros(program.shape[1])
    for family in _families(program):
        point[family.span] = _marked(family, picks[family.name])
    return point


def _families(program: Program) -> Iterable[Family]:
    assert isinstance(program.columns, Names)
    return program.columns.families


def _marked(family: Family, members: set[tuple[int, ...]]) -> Vector:
    return np.fromiter(
        (tuple(row) in members for row in family.index.tolist()), dtype=np.float64, count=len(family.index)
    )


def _key(low: Vector, high: Vector) -> tuple[float, ...]:
    return (*low.tolist(), *high.tolist())


def _ordered(instance: Assignment, p: Pieces, plan: AssignmentPlan) -> tuple[Indices, Filters]:
    """The plan with leaves that nothing tells apart in the order of their first subscribers (see (first))."""
    first = np.full(instance.n, instance.m)
    np.minimum.at(first, plan.leaf, np.arange(instance.m))
    classes: dict[int, list[int]] = {}
    member_of: dict[int, int] = {}
    for before, after in twins(instance, p):
        head = member_of.setdefault(before, before)
        member_of[after] = head
        classes.setdefault(head, [int(instance.leaves[head])]).append(int(instance.leaves[after]))
    name = np.arange(instance.n)
    for members in classes.values():
        for new, old in zip(members, sorted(members, key=lambda b: (first[b], b)), strict=True):
            name[old] = new
    return name[plan.leaf], {int(name[b]): plan.boxes(b) for b in range(instance.n)}


def _tight_boxes(
    instance: Assignment, leaf: Indices, filters: Filters, number: dict[tuple[float, ...], int], y: set[tuple[int, ...]]
) -> dict[int, set[int]]:
    """`rectangle`: every subscriber in the first box that holds it, and that box in the first box of the parent."""
    result: dict[int, set[int]] = {}
    slot = np.full(instance.m, -1)  # which box of the broker at hand holds the subscriber
    at = leaf.copy()
    own_low, own_high = instance.low, instance.high  # what has to be held: the interest, then the box below
    for b in reversed(instance.top_down):
        who = np.flatnonzero(at == b)
        slot[who] = inside(own_low[who], own_high[who], *filters[b]).argmax(axis=1) if len(who) else slot[who]
        result[b] = set()
        for r in np.unique(slot[who]).tolist():
            these = who[slot[who] == r]
            box = number[_key(instance.low[these].min(axis=0), instance.high[these].max(axis=0))]
            result[b].add(box)
            y.update((s, b, box) for s in these.tolist())
        own_low, own_high = own_low.copy(), own_high.copy()
        own_low[who], own_high[who] = (
            (side[slot[who]] for side in filters[b]) if len(who) else (own_low[who], own_high[who])
        )
        at[who] = instance.parent[b]
    return result


def _union_boxes(
    instance: Assignment, leaf: Indices, filters: Filters, number: dict[tuple[float, ...], int]
) -> dict[int, set[int]]:
    """`union`: boxes on the grid, shrunk to what they contribute to; those that make one box together become it."""
    snapped = _snapped(instance, leaf, _shrunk(instance, leaf, filters))
    tight = _shrunk(instance, leaf, snapped)
    return {b: {number[_key(low, high)] for low, high in _joined(*boxes)} for b, boxes in tight.items()}


def _shrunk(instance: Assignment, leaf: Indices, filters: Filters) -> Filters:
    result: Filters = {}
    for b in reversed(instance.top_down):
        children = np.flatnonzero(instance.parent == b).tolist()
        if children:
            items = tuple(np.vstack([result[child][side] for child in children]) for side in (0, 1))
        else:
            items = instance.low[leaf == b], instance.high[leaf == b]
        low, high = contributions(*filters[b], items[0], items[1])
        useful = (low <= high).all(axis=1)
        result[b] = low[useful], high[useful]
    return result


def _snapped(instance: Assignment, leaf: Indices, filters: Filters) -> Filters:
    """Edges that are nobody's move, all that share a value together, to the cheaper neighbouring value."""
    for k, values in enumerate(axis_values(instance)):
        while True:
            ends = np.concatenate([side[:, k] for boxes in filters.values() for side in boxes])
            strange = np.setdiff1d(ends, values)
            if not len(strange):
                break
            known = np.union1d(values, ends)
            at = int(np.searchsorted(known, strange[0]))
            options = [_moved(filters, k, strange[0], known[to]) for to in (at - 1, at + 1)]
            filters = min(options, key=lambda option: sum(union_measure(instance, *boxes) for boxes in option.values()))
    return filters


def _moved(filters: Filters, k: int, old: float, new: float) -> Filters:
    result: Filters = {}
    for b, (low, high) in filters.items():
        low, high = low.copy(), high.copy()
        low[low[:, k] == old, k] = new
        high[high[:, k] == old, k] = new
        result[b] = low, high
    return result


def _joined(low: Vector, high: Vector) -> list[tuple[Vector, Vector]]:
    """Boxes of which no two differ in one dimension only and meet there."""
    boxes = [(a, b) for a, b in zip(low, high, strict=True)]
    for i, (a, b) in enumerate(boxes):
        for j in range(i):
            c, d = boxes[j]
            differs = (a != c) | (b != d)
            if differs.sum() <= 1 and ((np.maximum(a, c) <= np.minimum(b, d)) | ~differs).all():
                rest = [box for position, box in enumerate(boxes) if position not in (i, j)]
                merged = [*rest, (np.minimum(a, c), np.maximum(b, d))]
                return _joined(np.array([box[0] for box in merged]), np.array([box[1] for box in merged]))
    return boxes
