"""What checking a certificate came to, and the way from a document to its checker.

A certificate is a JSON document: {"yardline": 1, "kind": ..., "problem": ..., "instance": <hash>, "bound": "p/q", ...}.
Its kind names the checker (`registry.certificate`); later bounds bring their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from yardline.models import checks, registry
from yardline.models.checks import Fields
from yardline.models.instance import Instance
from yardline.models.program import Program
from yardline.solvers.certificates.rational import Refused

VERSION = 1
_RATIONAL = re.compile(r"-?\d{1,4000}(/[1-9]\d{0,3999})?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a certificate holds, and what it proves."""

    kind: str
    holds: bool
    bound: Fraction | None
    optimal: bool = False
    reason: str = ""


def rational(value: object, field: str) -> Fraction:
    """A rational number written as "p/q"."""
    if not isinstance(value, str) or not _RATIONAL.match(value):
        checks.fail(field, value, 'a rational number as "p/q"')
    return Fraction(value)


MODEL = "model"
"""What stands for the problem in certificates about a program of the user's own; its hash stands for the instance's."""


def header(kind: str, about: Instance | Program) -> dict[str, Any]:
    """The fields that every certificate begins with."""
    problem = MODEL if isinstance(about, Program) else about.problem
    return {"yardline": VERSION, "kind": kind, "problem": problem, "instance": about.hash}


def verify(about: Instance | Program, document: Mapping[str, Any]) -> Verdict:
    """Check a certificate in exact arithmetic; a malformed one is a ValueError, a wrong one a verdict."""
    fields = Fields(document)
    version = fields.need("yardline")
    if type(version) is not int or version != VERSION:
        checks.fail("yardline", version, f"format version {VERSION}")
    kind = checks.text(fields.need("kind"), "kind")
    problem = checks.text(fields.need("problem"), "problem")
    owner = checks.text(fields.need("instance"), "instance")
    checker = registry.find("certificate", "", kind)
    if problem != header(kind, about)["problem"] or owner != about.hash:
        return Verdict(kind=kind, holds=False, bound=None, reason="it is a certificate for another instance")
    try:
        verdict: Verdict = checker.function(about, fields)
    except Refused as refusal:
        return Verdict(kind=kind, holds=False, bound=None, reason=str(refusal))
    return verdict
