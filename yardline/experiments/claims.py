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


def always_valid(method: str) -> Check:
    """The method has a valid plan in every case."""

    def check(rows: Sequence[Row]) -> Verdict:
        mine = [row for row in rows if row["method"] == method]
        valid = sum(row["status"] in VALID for row in mine)
        return Verdict(held=bool(mine) and valid == len(mine), numbers=f"{valid} of {len(mine)} plans are valid")

    return check


def falls(method: str, x: str, y: str = "cost") -> Check:
    """The method's mean of y at the largest x is below that at the smallest one; only valid plans count."""

    def check(rows: Sequence[Row]) -> Verdict:
        mine = [(row[x], row[y]) for row in rows if row["method"] == method and row["status"] in VALID]
        ends = [at(value for value, _ in mine) for at in (min, max)] if mine else []
        first, last = ([v for value, v in mine if value == end] for end in ends) if ends else ([0.0], [0.0])
        means = statistics.fmean(first), statistics.fmean(last)
        numbers = f"{y} {means[0]:.6g} at {x} = {ends[0]}, {means[1]:.6g} at {ends[1]}" if ends else "no valid plan"
        return Verdict(held=means[1] < means[0], numbers=numbers)

    return check


def between(method: str, least: str, most: str, y: str) -> Check:
    """The method's y lies between those of two others on the same instance; invalid plans of the others count as well."""

    def check(rows: Sequence[Row]) -> Verdict:
        found = {(row["method"], row["instance"], row["seed"]): row.get(y) for row in rows}
        keys = [(row["instance"], row["seed"]) for row in rows if row["method"] == method and row["status"] in VALID]
        triples = [tuple(found.get((name, *key)) for name in (least, method, most)) for key in keys]
        whole = [(a, b, c) for a, b, c in triples if a is not None and b is not None and c is not None]
        good = sum(a <= b * (1 + SAME) and b <= c * (1 + SAME) for a, b, c in whole)
        return Verdict(held=bool(whole) and good == len(whole), numbers=f"{good} of {len(whole)} cases")

    return check


def at_most(column: str, limit: float) -> Check:
    """No row has more than so much of something."""

    def check(rows: Sequence[Row]) -> Verdict:
        worst = max((row[column] for row in rows), default=float("inf"))
        return Verdict(held=bool(worst <= limit), numbers=f"the largest {column} of {len(rows)} cases is {worst:.4g}")

    return check
