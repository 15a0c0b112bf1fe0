"""The certificate `cells`: prices that brokers ask for cells of the event space, and what everybody pays at least.

Let z[b,c] say whether the filter of broker b contains cell c, and x[b,j] which part of type j is served below b. In every plan

    cost = sum of vol[c] z[b,c];   z[b,c] >= x[b,j] and cap[b] z[b,c] >= sum of w[j] x[b,j] over the types j that want c

(a filter contains the interests below it, whatever its boxes are: `rectangle` and `union` alike; an inner broker's filter
contains its children's). Broker b asks type j for a[b,j] r[b,c] + w[j] u[b,c] per cell, where

    r[b,c] = vol[c] / (A[b,c] + m[b,c]),  A[b,c] = sum of a[b,j] over j that want c,   u[b,c] = r[b,c] m[b,c] / cap[b]

so that nobody pays more for a cell than A r + cap u = vol. With load prices l[i] >= 0 of the leaves, for ANY a, m, l >= 0,

    cost >= sum over types j of min over its leaves i of (w[j] l[i] + what the brokers from i up ask for j's cells)
            - sum of l[i] cap[i].

Everything is in whole numbers, rounded down; int64 with sizes that are checked first.

    {"kind": "cells", ..., "bound": "p/q", "load": "max" | "desired", "cuts": [[..] per dimension], "most": pairs,
     "part": [of 256, per broker] or null, "bids": packed a, "room": packed m, "prices": [l per leaf]}

`part` says how much of a broker's measure is shared out here, the rest may serve another bound. Numbers are packed as codes
q = 64 e + r for ((64 + r) << e) >> 6, and 0 for 0: little-endian 16 bit, zlib, base64.
"""

from __future__ import annotations

import base64
import zlib
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from yardline.models import checks, registry
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.load import caps_of
from yardline.models.checks import Fields, Vector
from yardline.models.instance import Instance
from yardline.models.program import Program
from yardline.solvers.certificates.grid import Cells, Types, Whole, measured, typed
from yardline.solvers.certificates.rational import Refused
from yardline.solvers.certificates.verdict import Verdict, rational

KIND = "cells"
LARGEST = 40
"""Bids and room are below 2**(LARGEST + 1)."""

CODES: Whole = np.array([0] + [((64 + q % 64) << (q // 64)) >> 6 for q in range(1, 64 * (LARGEST + 1))], dtype=np.int64)
"""What a code stands for."""

FINE, LARGEST_TOTAL = 16, 2**46
"""Rates have so many bits below the unit; what is bid for one cell in all is at most so much."""

MOST_CELLS = 4_000_000
WHOLE = 256
"""A broker's `part` is so many of these."""


def packed(codes: NDArray[np.uint16]) -> str:
    """Codes as text."""
    return base64.b64encode(zlib.compress(codes.astype("<u2").tobytes(), 6)).decode()


def unpacked(text: object, field: str, count: int) -> Whole:
    """The numbers that packed codes stand for."""
    try:
        inflate = zlib.decompressobj()
        raw = inflate.decompress(base64.b64decode(checks.text(text, field), validate=True), 2 * count + 2)
    except (ValueError, zlib.error) as error:
        raise ValueError(f"{field} cannot be unpacked: {error}") from None
    codes = np.frombuffer(raw[: len(raw) // 2 * 2], dtype="<u2")
    if len(raw) != 2 * count or codes.max(initial=0) >= len(CODES):
        raise ValueError(f"{field} holds {len(raw)} bytes or an unknown code: expected {count} known codes")
    return np.asarray(CODES[codes], dtype=np.int64)


def shift_of(cells: Cells, types: Types, levels: int) -> int:
    """How many bits finer than the unit of volume everything is: as many as int64 has room for."""
    heaviest = int(types.weight.max(initial=1)) // max(1, int(types.caps[types.caps > 0].min(initial=1))) + 1
    return 60 - int(cells.volume.sum()).bit_length() - heaviest.bit_length() - levels.bit_length()


def asked(types: Types, cells: Cells, i: int, volume: Whole, bids: Whole, room: Whole, shift: int) -> Whole:
    """What broker order[i] asks each of its types for, in units / 2**shift."""
    span = slice(types.start[i], types.start[i + 1])
    mine, cap = types.who[span], int(types.caps[types.order[i]])
    corners = types.corners[mine]
    total = np.maximum(_spread(types, corners, bids[span]) + room, 1)
    each, left = np.divmod(volume << shift, total)
    finer = (left << FINE) // total  # each + finer / 2**FINE, rounded down, is the rate of a cell
    rate, rest = _summed(types, corners, each), _summed(types, corners, finer)
    spare = _summed(types, corners, (each * room + _scaled(room, finer)) // max(1, cap))
    mine_pay = bids[span] * rate + _scaled(bids[span], rest)
    return np.asarray(mine_pay + types.weight[mine] * spare, dtype=np.int64)


def _scaled(amounts: Whole, rest: Whole) -> Whole:
    """amounts * rest / 2**FINE, rounded down on the way so that int64 holds the product."""
    half = FINE // 2
    return np.asarray((amounts >> half) * rest >> half, dtype=np.int64)


def _spread(types: Types, corners: Whole, amounts: Whole) -> Whole:
    """Per cell, the sum of amounts over the types that want it (differences, then sums along each dimension)."""
    size, d = int(np.prod(types.table)), len(types.table)
    flat = np.zeros(size, dtype=np.int64)
    for corner in range(2**d):
        sign = int(types.sign[corner]) * (-1) ** d
        np.add.at(flat, corners[:, corner], sign * amounts)
    grid = flat.reshape(types.table)
    for k in range(d):
        grid = grid.cumsum(axis=k)
    return np.ascontiguousarray(grid[tuple(slice(0, n - 1) for n in types.table)]).ravel()


def _summed(types: Types, corners: Whole, per_cell: Whole) -> Whole:
    """Per type, the sum over its cells."""
    grid = np.zeros(types.table, dtype=np.int64)
    grid[tuple(slice(1, n) for n in types.table)] = per_cell.reshape([n - 1 for n in types.table])
    for k in range(len(types.table)):
        grid = grid.cumsum(axis=k)
    flat, result = grid.ravel(), np.zeros(len(corners), dtype=np.int64)
    for corner in range(len(types.sign)):
        result += types.sign[corner] * flat[corners[:, corner]]
    return result


def proved(
    instance: Assignment, cells: Cells, types: Types, parts: Whole, bids: Whole, room: Whole, prices: Whole
) -> Fraction:
    """What bids, room and load prices prove, exactly."""
    shift = shift_of(cells, types, int(instance.level.max()) + 1)
    _check_sizes(types, bids, room, prices, shift)
    cost = np.zeros(len(types.who), dtype=np.int64)
    least = np.full(len(types.weight), 2**62, dtype=np.int64)
    leaf = {int(b): i for i, b in enumerate(instance.leaves)}
    for i, b in enumerate(types.order):
        span = slice(types.start[i], types.start[i + 1])
        volume = cells.volume * int(parts[b]) // WHOLE
        cost[span] = asked(types, cells, i, volume, bids, room[i], shift)
        up = types.up[span]
        cost[span] += np.where(up >= 0, cost[up], 0)
        if b in leaf:
            mine = types.who[span]
            least[mine] = np.minimum(least[mine], cost[span] + types.weight[mine] * int(prices[leaf[b]]))
    paid = sum(int(p) * int(types.caps[b]) for p, b in zip(prices, instance.leaves, strict=True))
    return (_total(least) - paid) * cells.unit / (1 << shift)


def _total(values: Whole) -> int:
    """A sum that int64 might not hold."""
    return (int((values >> 32).sum()) << 32) + int((values & (2**32 - 1)).sum())


def _check_sizes(types: Types, bids: Whole, room: Whole, prices: Whole, shift: int) -> None:
    """Refuse what int64 could not hold: then no sum or product above overflows."""
    heaviest = max(1, int(types.weight.max(initial=1)))
    bid = max((_total(bids[a:b]) for a, b in zip(types.start, types.start[1:], strict=False)), default=0)
    finest = (int(bids.max(initial=0)) >> FINE // 2) * room.shape[-1] << FINE
    large = bid + int(room.max(initial=0)) > LARGEST_TOTAL or finest >= 2**62
    if shift < 0 or large or int(prices.max(initial=0)) * heaviest >= 2**60 or prices.min(initial=0) < 0:
        raise Refused("its numbers are too large to be added up exactly")


@registry.certificate(KIND, summary="Prices per cell of the event space that no plan can avoid paying; whole numbers.")
def check(about: Instance | Program, fields: Fields) -> Verdict:
    """Recompute what the prices prove about an instance."""
    if not isinstance(about, Assignment):
        raise Refused("it speaks about assignment")
    bound, claimed, _parts = check_cells(about, fields)
    fields.done()
    if bound < claimed:
        return Verdict(kind=KIND, holds=False, bound=bound, reason=f"it claims {claimed} but proves {bound}")
    return Verdict(kind=KIND, holds=True, bound=bound)


def check_cells(instance: Assignment, fields: Fields) -> tuple[Fraction, Fraction, Whole]:
    """The bound that prices prove, the one that they claim, and the part of each broker that they use up."""
    claimed = rational(fields.need("bound"), "bound")
    load = checks.choice(fields.need("load"), "load", ("max", "desired"))
    cuts = cuts_of(fields.need("cuts"), instance.d)
    most = checks.integer(fields.need("most"), "most", high=10**9)
    parts = parts_of(fields.need("part"), instance.n)
    cells = measured(instance, cuts)
    types = typed(instance, cells, caps_of(instance, load), most)
    bids = unpacked(fields.need("bids"), "bids", len(types.who))
    room = unpacked(fields.need("room"), "room", len(types.order) * len(cells.volume))
    given = checks.listing(fields.need("prices"), "prices", length=len(instance.leaves), of="leaves")
    prices = np.array([checks.integer(p, f"prices[{i}]", high=2**60) for i, p in enumerate(given)], dtype=np.int64)
    return proved(instance, cells, types, parts, bids, room.reshape(instance.n, -1), prices), claimed, parts


def cuts_of(given: object, dimensions: int) -> list[Vector]:
    """Strictly increasing cuts per dimension, not too many cells between them."""
    rows: list[Vector] = []
    for k, row in enumerate(checks.listing(given, "cuts", length=dimensions, of="dimensions")):
        cut = checks.vector(row, f"cuts[{k}]", low=None)
        if len(cut) < 2 or (np.diff(cut) <= 0).any():
            raise ValueError(f"cuts[{k}] is not increasing: expected at least two cuts, each above the one before")
        rows.append(cut)
    if np.prod([float(len(row)) for row in rows]) > MOST_CELLS:
        raise ValueError(f"cuts make more than {MOST_CELLS:,} cells: expected fewer")
    return rows


def parts_of(given: Any, brokers: int) -> Whole:
    """The part of each broker's measure, of WHOLE."""
    if given is None:
        return np.full(brokers, WHOLE, dtype=np.int64)
    items = checks.listing(given, "part", length=brokers, of="brokers")
    return np.array([checks.integer(p, f"part[{b}]", high=WHOLE) for b, p in enumerate(items)], dtype=np.int64)
