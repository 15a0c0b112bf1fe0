"""The certificate `groups`: a price for every want of channelization, and what a group earns by them at most.

    {"kind": "groups", ..., "bound": "p/q", "prices": [number per want],      in the order of models/channelization/group.py
     "bands": [grains, ...],                                                   the last of each band of audiences
     "parts": [{"program": <hash>, "bits": 40, "bound": "p/q", "step": null, "nodes": [...]}, ...]}      a `tree` per band

Why it holds: every plan serves all wants, in its groups or by unicast. A group that costs C and serves wants of price P is in
one of the bands, so C - P is at least the least of their bounds, and of 0; there are at most K groups. Unicast of a want costs
no less than its price (checked). So the plan's cost is at least sum(prices) + K * min(0, least bound of a band).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from yardline.models import checks, registry
from yardline.models.channelization import group
from yardline.models.channelization.data import Channelization
from yardline.models.checks import Fields, Vector
from yardline.models.instance import Instance
from yardline.models.program import Program
from yardline.solvers.certificates.rational import Refused
from yardline.solvers.certificates.tree import check_program
from yardline.solvers.certificates.verdict import Verdict, rational

KIND = "groups"


@registry.certificate(
    KIND, summary="Prices of wants and a tree per size of a group's audience; rechecked in rationals."
)
def check(about: Instance | Program, fields: Fields) -> Verdict:
    """Recompute what a group earns at most in each band, and what that leaves of the prices."""
    if not isinstance(about, Channelization):
        raise ValueError(f"kind is {KIND}: expected a certificate of a channelization instance")
    claimed = rational(fields.need("bound"), "bound")
    flows, _ = group.wants(about)
    prices = checks.vector(fields.need("prices"), "prices", length=len(flows), of="wants")
    bands = _bands(fields.need("bands"), group.total(about))
    proofs = checks.listing(fields.need("parts"), "parts", length=len(bands), of="bands")
    fields.done()
    if (prices > group.dearest(about)).any():
        raise Refused("a want is priced at more than its unicast costs")
    least = [_band(about, prices, *band, Fields(proofs[p], f"parts[{p}]")) for p, band in enumerate(bands)]
    bound = together(about, prices, least)
    reason = "" if bound >= claimed else f"it claims {claimed} but proves {bound}"
    return Verdict(kind=KIND, holds=bound >= claimed, bound=bound, reason=reason)


def together(instance: Channelization, prices: Vector, least: list[Fraction]) -> Fraction:
    """What prices and the bounds of all bands prove."""
    paid = sum(map(Fraction, prices.tolist()), Fraction(0))
    return paid + instance.most_groups * min(Fraction(0), *least)


def _bands(given: Any, total: int) -> list[tuple[int, int]]:
    """Bands as (first, last) grains: they hold every whole number from 0 to the weight of everybody."""
    lasts = [checks.integer(v, f"bands[{p}]") for p, v in enumerate(checks.listing(given, "bands"))]
    if not lasts or (np.diff(lasts) <= 0).any() or lasts[-1] != total:
        raise ValueError(f"bands are {lasts}: expected rising numbers up to {total}")
    return list(zip([0, *(last + 1 for last in lasts[:-1])], lasts, strict=True))


def _band(about: Channelization, prices: Vector, low: int, high: int, fields: Fields) -> Fraction:
    """What a group in a band costs at least, less what it earns."""
    proved, claimed = check_program(group.program(about, prices, low, high), fields)
    fields.done()
    if proved < claimed:
        raise Refused(f"{fields.where} claims {claimed} but proves {proved}")
    return proved
