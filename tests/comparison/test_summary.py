"""The line of each method: what counts, and what does not."""

from __future__ import annotations

import math

import pytest

from yardline.comparison.bounds import with_bounds
from yardline.comparison.fingerprint import fingerprint
from yardline.comparison.plan import named
from yardline.comparison.summary import summary
from yardline.models import registry


def row(method, instance, status, cost, own_bound=None, seconds=0.0):
    names = {"method": method, "instance": instance, "problem": "p", "seed": 0, "status": status}
    return {**names, "cost": cost, "own_bound": own_bound, "seconds": seconds}


def table(*rows):
    return {f"{r['method']}|{r['instance']}": r for r in rows}


def bound(instance, value, certified=True, method="lp"):
    return {"instance": instance, "bound": value, "certified": certified, "method": method}


def test_lines():
    runs = table(
        row("a", "i", "feasible", 10.0, seconds=3.0),  # gap (10 - 8) / 10 = 0.2
        row("a", "j", "invalid", 1.0, seconds=0.0),  # breaks a rule: no gap, no win, though the cheapest
        row("b", "i", "feasible", 8.0),  # meets the bound: optimal
        row("b", "j", "feasible", 5.0),  # gap (5 - 4) / 5 = 0.2
        row("c", "i", "unsuitable", None, seconds=99.0),
        row("c", "j", "failed", None),
    )
    assert with_bounds(runs, {"1": bound("i", 8.0), "2": bound("j", 4.0)}) == []
    b, a, c = sorted(summary(runs.values()), key=lambda line: "bac".index(line["method"]))
    assert (a["valid"], a["mean_gap"], a["worst_gap"], a["wins"], a["optimal"]) == (
        1,
        pytest.approx(0.2),
        pytest.approx(0.2),
        0,
        0,
    )
    assert a["seconds"] == pytest.approx(math.exp((math.log(4) + math.log(1)) / 2) - 1)  # = 1
    assert (b["valid"], b["mean_gap"], b["worst_gap"], b["wins"], b["optimal"]) == (
        2,
        pytest.approx(0.1),
        pytest.approx(0.2),
        2,
        1,
    )
    assert (c["valid"], c["unsuitable"], c["failed"], c["seconds"]) == (0, 1, 1, 0.0)
    assert runs["b|i"]["status"] == "optimal"


def test_the_best_bound_serves_all_and_a_certified_one_wins_a_tie():
    runs = table(row("a", "i", "feasible", 10.0, own_bound=9.0), row("b", "i", "feasible", 12.0))
    with_bounds(runs, {"1": bound("i", 8.0)})
    assert [(r["bound"], r["certified"], r["bound_method"]) for r in runs.values()] == [(9.0, False, "a")] * 2
    with_bounds(runs, {"1": bound("i", 9.0)})
    assert [(r["certified"], r["bound_method"]) for r in runs.values()] == [(True, "lp")] * 2


def test_a_refuted_bound_is_dropped_and_said():
    runs = table(row("a", "i", "optimal", 10.0, own_bound=10.0), row("b", "i", "feasible", 9.0))
    (words,) = with_bounds(runs, {"1": bound("i", 7.0)})
    assert "bound 10.0 exceeds the cost 9.0" in words
    assert [(r["status"], r["bound"]) for r in runs.values()] == [("feasible", 7.0)] * 2


def test_a_fingerprint_is_of_the_code(clean_registry):
    def entry(function):
        registry.method("channelization", "mine")(function)
        return registry.find("method", "channelization", "mine")

    marks = [fingerprint(entry(eval(text))) for text in ("lambda i, r: 1", "lambda i, r: 2", "lambda i, r: 1")]
    assert marks[0] == marks[2] != marks[1]


MODULE = """
STEPS = [1, 2]

def helper(k):
    return [n * STEPS[0] for n in range(k)]

class Search:
    def best(self):
        return helper(3)

def mine(instance, rng):
    return Search().best(), instance.n

n = 5
"""


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("STEPS = [1, 2]", "STEPS = [1, 3]", False),
        ("n * STEPS[0]", "n + STEPS[0]", False),
        ("helper(3)", "helper(4)", False),
        ("n = 5", "n = 6", True),  # the method reads `instance.n`, not this one
        ("class Search:", "# a remark\\nclass Search:", True),
    ],
)
def test_a_fingerprint_is_of_what_the_code_uses(before, after, same, clean_registry):
    def mark(text):
        module = {"__name__": "a_script"}
        exec(text, module)
        registry.method("channelization", "mine")(module["mine"])
        return fingerprint(registry.find("method", "channelization", "mine"))

    assert before in MODULE
    assert (mark(MODULE) == mark(MODULE.replace(before, after.replace("\\n", "\n")))) is same


@pytest.mark.parametrize("spec", ["a:b", "a:=1", "a:b=1:"])
def test_names_that_are_not_understood(spec):
    with pytest.raises(ValueError, match="expected name:option=value"):
        named(spec)
