"""The certificate `shared`: a `cells` and a `forced` certificate that share each broker's measure between them.

The cost of a plan is a sum over brokers. Where one certificate speaks about a part p[b] of broker b's measure and the
other about at most the rest, both hold at once and their bounds add up.

    {"kind": "shared", ..., "bound": "p/q", "cells": {...}, "forced": {...}}      each with its `part`, and the same `load`
"""

from __future__ import annotations

from yardline.models import registry
from yardline.models.assignment.data import Assignment
from yardline.models.checks import Fields
from yardline.models.instance import Instance
from yardline.models.program import Program
from yardline.solvers.certificates.cells import WHOLE, check_cells
from yardline.solvers.certificates.forced import check_forced
from yardline.solvers.certificates.rational import Refused
from yardline.solvers.certificates.verdict import Verdict, rational

KIND = "shared"


@registry.certificate(KIND, summary="A `cells` and a `forced` certificate, each about its part of every broker.")
def check(about: Instance | Program, fields: Fields) -> Verdict:
    """Recompute both, and whether the parts fit together."""
    if not isinstance(about, Assignment):
        raise Refused("it speaks about assignment")
    claimed = rational(fields.need("bound"), "bound")
    one, two = (Fields(fields.need(name), name) for name in ("cells", "forced"))
    fields.done()
    priced, _, mine = check_cells(about, one)
    held, _, yours = check_forced(about, two)
    one.done()
    two.done()
    if (mine + yours > WHOLE).any():
        raise Refused("its parts take more of a broker's measure than there is")
    bound = priced + held
    if bound < claimed:
        return Verdict(kind=KIND, holds=False, bound=bound, reason=f"it claims {claimed} but proves {bound}")
    return Verdict(kind=KIND, holds=True, bound=bound)
