"""The shipped examples: what they cost, proved by a tree of relaxations (nodes as counted when they were made)."""

import json
from pathlib import Path

import pytest
from assignment.helpers import PROBLEM, read

import yardline.instances
from yardline.models.assignment.judge import evaluate
from yardline.solvers.branching import prove

FOLDER = Path(yardline.instances.__file__).parent / "examples"


@pytest.mark.parametrize(
    ("name", "optimum", "nodes"),
    [
        ("assignment-levels", 74.0, 29),  # ten subscribers, six brokers on two levels
        ("assignment-union", 20.4, 3),  # seven subscribers, three brokers, a density; boxes may share an interest
    ],
)
def test_example(name, optimum, nodes):
    document = json.loads((FOLDER / f"{name}.json").read_text())
    instance = read({field: value for field, value in document.items() if field not in ("yardline", "problem")})
    program = PROBLEM.assemble(instance)
    tree = prove(program, seconds_left=lambda: 60.0)  # without being told the optimum
    assert tree.finished  # nothing is below its best point: whole costs let bounds be rounded up
    assert tree.value == pytest.approx(optimum)
    assert len(tree.nodes) < 20 * nodes
    judgement = evaluate(instance, PROBLEM.decode(instance, program.chosen(tree.best)))
    assert judgement.valid
    assert judgement.cost == pytest.approx(optimum)
