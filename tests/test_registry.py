"""What there is: decorators, entry points, typed options, nearest names."""

from __future__ import annotations

import subprocess
import sys
from typing import Literal

import command_line
import pytest

import yardline as yl
from yardline.models import registry

pytestmark = pytest.mark.usefixtures("clean_registry")


def test_decorators_take_line_paper_and_options():
    @yl.method("channelization", "mine", paper="999")
    def mine(instance, rng, *, run, depth: int = 3, kind: str = "a"):
        """One line.

        And more.
        """

    entry = registry.find("method", "channelization", "mine")
    assert (entry.summary, entry.paper, entry.shipped, entry.wants_run) == ("One line.", "999", False, True)
    assert entry.options == {"depth": 3, "kind": "a"}


@pytest.mark.parametrize("kind", ["method", "bound", "workload"])
def test_everything_shipped_has_a_line(kind):
    found = registry.entries(kind, "channelization")
    assert found
    for entry in found:
        assert entry.shipped
        assert len(entry.summary) > 10


def test_the_house_has_its_methods():
    assert {"exact", "random", "flow-merge", "portfolio"} <= {
        e.name for e in registry.entries("method", "channelization")
    }
    assert {"lp", "tree"} <= {e.name for e in registry.entries("bound", "channelization")}
    assert "channelization-random" in {e.name for e in registry.entries("workload")}
    assert "tree" in {e.name for e in registry.entries("certificate")}


@pytest.mark.parametrize("kind", ["method", "bound", "workload", "experiment", "certificate"])
def test_everything_shipped_stands_where_a_look_up_finds_it(kind):
    registry.load()
    for entry in registry.entries(kind):
        if entry.shipped:
            module = entry.function.__module__
            assert module.startswith(registry.PLACES[kind])
            assert not entry.problem or registry.serves(module, entry.problem)


def test_a_look_up_leaves_the_modules_of_other_problems_alone():
    code = (
        "import sys\nfrom yardline.models import registry\nregistry.find('bound', 'overlay', 'lp')\n"
        "print([m for m in sys.modules if m.startswith('yardline.solvers.heuristics.') and 'assignment.g' in m])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=command_line.ROOT
    )
    assert done.stdout == "[]\n", done.stderr


def test_shipped_is_shipped_however_it_was_imported():
    code = (
        "import yardline.solvers.heuristics.channelization.flow_merge, yardline.solvers.exact\n"
        "from yardline.models import registry\n"
        "print([e.name for e in registry.entries('method', 'channelization') if not e.shipped])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=command_line.ROOT
    )
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: registry.find("method", "channelization", "exat"),
            "there is no method of channelization called 'exat': did you mean 'exact'",
        ),
        (lambda: registry.find("bound", "channelization", "tre"), "did you mean 'tree'"),
        (lambda: registry.find_workload("channelization-rando"), "did you mean 'channelization-random'"),
        (lambda: registry.find("certificate", "", "trees"), "did you mean 'tree'"),
        (lambda: registry.find("method", "channelization", "zzzz"), "there is exact, flow-merge"),
    ],
)
def test_a_wrong_name_gets_the_nearest(call, message):
    with pytest.raises(ValueError, match=r".") as caught:
        call()
    assert message in str(caught.value)


@pytest.fixture
def typed():
    @yl.method("channelization", "typed")
    def function(
        instance,
        rng,
        *,
        whole: int = 1,
        real: float = 0.5,
        flag: bool = False,
        word: Literal["a", "b"] = "a",
        maybe: int | None = None,
        plain="x",
    ):
        """A method with options of every type."""

    return registry.find("method", "channelization", "typed")


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"whole": "7"}, 7),
        ({"real": "7"}, 7.0),
        ({"real": "1e-3"}, 0.001),
        ({"flag": "true"}, True),
        ({"flag": "No"}, False),
        ({"flag": True}, True),
        ({"word": "b"}, "b"),
        ({"maybe": "3"}, 3),
        ({"maybe": "none"}, None),
        ({"maybe": None}, None),
        ({"plain": "y"}, "y"),
    ],
)
def test_options_take_the_type_of_their_parameter(typed, given, taken):
    (value,) = typed.settings(given).values()
    assert value == taken
    assert type(value) is type(taken)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"whole": "7.5"}, "option whole is '7.5': expected a whole number"),
        ({"whole": "many"}, "expected a whole number"),
        ({"real": "nan"}, "expected a finite number"),
        ({"real": "inf"}, "expected a finite number"),
        ({"flag": "perhaps"}, "expected true or false"),
        ({"word": "c"}, "expected one of a, b"),
        ({"maybe": "some"}, "option maybe is 'some'"),
        ({"hole": 1}, "method typed has no option 'hole': did you mean 'whole'"),
    ],
)
def test_options_of_the_wrong_type(typed, given, message):
    with pytest.raises(ValueError, match=r".") as caught:
        typed.settings(given)
    assert message in str(caught.value)


PLUGIN = """
import yardline as yl

@yl.method("channelization", "from-afar", paper="none")
def method(instance, rng):
    '''All flows in one group.'''
    return {"groups": [list(range(instance.n))], "subscriptions": [[0]] * instance.m}
"""


def test_entry_points(tmp_path):
    (tmp_path / "faraway.py").write_text(PLUGIN)
    info = tmp_path / "faraway-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: faraway\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[yardline.methods]\nfaraway = faraway\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import yardline as yl\n"
        "made = yl.generate('channelization-random', flows=5, users=4)\n"
        "found = yl.solve(made, 'from-afar')\n"
        "print(found.status, yl.solve(made, 'portfolio').cost <= found.cost)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=command_line.ROOT
    )
    assert done.stdout == "feasible True\n", done.stderr
