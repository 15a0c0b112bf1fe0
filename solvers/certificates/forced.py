"""The certificate `forced`: subscribers who have no choice, and what the filters that must hold them measure at least.

A subscriber whose usable leaves all stand below broker b is forced to b: b's filter contains its interest. Brokers' costs add up.
Two lower bounds of the measure of such a filter, on a grid with whole measures (interests shrunk to the cells inside):

    cells   the measure of the union of the forced interests: for every alpha and both containments
    cover   `rectangle`: every forced interest lies in one of alpha boxes. Some of them, the witnesses, are put into boxes
            one after the other in all ways; a branch ends when its boxes measure as much as `target`; the least end counts.

    {"kind": "forced", ..., "bound": "p/q", "load": ..., "cuts": [[..] per dimension], "part": [of 256, per broker] or null,
     "witnesses": {broker: [subscriber, ...]}, "targets": {broker: whole units}}
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from yardline.models import checks, registry
from yardline.models.assignment import limits
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.load import caps_of
from yardline.models.checks import Fields, Indices
from yardline.models.instance import Instance
from yardline.models.program import Program
from yardline.solvers.certificates.cells import WHOLE, cuts_of, parts_of
from yardline.solvers.certificates.grid import Cells, Whole, measured, ranges
from yardline.solvers.certificates.rational import Refused
from yardline.solvers.certificates.verdict import Verdict, rational

KIND = "forced"
MOST_BOXES, MOST_NODES = 4, 200_000
"""Boxes up to which covers are searched, and open branches at a time."""


class Ground:
    """What forces whom where: cells, interests as ranges of cells, and sums of measure for boxes."""

    def __init__(self, instance: Assignment, cells: Cells, load: str) -> None:
        self.instance, self.cells = instance, cells
        self.first, self.last = ranges(instance, cells.cuts)
        self.group = limits.candidates(instance).of
        self.forced = _forced(instance, limits.candidates(instance).sets & (caps_of(instance, load) > 0))
        sums = np.pad(cells.volume.reshape(cells.shape), [(1, 0)] * instance.d)
        for k in range(instance.d):
            sums = sums.cumsum(axis=k)
        self.sums: Whole = sums

    def members(self, b: int) -> Indices:
        """Subscribers who are forced to a broker and have a cell."""
        return np.flatnonzero(self.forced[b][self.group] & (self.first < self.last).all(axis=1))

    def measure(self, low: Whole, high: Whole) -> Whole:
        """Measures of boxes low <= c < high (... x d); 0 where empty."""
        high = np.maximum(low, high)
        total = np.zeros(low.shape[:-1], dtype=np.int64)
        d = low.shape[-1]
        for corner in range(2**d):
            index = tuple((high if corner >> k & 1 else low)[..., k] for k in range(d))
            total += (-1) ** (d - corner.bit_count()) * self.sums[index]
        return total

    def union_of_cells(self, b: int) -> int:
        """The measure of all cells that somebody forced to b wants."""
        who = self.members(b)
        rows = np.unique(np.concatenate([self.first[who], self.last[who]], axis=1), axis=0)
        wanted = np.zeros(self.cells.shape, dtype=bool)
        for row in rows:
            wanted[tuple(slice(a, c) for a, c in zip(row[: len(row) // 2], row[len(row) // 2 :], strict=True))] = True
        return int(self.cells.volume[wanted.ravel()].sum())


def _forced(instance: Assignment, usable: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Brokers x sets: whether all usable leaves of a set stand below a broker."""
    below = np.zeros((instance.n, len(instance.leaves)), dtype=bool)
    below[instance.leaves, np.arange(len(instance.leaves))] = True
    for b in reversed(instance.top_down):
        if instance.parent[b] >= 0:
            below[instance.parent[b]] |= below[b]
    inside = usable.astype(np.int64) @ below.T.astype(np.int64)
    everywhere: NDArray[np.bool_] = np.asarray(inside == np.sum(usable, axis=1, keepdims=True), dtype=bool)
    everywhere &= np.any(usable, axis=1, keepdims=True)
    return everywhere.T


def union_measure(ground: Ground, low: Whole, high: Whole) -> Whole:
    """Measures of unions of boxes (nodes x boxes x d), by inclusion and exclusion."""
    total = np.zeros(len(low), dtype=np.int64)
    for chosen in range(1, 1 << low.shape[1]):
        these = [r for r in range(low.shape[1]) if chosen >> r & 1]
        sign = 1 if len(these) % 2 else -1
        total += sign * ground.measure(low[:, these].max(axis=1), high[:, these].min(axis=1))
    return total


def nothing(ground: Ground, boxes: int) -> tuple[Whole, Whole]:
    """One node whose boxes are all empty."""
    d = ground.instance.d
    shape = np.array(ground.cells.shape, dtype=np.int64)
    return np.tile(shape, (1, boxes, 1)), np.zeros((1, boxes, d), dtype=np.int64)


def inserted(low: Whole, high: Whole, first: Whole, last: Whole) -> tuple[Whole, Whole]:
    """Every node with one more interest in each of its boxes (of several empty boxes only in the first)."""
    lows, highs = [], []
    for r in range(low.shape[1]):
        open_now = np.ones(len(low), dtype=bool) if r == 0 else (high[:, r - 1] > low[:, r - 1]).all(axis=1)
        a, c = low[open_now].copy(), high[open_now].copy()
        a[:, r], c[:, r] = np.minimum(a[:, r], first), np.maximum(c[:, r], last)
        lows.append(a)
        highs.append(c)
    return np.concatenate(lows), np.concatenate(highs)


def least_cover(ground: Ground, boxes: int, witnesses: list[int], target: int) -> int:
    """The least measure at which all ways of putting witnesses into boxes end."""
    low, high = nothing(ground, boxes)
    ended = target
    for s in witnesses:
        low, high = inserted(low, high, ground.first[s], ground.last[s])
        going = union_measure(ground, low, high) < target
        low, high = low[going], high[going]
        if len(low) > MOST_NODES:
            raise Refused("a cover of its witnesses has too many branches")
    if len(low):
        ended = min(ended, int(union_measure(ground, low, high).min()))
    return ended


@registry.certificate(KIND, summary="Filters that must hold subscribers without a choice; whole numbers.")
def check(about: Instance | Program, fields: Fields) -> Verdict:
    """Recompute what forced subscribers prove about an instance."""
    if not isinstance(about, Assignment):
        raise Refused("it speaks about assignment")
    bound, claimed, _ = check_forced(about, fields)
    fields.done()
    if bound < claimed:
        return Verdict(kind=KIND, holds=False, bound=bound, reason=f"it claims {claimed} but proves {bound}")
    return Verdict(kind=KIND, holds=True, bound=bound)


def check_forced(instance: Assignment, fields: Fields) -> tuple[Fraction, Fraction, Whole]:
    """The bound that forced subscribers prove, the one that is claimed, and the part of each broker that it uses up."""
    claimed = rational(fields.need("bound"), "bound")
    load = checks.choice(fields.need("load"), "load", ("max", "desired"))
    cells = measured(instance, cuts_of(fields.need("cuts"), instance.d))
    parts = parts_of(fields.need("part"), instance.n)
    witnesses = Fields(fields.need("witnesses"), "witnesses")
    targets = Fields(fields.need("targets"), "targets")
    ground = Ground(instance, cells, load)
    total = 0
    for b in range(instance.n):
        least = ground.union_of_cells(b)
        if str(b) in witnesses.left:
            least = max(least, _cover(ground, b, witnesses.need(str(b)), targets.need(str(b))))
        total += int(parts[b]) * least
    witnesses.done()
    targets.done()
    return total * cells.unit / WHOLE, claimed, parts


def _cover(ground: Ground, b: int, given: object, target: object) -> int:
    """The cover that a broker's witnesses prove, if they are forced to it and the containment is by rectangles."""
    instance, field = ground.instance, f"witnesses.{b}"
    items = checks.listing(given, field)
    who = [checks.integer(s, f"{field}[{i}]", high=instance.m - 1) for i, s in enumerate(items)]
    most = checks.integer(target, f"targets.{b}", high=2**62)
    boxes = int(instance.alpha[b])
    if instance.containment != "rectangle" or boxes > MOST_BOXES:
        raise Refused(f"witnesses of broker {b} prove nothing: its boxes need not hold interests one by one")
    if not ground.forced[b][ground.group[who]].all():
        raise Refused(f"not all witnesses of broker {b} are forced to it")
    return least_cover(ground, boxes, who, most)
