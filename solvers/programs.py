"""A program solved to optimality, or as far as the time goes: by the solver first, then by our own tree of relaxations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from yardline.models.checks import Vector
from yardline.models.method import Run
from yardline.models.program import Program
from yardline.solvers.branching import Tree, prove
from yardline.solvers.catalog import solver
from yardline.solvers.outcome import Outcome, Stop

SOLVED = "the integer program of the formulation (tested to equal the judge's problem), as the solver's branch and bound claims"
TREE = "every plan lies in a leaf of the tree, and the multipliers of each leaf bound its plans (weak duality, in rationals)"

OnPoint = Callable[[Vector, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramResult:
    """The best point, what the solver claims to have proved, and our tree where there is one."""

    stop: Stop
    value: float
    point: Vector | None
    bound: float
    tree: Tree | None
    solver: str


def solve_program(
    program: Program,
    *,
    run: Run,
    start: Vector | None = None,
    on_point: OnPoint | None = None,
    nodes: int = 200_000,
) -> ProgramResult:
    """Half of the time for the solver; the rest for the tree, where the solver did not finish or a proof is wanted."""
    outcome: Outcome = solver(run.solver).solve(
        program,
        time_limit=run.left() / 2,
        threads=run.threads,
        seed=run.seed,
        start=start,
        on_incumbent=on_point,
        on_bound=lambda bound: run.report("bound", bound=bound, valid_because=SOLVED),
    )
    if outcome.stop is Stop.ERROR:
        raise RuntimeError(f"the solver failed: {outcome.solver}")
    done = outcome.stop is Stop.INFEASIBLE or (outcome.stop is Stop.OPTIMAL and outcome.point is not None)
    if done and (not run.certify or outcome.stop is Stop.INFEASIBLE):
        return _result(outcome, None)
    return _result(outcome, search_tree(program, run, cutoff=outcome.value, most_nodes=nodes, on_point=on_point))


def _result(outcome: Outcome, tree: Tree | None) -> ProgramResult:
    """The better of both points; the solver's bound as it claims it."""
    ours = tree is not None and tree.best is not None and tree.value < outcome.value
    point, value = (tree.best, tree.value) if tree is not None and ours else (outcome.point, outcome.value)
    return ProgramResult(
        stop=outcome.stop, value=value, point=point, bound=outcome.bound, tree=tree, solver=outcome.solver
    )


def search_tree(
    program: Program,
    run: Run,
    *,
    cutoff: float = math.inf,
    most_nodes: int = 200_000,
    on_point: OnPoint | None = None,
) -> Tree:
    """Branch over relaxations, telling what is found on the way."""

    def raised(tree: Tree) -> None:
        run.report("bound", bound=tree.bound, valid_because=TREE)

    reserve = 0.05 * run.time_limit  # for the exact check of the tree
    return prove(
        program,
        cutoff=cutoff,
        seconds_left=lambda: run.left() - reserve,
        on_bound=raised,
        on_point=on_point,
        most_nodes=most_nodes,
    )
