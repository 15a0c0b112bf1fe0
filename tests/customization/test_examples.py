"""The shipped examples: read as they are, solved to known costs."""

from __future__ import annotations

import json
import math
from importlib import resources

import pytest
from customization.support import optimum, read

from yardline.models.customization import assembly
from yardline.solvers.branching import prove


@pytest.mark.parametrize(
    ("name", "least", "relaxed"),
    [
        # the integer program of formulation.py, HiGHS; the tree of relaxations below proves it again
        ("map", 123, 123),
        ("bundles", 82, 74),
    ],
)
def test_examples(name: str, least: float, relaxed: float) -> None:
    document = json.loads((resources.files("yardline.instances") / f"examples/customization-{name}.json").read_text())
    assert (document.pop("yardline"), document.pop("problem"), document["name"]) == (1, "customization", name)
    program = assembly.assemble(read(document))
    assert optimum(program) == pytest.approx(least)
    assert optimum(program, relax=True) == pytest.approx(relaxed)
    tree = prove(program, cutoff=least, seconds_left=lambda: 60.0)
    assert tree.finished
    assert math.ceil(tree.bound - 1e-6) == least  # all costs are whole, so the bound may be rounded up
    assert len(tree.nodes) < 200
