"""Ready-made checks of claims: each takes what is claimed and gives a function of the rows. Only valid plans count."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from yardline.experiments.description import Row, Verdict
from yardline.models.numbers import SAME

Check = Callable[[Sequence[Row]], Verdict]
Pairs = list[tuple[float, float]]

VALID = ("optimal", "feasible")


def within(method: str, reference: str, factor: float, *, share: float = 1.0) -> Check:
    """The method costs at most `factor` times what the reference does, in at least this share of the cases."""

    def check(rows: Sequence[Row]) -> Verdict:
        pairs = costs(rows, method, reference)
        good = sum(mine <= factor * theirs * (1 + SAME) for mine, theirs in pairs)
        ratios = [_ratio(mine, theirs) for mine, theirs in pairs]
        numbers = f"{good} of {len(pairs)} cases"
        if ratios:
            numbers += f"; {method} / {reference}: mean {statistics.fmean(ratios):.4g}, worst {max(ratios):.4g}"
        return Verdict(held=bool(pairs) and good >= share * len(pairs), numbers=numbers)

    return check


def cheaper(method: str, reference: str, *, share: float = 1.0) -> Check:
    """The method costs no more than the reference, in at least this share of the cases."""
    return within(method, reference, 1.0, share=share)


def mean_below(method: str, reference: str, factor: float = 1.0) -> Check:
    """The mean cost of the method is below `factor` times that of the reference, over the cases where both are valid."""

    def check(rows: Sequence[Row]) -> Verdict:
        pairs = costs(rows, method, reference)
        mine, theirs = (statistics.fmean(column) for column in zip(*pairs, strict=True)) if pairs else (0.0, 0.0)
        numbers = f"mean cost {mine:.6g} against {theirs:.6g} over {len(pairs)} cases"
        return Verdict(held=bool(pairs) and mine < factor * theirs, numbers=numbers)

    return check


def where(check: Check, **parameters: object) -> Check:
    """A check on the rows with these parameters alone."""

    def checked(rows: Sequence[Row]) -> Verdict:
        return check([row for row in rows if all(row.get(name) == value for name, value in parameters.items())])

    return checked


def costs(rows: Sequence[Row], method: str, reference: str) -> Pairs:
    """Costs of two methods on the same instance with the same seed, where both have valid plans."""
    found = {(row["method"], row["instance"], row["seed"]): row["cost"] for row in rows if row["status"] in VALID}
    keys = sorted({(instance, seed) for name, instance, seed in found if name == method})
    return [(found[method, *key], found[reference, *key]) for key in keys if (reference, *key) in found]


def _ratio(mine: float, theirs: float) -> float:
    return mine / theirs if theirs else (1.0 if not mine else float("inf"))
