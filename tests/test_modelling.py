"""Models of the user's own: value, bound, gap, certificate; and files that other solvers read."""

from __future__ import annotations

import json
import re
import subprocess

import pyomo.environ as pyo
import pytest
from command_line import outside

import yardline as yl
from yardline.api import load_program
from yardline.models.method import Unavailable
from yardline.models.problem import problem_of
from yardline.solvers import cbc, highs, lpfile, mps
from yardline.solvers.compiled import compiled
from yardline.solvers.outcome import Stop


def knapsack(sense=pyo.maximize):
    """Values 6, 5, 4 of weights 5, 4, 3 into 7: items 1 and 2 for 9 (6 + nothing fits beside 5 but weight 2)."""
    model = pyo.ConcreteModel()
    model.take = pyo.Var(range(3), domain=pyo.Binary)
    model.worth = pyo.Objective(expr=6 * model.take[0] + 5 * model.take[1] + 4 * model.take[2], sense=sense)
    model.room = pyo.Constraint(expr=5 * model.take[0] + 4 * model.take[1] + 3 * model.take[2] <= 7)
    return model


def test_a_model_we_never_saw():
    model = knapsack()
    result = yl.solve_model(model)
    assert (result.status, result.value, result.bound, result.gap) == ("optimal", 9, 9, 0)
    assert [model.take[i].value for i in range(3)] == [0, 1, 1]
    assert result.point == {"take(0)": 0, "take(1)": 1, "take(2)": 1}


def test_a_row_added_to_ours():
    # The two flows 0 and 1 together cost the most; forbidding them in one group can only cost more.
    instance = yl.load("channelization-shared")
    model = yl.formulate(instance)
    model.apart = pyo.Constraint(expr=sum(model.x[i, 0] for i in (0, 1, 2)) <= 1)
    result = yl.solve_model(model)
    assert result.status == "optimal"
    assert result.value >= yl.solve(instance, "exact").cost
    assert yl.evaluate(instance, yl.extract(instance, model)).valid


def test_certificate_of_a_model_against_its_file(tmp_path):
    model = knapsack()
    result = yl.solve_model(model)
    yl.export(model, tmp_path / "knapsack.mps")
    (tmp_path / "proof.json").write_text(json.dumps(result.certificate))
    said = outside("verify", tmp_path / "knapsack.mps", tmp_path / "proof.json", "--json")
    document = said.document
    assert (said.code, document["problem"], document["holds"], document["optimal"]) == (0, "model", True, True)
    assert document["bound"] == -9  # the file is a minimisation

    other = knapsack()
    other.more = pyo.Constraint(expr=other.take[0] + other.take[2] <= 1)
    yl.export(other, tmp_path / "other.mps")
    assert outside("verify", tmp_path / "other.mps", tmp_path / "proof.json").code == 1


def test_infeasible_and_continuous_models():
    model = knapsack()
    model.all = pyo.Constraint(expr=sum(model.take[i] for i in range(3)) >= 3)
    assert yl.solve_model(model).status == "infeasible"
    blend = pyo.ConcreteModel()
    blend.x = pyo.Var(bounds=(0, 4))
    blend.y = pyo.Var(bounds=(0, None))  # bounded by the row below
    blend.mix = pyo.Constraint(expr=(2, blend.x + 2 * blend.y, 6))
    blend.cost = pyo.Objective(expr=3 * blend.x + 2 * blend.y + 1)
    result = yl.solve_model(blend)  # y = 1 meets the lower side: 2 * 1 + 1
    assert (result.status, result.value) == ("optimal", pytest.approx(3))


def test_models_that_cannot_be_used_say_why():
    empty = pyo.ConcreteModel()
    empty.x = pyo.Var(bounds=(0, 1))
    with pytest.raises(ValueError, match="0 active objectives: expected one"):
        yl.solve_model(empty)
    free = pyo.ConcreteModel()
    free.x = pyo.Var()
    free.cost = pyo.Objective(expr=free.x)
    with pytest.raises(ValueError, match="variable x has no finite bounds"):
        yl.solve_model(free)


def test_a_range_row_is_one_row():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, 9))
    model.between = pyo.Constraint(expr=(2, model.x, 5))
    model.cost = pyo.Objective(expr=model.x)
    program = compiled(model).program
    assert list(program.rows) == ["between"]
    assert (program.row_low.tolist(), program.row_high.tolist()) == ([2], [5])


@pytest.mark.parametrize("name", sorted(yl.examples()))
def test_files_keep_the_program(name, tmp_path):
    instance = yl.load(name)
    program = problem_of(instance).assemble(instance)
    (tmp_path / "p.mps").write_text(mps.text(program))
    assert load_program(tmp_path / "p.mps").hash == program.hash


@pytest.mark.parametrize("name", ["channelization-shared", "overlay-tree", "customization-map"])
@pytest.mark.parametrize("ending", ["mps", "lp"])
def test_the_file_has_one_optimum_for_both_solvers(name, ending, tmp_path):
    instance = yl.load(name)
    path = tmp_path / f"p.{ending}"
    said = outside("export", name, "--to", ending, "-o", path, "--json")
    assert (said.code, said.document["instance"]) == (0, instance.hash)
    best = yl.solve(instance, "exact").cost
    assert by_highs(path) == pytest.approx(best, rel=1e-6)
    assert by_cbc(path) == pytest.approx(best, rel=1e-6)


def by_highs(path):
    import highspy

    solver = highs.fresh()
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    return solver.getObjectiveValue()


def by_cbc(path):
    answer = path.with_suffix(".txt")
    command = [cbc.binary(), str(path), "-ratioGap", "0", "-preprocess", "off", "-solve", "-solution", str(answer)]
    subprocess.run(command, capture_output=True, check=True)
    return float(answer.read_text().splitlines()[0].split()[-1])


def test_readable_names_in_files():
    instance = yl.load("channelization-shared")
    program = problem_of(instance).assemble(instance)
    assert re.search(r"^ x\(0,0\) serve", mps.text(program), re.M) or " x(0,0) " in mps.text(program)
    assert "serve(" in lpfile.text(program)


def test_constant_of_the_objective_survives_in_lp(tmp_path):
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), domain=pyo.Binary)
    model.one = pyo.Constraint(expr=model.x[0] + model.x[1] >= 1)
    model.cost = pyo.Objective(expr=2 * model.x[0] + 3 * model.x[1] + 10)
    for ending in ("mps", "lp"):
        yl.export(model, tmp_path / f"c.{ending}")
        assert by_highs(tmp_path / f"c.{ending}") == pytest.approx(12)
        assert by_cbc(tmp_path / f"c.{ending}") == pytest.approx(12)


def test_odd_names_come_back_from_lp_files(tmp_path):
    model = pyo.ConcreteModel()
    for name in ("free", "st", "bin"):
        setattr(model, name, pyo.Var(domain=pyo.Binary))
    model.cost = pyo.Objective(expr=model.free + 2 * model.st + 3 * model.bin)
    model.some = pyo.Constraint(expr=model.free + model.st + model.bin >= 2)
    yl.export(model, tmp_path / "odd.lp")
    assert by_highs(tmp_path / "odd.lp") == by_cbc(tmp_path / "odd.lp") == 3


def test_broken_mps_names_the_line(tmp_path):
    (tmp_path / "b.mps").write_text("NAME x\nROWS\n N cost\n G r\nCOLUMNS\n x nowhere 3\nENDATA\n")
    said = outside("verify", tmp_path / "b.mps", tmp_path / "b.mps")
    assert said.code == 2
    assert "b.mps: line 6" in said.err


def test_a_missing_cbc_is_one_sentence(monkeypatch):
    cbc.binary.cache_clear()
    monkeypatch.setattr("pulp.apis.coin_api.pulp_cbc_path", "/nowhere/cbc")
    monkeypatch.setenv("PATH", "/nowhere")
    try:
        with pytest.raises(Unavailable, match="CBC is not there"):
            cbc.binary()
    finally:
        cbc.binary.cache_clear()


def test_cbc_is_not_believed_where_it_is_wrong():
    # min 2y - x with 0 <= 3x - y <= 2: x = y = 0 costs 0; the preprocessing of CBC 2.10.3 claims 1.
    from programs import program

    outcome = cbc.solve(program([-1, 2], [([3, -1], 0, 2)]))
    assert (outcome.stop, outcome.value) == (Stop.OPTIMAL, 0)


def test_unknown_solver_is_an_error_not_another_solver():
    with pytest.raises(ValueError, match="there is no solver 'cplex'"):
        yl.solve(yl.load("channelization-shared"), "exact", solver="cplex")
