"""SteinLib files: what they say, what is wrong with the broken ones (by line), and published optima."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from customization.support import best, solved

from yardline.instances import stp
from yardline.models.customization.judge import evaluate

DATA = Path(__file__).parents[3] / "shared" / "data"

TRIANGLE = """33D32945 STP File, STP Format Version 1.0

SECTION Comment
Name    "triangle"
Creator "by hand"
END

SECTION Graph
Nodes 4
Edges 4
E 1 2 5    # dear
E 1 4 2
E 2 4 1
E 3 4 1
END

SECTION Terminals
Terminals 3
T 1
T 2
T 3
END

SECTION Coordinates
DD 1 0 0
END

EOF
"""


def instance_of(text: str | Path) -> dict[str, Any]:
    document = stp.read(text)
    assert (document.pop("yardline"), document.pop("problem")) == (1, "customization")
    return document


def test_edges() -> None:
    document = instance_of(TRIANGLE)
    assert document["name"] == "triangle"
    assert [entry["name"] for entry in document["formats"]] == ["1", "2", "3", "4"]
    assert len(document["conversions"]) == 8
    assert {"from": 3, "to": 0, "cost": 2} in document["conversions"]
    assert (document["requests"], document["source"]) == ([[0, 1, 2]], 0)
    assert best(document) == pytest.approx(4)  # all three by way of 4: 2 + 1 + 1


def test_arcs_and_root() -> None:
    arcs = TRIANGLE.replace("\nE ", "\nA ").replace("Edges", "Arcs").replace("Terminals 3\n", "Terminals 3\nRoot 4\n")
    document = instance_of(arcs.replace("A 1 4 2", "A 4 1 2").replace("A 2 4", "A 4 2").replace("A 3 4", "A 4 3"))
    assert document["source"] == 3
    assert len(document["conversions"]) == 4
    assert best(document) == pytest.approx(4)


@pytest.mark.parametrize("pair", ["E 2 4 1\nE 4 2 0.5", "E 2 4 0.5\nE 4 2 1"])
def test_the_cheapest_of_parallel_edges_counts(pair: str) -> None:
    document = instance_of(TRIANGLE.replace("Edges 4", "Edges 5").replace("E 2 4 1", pair))
    for tail, head in ((1, 3), (3, 1)):
        assert {"from": tail, "to": head, "cost": 0.5} in document["conversions"]
    assert len(document["conversions"]) == 8


def test_files_without_sections() -> None:
    lines = [line for line in TRIANGLE.splitlines() if line.split()[:1] not in (["SECTION"], ["END"], ["DD"])]
    assert instance_of("\n".join(lines[1:])) == instance_of(TRIANGLE)


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "triangle.stp"
    path.write_text(TRIANGLE)
    assert stp.read(path) == stp.read(str(path)) == stp.read(TRIANGLE)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("E 1 4 2", "E 1 9 2", "line 12 reads '9': expected a node from 1 to 4"),
        ("E 1 4 2", "E 1 0 2", "line 12 reads '0': expected a node from 1 to 4"),
        ("E 1 4 2", "E 1 4", "line 12 reads 'E 1 4': expected E and two nodes and a cost"),
        ("E 1 4 2", "E 1 4 -2", "line 12 reads '-2': expected a finite cost >= 0"),
        ("E 1 4 2", "E 1 4 nan", "line 12 reads 'nan': expected a finite cost >= 0"),
        ("E 1 4 2", "E 1 4 two", "line 12 reads 'two': expected a cost"),
        ("E 1 4 2", "E 4 4 2", "line 12 reads 'E 4 4 2': expected two different nodes"),
        ("E 1 4 2", "E one 4 2", "line 12 reads 'one': expected a node as a whole number"),
        ("E 1 4 2\n", "", "line 10 announces 4 edges, but 3 follow: expected as many as announced"),
        ("T 3\n", "", "line 18 announces 3 terminals, but 2 follow: expected as many as announced"),
        ("Nodes 4\n", "", "line 10: a node is named before the number of nodes: expected Nodes N first"),
        ("Nodes 4", "Nodes 1000001", "line 9 reads '1000001': expected at most 1,000,000 nodes"),
        ("Nodes 4", "Nodes many", "line 9 reads 'many': expected Nodes N as a whole number"),
        (
            "T 3\n",
            "TP 3 7\n",
            "line 21 reads 'tp 3 7': expected a line of a Steiner tree problem (Nodes, Edges, Arcs, E, A, Root, T)",
        ),
        ("T 1\nT 2\nT 3\n", "", "line 18 announces 3 terminals, but 0 follow: expected as many as announced"),
        ("Terminals 3\nT 1\nT 2\nT 3\n", "", "there are no terminals: expected at least one line T node"),
    ],
)
def test_broken_files_are_refused_by_line(old: str, new: str, message: str) -> None:
    assert old in TRIANGLE
    with pytest.raises(ValueError, match=r".") as refusal:
        stp.read(TRIANGLE.replace(old, new))
    assert str(refusal.value) == message


def test_no_graph_at_all() -> None:
    with pytest.raises(ValueError, match=r"^there are no nodes: expected a line Nodes N"):
        stp.read("SECTION Graph\nEND\n")
    with pytest.raises(ValueError, match=r"^line 1 reads '\{\}': expected a line of a Steiner tree problem"):
        stp.read("{}\n")


def published() -> list[tuple[str, float]]:
    """Files of set B (50 to 75 nodes) and their optima, if they are there."""
    table = DATA / "steiner" / "optima.csv"
    if not table.exists():
        return []
    with table.open() as stream:
        return [(row["file"], float(row["optimum"])) for row in csv.DictReader(stream) if row["file"] < "b10"]


@pytest.mark.skipif(not published(), reason="the published Steiner instances are not beside this project")
def test_published_optima() -> None:
    for name, optimum in published():
        instance, _, plan = solved(instance_of(DATA / "steiner" / name))
        judgement = evaluate(instance, plan)
        assert (judgement.valid, judgement.cost) == (True, optimum), name
