"""The program: one matrix from Pyomo and arrays, its optimum that of brute force, points and plans back and forth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from customization.brute_force import least_cost, least_of_all_plans
from customization.strategies import instances
from customization.support import best, best_plan, chain, optimum, read, solved
from hypothesis import given, settings
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from yardline.models.customization import assembly, formulation
from yardline.models.customization.data import CustomizationPlan
from yardline.models.customization.feasibility import why_infeasible
from yardline.models.customization.judge import evaluate
from yardline.models.program import Program
from yardline.solvers.branching import prove
from yardline.solvers.certificates.rational import common_step

Row = tuple[frozenset[tuple[str, float]], float, float]


def test_chain() -> None:
    assert best(chain()) == pytest.approx(13)  # by hand: see support.chain


def test_the_relaxation_of_the_chain_is_tight() -> None:
    assert optimum(assembly.assemble(read(chain())), relax=True) == pytest.approx(13)


def test_one_node_is_a_directed_steiner_tree() -> None:
    # 0 -> 3 (2), then 3 -> 1 and 3 -> 2 (1 each): 4; straight from 0 it is 3 + 3, through 1 it is 3 + 2
    steps = [(0, 3, 2), (3, 1, 1), (3, 2, 1), (0, 1, 3), (0, 2, 3), (1, 2, 2)]
    document = {
        "parent": [None],
        "requests": [[1, 2]],
        "formats": [{"name": str(f), "transmission": 0} for f in range(4)],
        "conversions": [{"from": f, "to": g, "cost": c} for f, g, c in steps],
        "source": 0,
    }
    assert best(document) == pytest.approx(4)


def test_sixty_four_formats_in_a_row() -> None:
    # each of the 69 steps costs 1, whatever else is requested on the way
    document = {
        "parent": [None, 0],
        "requests": [[], [69, 3]],
        "formats": [{"name": str(f), "transmission": 0} for f in range(70)],
        "conversions": [{"from": f, "to": f + 1, "cost": 1} for f in range(69)],
        "source": 0,
    }
    assert best(document) == pytest.approx(69)


def three_bundles() -> dict[str, Any]:
    """Three bundles for 10, 11 and 12, each yields two of three formats for nothing.

    Two of them are needed, 10 + 11; half of each is enough for the relaxation, 16.5.
    """
    contents = ((1, 4), (1, 5), (2, 5), (2, 6), (3, 6), (3, 4))
    steps = [(0, 1, 10), (0, 2, 11), (0, 3, 12), *((bundle, f, 0) for bundle, f in contents)]
    return {
        "parent": [None],
        "requests": [[4, 5, 6]],
        "formats": [{"name": str(f), "transmission": 0} for f in range(7)],
        "conversions": [{"from": f, "to": g, "cost": c} for f, g, c in steps],
        "source": 0,
    }


def test_a_relaxation_that_is_not_tight() -> None:
    program = assembly.assemble(read(three_bundles()))
    assert optimum(program, relax=True) == pytest.approx(16.5)
    assert optimum(program) == pytest.approx(21)
    tree = prove(program, cutoff=21.0, seconds_left=lambda: 60.0)
    assert tree.finished
    assert 1 < len(tree.nodes) <= 15


def test_a_free_cycle_makes_nothing() -> None:
    # 1 and 2 turn into each other for nothing, but the first of them has to come from 0, for 7
    steps = [(1, 2, 0), (2, 1, 0), (0, 1, 7)]
    document = chain() | {"requests": [[1, 2], [], [], []]}
    document["conversions"] = [{"from": f, "to": g, "cost": c} for f, g, c in steps]
    assert best(document) == pytest.approx(7)


@settings(deadline=None, max_examples=150)
@given(instances())
def test_exact_is_brute_force_and_the_relaxation_below(document: dict[str, Any]) -> None:
    _exact_is_brute_force(document)


@pytest.mark.slow
@settings(deadline=None, max_examples=3000)
@given(instances(most_nodes=5, most_conversions=8))
def test_exact_is_brute_force_at_length(document: dict[str, Any]) -> None:
    _exact_is_brute_force(document)


def _exact_is_brute_force(document: dict[str, Any]) -> None:
    instance, least = read(document), least_cost(document)
    program, reason = assembly.assemble(instance), why_infeasible(instance)
    assert (reason is None) == (least < math.inf)
    assert optimum(program) == pytest.approx(least, rel=1e-7, abs=1e-9)
    if reason is None:
        assert optimum(program, relax=True) <= least + 1e-7 * max(1, least)


@settings(deadline=None, max_examples=60)
@given(instances(most_nodes=3, most_formats=2, most_conversions=2))
def test_brute_force_is_the_best_of_all_plans(document: dict[str, Any]) -> None:
    assert least_cost(document) == pytest.approx(least_of_all_plans(document), rel=1e-12)


@settings(deadline=None, max_examples=150)
@given(instances())
def test_plans_and_points(document: dict[str, Any]) -> None:
    instance = read(document)
    if why_infeasible(instance) is not None:
        return
    instance, program, plan = solved(document)
    judgement = evaluate(instance, plan)
    assert judgement.valid
    point = assembly.encode(instance, program, plan)
    assert program.violation(point) == 0
    assert program.value(point) == pytest.approx(judgement.cost, rel=1e-12)  # nothing useless in a decoded plan
    again = assembly.decode(instance, program.chosen(point))
    assert again.document() == plan.document()


@settings(deadline=None, max_examples=100)
@given(instances())
def test_a_wasteful_plan_becomes_a_point_that_costs_no_more(document: dict[str, Any]) -> None:
    instance = read(document)
    if why_infeasible(instance) is not None:
        return
    plan = everything(document)
    wasteful = CustomizationPlan.from_document(plan, instance)
    judgement = evaluate(instance, wasteful)
    assert judgement.valid
    program = assembly.assemble(instance)
    point = assembly.encode(instance, program, wasteful)
    assert program.violation(point) == 0
    assert program.value(point) <= judgement.cost * (1 + 1e-12)


def everything(document: dict[str, Any]) -> dict[str, Any]:
    """Every format that can be made goes to every subtree with requests, every conversion is done everywhere there."""
    instance = read(document)
    pairs = [(c["from"], c["to"]) for c in document["conversions"]]
    made = {document["source"]}
    for _ in pairs:
        made |= {g for f, g in pairs if f in made}
    usable = [[f, g] for f, g in pairs if f in made]
    busy = instance.awaiting.tolist()
    return {
        "sends": [sorted(made) if busy[v] and v else [] for v in range(instance.n)],
        "converts": [usable if busy[v] or v == 0 else [] for v in range(instance.n)],
    }


@settings(deadline=None, max_examples=120)
@given(instances())
def test_pyomo_and_arrays_are_the_same_program(document: dict[str, Any]) -> None:
    _same_program(document)


def test_an_infeasible_program_is_the_same_from_both() -> None:
    _same_program(chain() | {"conversions": [{"from": 0, "to": 1, "cost": 5}]})


def _same_program(document: dict[str, Any]) -> None:
    instance = read(document)
    program, model = assembly.assemble(instance), formulation.build(instance)
    if program.shape[1] == 0:
        assert not list(model.component_data_objects(pyo.Var))
        return
    columns, rows = _from_pyomo(model)
    assert rows == _from_arrays(program)
    ours = {
        name: (program.cost[j], program.col_low[j], program.col_high[j], bool(program.integer[j]))
        for j, name in enumerate(program.columns)
    }
    used = {name for entries, _, _ in rows.values() for name, _ in entries}
    assert columns == {name: ours[name] for name in columns}
    assert used <= set(columns)
    assert set(ours) == set(columns)


def _from_pyomo(model: Any) -> tuple[dict[str, Any], dict[str, Row]]:
    """Columns and rows by name; names as the arrays write them."""
    form = LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=pyo.minimize)
    cost = form.c.toarray()[0]
    columns = {_name(v): (cost[j], float(v.lb), float(v.ub), v.is_binary()) for j, v in enumerate(form.columns)}
    names, matrix = list(columns), form.A.tocsr()
    rows: dict[str, Row] = {}
    for r, row in enumerate(form.rows):
        entries = {names[j]: float(a) for j, a in zip(matrix[[r]].indices, matrix[[r]].data, strict=True)}
        low = float(form.rhs[r]) if row.bound_type <= 0 else -math.inf
        high = float(form.rhs[r]) if row.bound_type >= 0 else math.inf
        rows[_name(row.constraint)] = _signed(entries, low, high)
    return columns, rows


def _from_arrays(program: Program) -> dict[str, Row]:
    matrix, rows = program.matrix, {}
    for r, name in enumerate(program.rows):
        span = slice(matrix.indptr[r], matrix.indptr[r + 1])
        entries = {program.columns[j]: a for j, a in zip(matrix.indices[span], matrix.data[span], strict=True)}
        rows[name] = _signed(entries, program.row_low[r], program.row_high[r])
    return rows


def _signed(entries: dict[str, float], low: float, high: float) -> Row:
    """A row up to its sign: its first column by name has a positive entry."""
    sign = 1.0 if entries[min(entries)] > 0 else -1.0
    low, high = (low, high) if sign > 0 else (-high, -low)
    return frozenset((name, sign * a) for name, a in entries.items()), low + 0.0, high + 0.0


def _name(component: Any) -> str:
    return str(component.name).replace("[", "(").replace("]", ")").replace(" ", "")


def test_size_is_about_the_number_of_columns() -> None:
    instance = read(chain())
    assert assembly.size(instance) >= assembly.assemble(instance).shape[1]


@settings(deadline=None, max_examples=60)
@given(instances())
def test_the_tree_of_a_proof_is_small(document: dict[str, Any]) -> None:
    instance = read(document)
    if why_infeasible(instance) is not None:
        return
    program = assembly.assemble(instance)
    tree = prove(program, cutoff=optimum(program), seconds_left=lambda: 60.0)
    assert tree.finished
    assert len(tree.nodes) <= 30


def test_whole_costs_let_bounds_be_rounded_up() -> None:
    assert common_step(assembly.assemble(read(chain()))) == 1


def test_reason_names_node_and_format() -> None:
    document = chain() | {"conversions": [{"from": 0, "to": 1, "cost": 5}]}
    assert why_infeasible(read(document)) == "node 3 asks for format 2, which nothing makes from format 0"
    assert best(document) == math.inf
    document["requests"] = [[2], [], [2], [1]]
    expected = "node 0 asks for format 2, which nothing makes from format 0 (1 more such request)"
    assert why_infeasible(read(document)) == expected


def test_decoded_plan_of_the_chain_is_the_one_by_hand() -> None:
    _, _, plan = solved(chain())
    assert plan.document() == best_plan()


def test_decode_drops_what_is_not_needed() -> None:
    # node 2 needs no tiny format, node 3 has no raw one
    chosen = {"x": np.array([(1, 1), (2, 1), (3, 2)]), "y": np.array([(0, 0, 1), (1, 1, 2), (2, 1, 2), (3, 0, 1)])}
    assert assembly.decode(read(chain()), chosen).document() == best_plan()
