"""The command line: JSON keys and exit codes of every command, one document on stdout, one line for an error."""

from __future__ import annotations

import json
import sys

import command_line
import pytest
from channelization.strategies import instance

import yardline as yl

DOCUMENT = {"rates": [1, 2], "wants": [[0], [1]], "groups": 1, "mode": "constrained", "hybrid": False}
PLAN = {"problem": "channelization", "groups": [[0, 1]], "subscriptions": [[0], [0]]}


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Runs `yardline ...` in a folder with instance.json, infeasible.json, plan.json and invalid.json."""
    monkeypatch.chdir(tmp_path)
    yl.save(instance(DOCUMENT), "instance.json")
    yl.save(instance({**DOCUMENT, "rates": [3, 2]}), "other.json")
    yl.save(instance({**DOCUMENT, "groups": 0}), "infeasible.json")
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    (tmp_path / "invalid.json").write_text(json.dumps({**PLAN, "subscriptions": [[0], []]}))
    return lambda *words: command_line.here(monkeypatch, capsys, *words)


SOLVE = {"problem", "instance", "method", "seed", "status", "cost", "bound", "gap", "seconds", "terms"}
BOUND = {"problem", "instance", "method", "bound", "certified", "valid_because", "seconds", "status"}
VERIFY = {"problem", "instance", "kind", "holds", "bound", "optimal", "seconds"}
EVALUATE = {"problem", "instance", "valid", "cost", "terms", "violations"}


@pytest.mark.parametrize(
    ("words", "code", "keys", "values"),
    [
        (["solve", "instance.json"], 0, SOLVE, {"status": "optimal", "cost": 9, "bound": 9, "gap": 0, "seed": 0}),
        (["solve", "instance.json", "-m", "random"], 0, SOLVE, {"status": "feasible", "bound": None, "gap": None}),
        (["solve", "instance.json", "-m", "random", "--bound"], 0, SOLVE, {"status": "optimal", "bound": 9}),
        (["solve", "instance.json", "--seed", "4", "--threads", "1", "--solver", "highs"], 0, SOLVE, {"seed": 4}),
        (["solve", "infeasible.json"], 1, SOLVE, {"status": "infeasible", "cost": None, "bound": None, "gap": None}),
        (["bound", "instance.json"], 0, BOUND, {"status": "bounded", "certified": True, "bound": 9}),
        (["bound", "instance.json", "--method", "lp"], 0, BOUND, {"method": "lp", "certified": True}),
        (["bound", "infeasible.json"], 1, BOUND, {"status": "infeasible", "bound": None}),
        (["evaluate", "instance.json", "plan.json"], 0, EVALUATE, {"valid": True, "cost": 9, "violations": []}),
        (["evaluate", "instance.json", "plan.json", "--bound"], 0, EVALUATE | {"bound", "gap"}, {"gap": 0}),
        (
            *(["evaluate", "instance.json", "invalid.json"], 1, EVALUATE),
            {"valid": False, "violations": [{"rule": "delivery", "where": {"user": 1, "flow": 1}, "amount": 1.0}]},
        ),
        (
            ["generate", "channelization-random", "-o", "new.json"],
            0,
            {"problem", "instance", "out"},
            {"out": "new.json"},
        ),
        (["methods"], 0, {"methods", "bounds", "workloads", "experiments"}, {}),
        (["methods", "channelization"], 0, {"methods", "bounds", "workloads", "experiments"}, {}),
        (["doctor"], None, {"ok", "checks"}, {}),
    ],
)
def test_json_keys_values_and_exit_codes(run, words, code, keys, values):
    said = run(*words, "--json")
    document = said.document  # exactly one, or this fails
    assert keys <= set(document), keys - set(document)
    assert {name: document[name] for name in values} == values
    assert said.code == code if code is not None else said.code == (0 if document["ok"] else 1)


@pytest.mark.parametrize(
    "words",
    [
        ["solve", "instance.json"],
        ["solve", "infeasible.json"],
        ["bound", "instance.json"],
        ["evaluate", "instance.json", "invalid.json"],
        ["generate", "channelization-random"],
        ["methods"],
        ["doctor"],
    ],
)
def test_words_for_people(run, words):
    said = run(*words)
    assert said.out.strip()
    assert "Traceback" not in said.err
    with pytest.raises(json.JSONDecodeError):
        json.loads(said.out)


def test_certificates(run):
    assert run("solve", "instance.json", "-m", "exact", "--certificate", "proof.json").code == 0
    said = run("verify", "instance.json", "proof.json", "--json")
    assert set(said.document) >= VERIFY
    assert (said.code, said.document["holds"], said.document["optimal"], said.document["bound"]) == (0, True, True, 9)

    assert run("bound", "instance.json", "-m", "lp", "--certificate", "lp.json.gz").code == 0
    said = run("verify", "instance.json", "lp.json.gz", "--json")
    assert (said.code, said.document["holds"], said.document["optimal"]) == (0, True, False)

    said = run("verify", "other.json", "proof.json", "--json")
    assert (said.code, said.document["holds"], said.document["bound"]) == (1, False, None)
    for broken in ("plan.json", "nowhere.json"):
        said = run("verify", "instance.json", broken)
        assert said.code == 2
        assert command_line.is_one_line(said)
        assert broken in said.err


def test_output_is_a_plan_that_the_judge_accepts(run):
    assert run("solve", "instance.json", "-o", "out.json.gz").code == 0
    assert run("evaluate", "instance.json", "out.json.gz", "--json").document["cost"] == 9
    assert run("evaluate", "other.json", "out.json.gz").code == 2  # a plan for another instance


def test_time_runs_out_with_nothing(run):
    yl.save(yl.generate("channelization-random", flows=60, users=60, groups=6, mode="unconstrained"), "large.json")
    said = run("solve", "large.json", "-m", "exact", "--time-limit", "0", "-o", "none.json", "--json")
    assert (said.code, said.document["status"], said.document["cost"]) == (3, "unknown", None)


def test_trace(run, tmp_path):
    yl.save(yl.generate("channelization-random", flows=14, users=20, groups=3), "some.json")
    said = run("solve", "some.json", "-m", "exact", "--trace", "trace.jsonl", "--json")
    lines = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text().splitlines()]
    assert lines
    for line in lines:
        assert set(line) == {"seconds", "bound", "value", "event"}
    seconds = [line["seconds"] for line in lines]
    assert seconds == sorted(seconds)
    values = [line["value"] for line in lines if line["value"] is not None]
    assert min(values) == pytest.approx(said.document["cost"])


def test_progress_goes_to_stderr_and_quiet_is_quiet(run):
    assert "program of" in run("solve", "instance.json", "-m", "exact").err
    assert run("solve", "instance.json", "-m", "exact", "-q").err == ""


def test_set(run):
    said = run("generate", "channelization-random", "--set", "flows=9", "--set", "hybrid=yes", "-o", "a.json", "--json")
    assert (yl.load("a.json").n, yl.load("a.json").hybrid) == (9, True)
    assert said.document["instance"] == yl.load("a.json").hash
    assert run("solve", "a.json", "-m", "exact", "--set", "nodes=5").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solve", "nowhere.json"], "nowhere.json"),
        (["solve", "instance.json", "-m", "exat"], "did you mean 'exact'"),
        (["solve", "instance.json", "--set", "node=5", "-m", "exact"], "did you mean 'nodes'"),
        (["solve", "instance.json", "--set", "nodes"], "expected name=value"),
        (["solve", "instance.json", "--set", "nodes=x", "-m", "exact"], "expected a whole number"),
        (["solve", "instance.json", "--solver", "higs"], "did you mean 'highs'"),
        (["solve", "instance.json", "--time-limit", "-1"], "time limit is -1"),
        (["solve", "instance.json", "--time-limit", "nan"], "time limit is nan"),
        (["solve", "instance.json", "--time-limit", "soon"], "--time-limit"),
        (["solve", "instance.json", "--seed", "-1"], "seed is -1"),
        (["solve", "instance.json", "--threads", "0"], "threads is 0"),
        (["solve", "instance.json", "-o", "no/such/folder/x.json"], "no/such/folder/x.json: cannot be written"),
        (["solve", "instance.json", "-o", "."], "cannot be written"),
        (["solve", "instance.json", "--trace", "no/such"], "no/such: cannot be written"),
        (["solve"], "INSTANCE"),
        (["solve", "instance.json", "--frobnicate"], "--frobnicate"),
        (["sovle", "instance.json"], "sovle"),
        (["bound", "instance.json", "-m", "exact"], "there is no bound of channelization called 'exact'"),
        (["evaluate", "instance.json", "instance.json"], "instance.json"),
        (["generate", "channelization-rando"], "did you mean 'channelization-random'"),
        (["generate", "channelization-random", "--set", "flows=0"], "flows is 0"),
        (["generate", "channelization-random", "--set", "interest=2"], "interest is 2"),
        (["methods", "chanelization"], "did you mean 'channelization'"),
    ],
)
def test_usage_errors_exit_2_with_one_line(run, words, message):
    said = run(*words)
    assert said.code == 2
    assert command_line.is_one_line(said), said.err
    assert message in said.err


def test_a_failing_method_and_a_contradiction(run, clean_registry):
    @yl.method("channelization", "failing")
    def failing(instance, rng):
        raise ZeroDivisionError("by hand")

    said = run("solve", "instance.json", "-m", "failing")
    assert said.code == 2
    assert command_line.is_one_line(said)
    assert "ZeroDivisionError: by hand" in said.err
    assert "Traceback" in run("solve", "instance.json", "-m", "failing", "-v").err


def test_an_invalid_plan_is_written_and_exits_1(run, clean_registry, tmp_path):
    @yl.method("channelization", "careless")
    def careless(instance, rng):
        return {"groups": [[0]], "subscriptions": [[0], []]}

    said = run("solve", "instance.json", "-m", "careless", "-o", "careless.json", "--json")
    assert (said.code, said.document["status"], said.document["gap"]) == (1, "invalid", None)
    assert said.document["violations"][0]["rule"] == "delivery"
    assert (tmp_path / "careless.json").exists()


def test_help_is_light():
    code = (
        "import sys\nsys.argv = ['yardline', '--help']\nfrom yardline.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n"
        "    print(end.code, sorted({'numpy', 'scipy', 'pyomo', 'highspy', 'numba', 'pandas', 'pyspark'} & set(sys.modules)))"
    )
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, cwd=command_line.ROOT
    )
    assert done.stdout.splitlines()[-1] == "0 []"
    for command in ("solve", "bound", "verify", "evaluate", "generate", "methods", "doctor"):
        assert command in done.stdout


def test_from_outside(tmp_path):
    yl.save(instance(DOCUMENT), tmp_path / "instance.json")
    said = command_line.outside("solve", "instance.json", "--json", cwd=tmp_path)
    assert (said.code, said.document["cost"]) == (0, 9)
    assert command_line.outside("--version").out.strip() == yl.__version__
