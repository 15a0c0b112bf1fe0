"""Published optima of Steiner trees, where the data is at hand; proofs are checked again."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import yardline as yl

DATA = Path(__file__).parents[3] / "shared" / "data"


def published(folder: str, column: str) -> list[tuple[Path, float]]:
    table = DATA / folder / "optima.csv"
    if not table.exists():
        return []
    with table.open() as file:
        rows = list(csv.DictReader(file))
    return [((DATA / folder / row[column]).with_suffix(".stp"), float(row["optimum"])) for row in rows]


KNOWN = [*published("steiner", "file"), *published("steiner_directed", "name")]


@pytest.mark.slow
@pytest.mark.skipif(not KNOWN, reason="the published instances are not at ../shared/data")
def test_published_optima() -> None:
    for path, optimum in KNOWN:
        solved = yl.solve(yl.load(path), time_limit=60, certify=True)
        assert solved.status == "optimal", path
        assert solved.cost == optimum, path
        verified = yl.verify(yl.load(path), solved.certificate or {})
        assert verified.optimal, path
        assert verified.bound == optimum
