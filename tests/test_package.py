"""What is installed, and which way imports go."""

from __future__ import annotations

import ast
import importlib.metadata
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STOREYS = ("models", "instances", "solvers", "decomposition")  # each may import those before it, and itself
FRONT_DOOR = "yardline"


def sources(storey):
    return sorted(path for path in (ROOT / storey).rglob("*.py"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """A wheel built from a copy of the tree: building leaves a build/ behind, which later builds would reuse."""
    place = tmp_path_factory.mktemp("wheel")
    tree = place / "tree"
    skip = shutil.ignore_patterns(
        ".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis"
    )
    shutil.copytree(ROOT, tree, symlinks=True, ignore=skip)
    here = int(importlib.metadata.version("setuptools").split(".")[0]) >= 77  # what pyproject.toml asks for
    alone = ["--no-build-isolation"] if here else []  # else pip fetches it
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", *alone, "-w", str(place), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (built,) = place.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_yardline_alone(wheel):
    tops = {name.partition("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {FRONT_DOOR}


def test_every_module_is_in_the_wheel(wheel):
    ours = {f"{FRONT_DOOR}/{path.relative_to(ROOT)}" for storey in STOREYS for path in sources(storey)}
    front = [path for path in (ROOT / FRONT_DOOR).rglob("*.py") if path.relative_to(ROOT).parts[1] not in STOREYS]
    ours |= {str(path.relative_to(ROOT)) for path in front}
    assert len(ours) > 50
    assert ours <= wheel, ours - wheel


def test_data_is_in_the_wheel(wheel):
    examples = [p for p in (ROOT / "instances" / "examples").glob("*") if p.suffix in (".json", ".gz", ".stp")]
    assert examples
    assert {f"{FRONT_DOOR}/{path.relative_to(ROOT)}" for path in examples} <= wheel
    assert f"{FRONT_DOOR}/py.typed" in wheel


def test_tests_are_not_in_the_wheel(wheel):
    assert not [name for name in wheel if "test" in name.rpartition("/")[2] or "/tests/" in name]


def imported(path):
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("storey", STOREYS)
def test_imports_go_one_way(storey):
    allowed = {f"yardline.{name}" for name in STOREYS[: STOREYS.index(storey) + 1]}
    found = 0
    for path in sources(storey):
        for module in imported(path):
            parts = module.split(".")
            assert parts[0] not in STOREYS, f"{path} imports {module}: write yardline.{module}"
            if parts[0] == FRONT_DOOR and len(parts) > 1:
                found += 1
                assert ".".join(parts[:2]) in allowed, f"{path} imports {module}"
    assert found or len(sources(storey)) <= 1


def test_the_judge_knows_no_algorithm():
    """models/ imports no solver, and nothing there but formulations knows Pyomo."""
    for path in sources("models"):
        names = {module.partition(".")[0] for module in imported(path)}
        assert not names & {"highspy", "pulp", "numba", "pyspark", "pandas"}, path
        assert "pyomo" not in names or path.stem == "formulation", path


def test_checkers_use_no_solver():
    """A certificate is checked with the data, the assembly and rationals: no solver, no heuristic, no loop."""
    for path in (ROOT / "solvers" / "certificates").glob("*.py"):
        for module in imported(path):
            if module.startswith("yardline.solvers"):
                assert module.startswith("yardline.solvers.certificates"), f"{path} imports {module}"
            assert module.partition(".")[0] not in ("highspy", "pulp", "scipy"), f"{path} imports {module}"


def test_modules_are_short():
    for storey in (*STOREYS, FRONT_DOOR):
        for path in sources(storey):
            assert len(path.read_text().splitlines()) <= 300, path


def test_the_storeys_are_links_of_the_package():
    for storey in STOREYS:
        link = ROOT / FRONT_DOOR / storey
        assert link.is_symlink()
        assert link.resolve() == ROOT / storey
