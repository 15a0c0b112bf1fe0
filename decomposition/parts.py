"""Bounds by parts: split the instance, bound each part, add up; shares of common decisions move cost between the parts.

    bound(shares) = sum over parts p of  min { own cost of p + share[p] * x : x in the program of p }

is valid for all shares with sum_p share[p] <= budget (solvers/certificates/parts.py says why). It is concave in the
shares, and x[p] - mean of x over the parts that decide it is a direction that raises it: where a part takes more of a
decision than the others it shall pay more for it. Where nothing is shared, every round tries another split.

    at once      multipliers that need no solver: a bound is there early
    rounds       the relaxation of every part, shares moved or another split, in half of the time
    in the end   every part is branched on, while the time lasts
"""

from __future__ import annotations

import hashlib
import math
import pickle
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from yardline.decomposition.engines import engine_of, outcomes
from yardline.decomposition.problems import brought
from yardline.decomposition.relax_round import Send
from yardline.decomposition.tasks.task import Engine, Task
from yardline.models import checks, registry
from yardline.models.checks import Vector
from yardline.models.instance import Instance
from yardline.models.method import Answer, Run, Unsuitable
from yardline.models.problem import problem_of
from yardline.models.program import Names, Program
from yardline.solvers.catalog import solver
from yardline.solvers.certificates.parts import KIND, splitting
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certificates.verdict import header
from yardline.solvers.certify import one_leaf, tree_certificate
from yardline.solvers.exact import MOST_COLUMNS
from yardline.solvers.outcome import Outcome, Stop
from yardline.solvers.programs import search_tree

PATIENCE = 4
"""Rounds without gain before the steps get shorter; where nothing is shared, before no other split is tried."""

COLUMNS = 4_000
"""Of a part's program, about, if the number of parts is not given: some seconds for its relaxation."""

How = Literal["plain", "relaxed", "branched"]


@dataclass(frozen=True, slots=True)
class Bounded:
    """What is known about one part: its certificate, what it proves, and the relaxation's x (0 where it has none)."""

    document: Mapping[str, Any]
    bound: Fraction
    taken: Vector
    decides: Vector  # which decisions the part has, 0/1


@dataclass(slots=True)
class Sum:
    """A split with shares, and what its parts prove."""

    split: list[Any]
    shares: list[Vector]
    parts: list[Bounded]

    @property
    def bound(self) -> Fraction:
        """What the parts prove together."""
        return sum((part.bound for part in self.parts), Fraction(0))

    def certificate(self, instance: Instance) -> dict[str, Any]:
        """The certificate of the sum."""
        shares = [
            [[i, j, float(share[i, j])] for i, j in np.argwhere((share != 0) & (part.decides > 0)).tolist()]
            for share, part in zip(self.shares, self.parts, strict=True)
        ]
        parts = [part.document for part in self.parts]
        return {
            **header(KIND, instance),
            "bound": str(self.bound),
            "split": self.split,
            "shares": shares,
            "parts": parts,
        }


def parts(instance: Instance, rng: Generator, *, run: Run, parts: int | None = None, rounds: int = 50) -> Answer:
    """The sum of bounds of parts, raised round by round by moving cost between them; rechecked in rationals.

    parts: how many; none: as many as keep each of them small.  rounds: of moving cost between the parts (channelization:
    of other splits).
    """
    count = 0 if parts is None else checks.integer(parts, "option parts", low=1)
    rounds = checks.integer(rounds, "option rounds", low=1)
    reason = problem_of(instance).why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    brings, engine, half = brought(instance.problem), engine_of(run), 0.5 * run.left()
    split = brings.split(instance, count, COLUMNS, rng, 0)
    _suitable(instance, split)
    step = _Steps(splitting(instance).budget(instance))
    shares = step.exact(brings.shares(instance, split), _decides(instance, split))
    best = _bounded(instance, split, shares, engine, run, seconds=0.9 * run.left(), how="plain")
    if best is None:
        return Answer(note="no part was written down in time")
    _tell(run, instance, best, f"at once: {float(best.bound):g} from {len(split)} parts")
    gains = [float(best.bound)]
    for r in range(rounds):
        found = _bounded(instance, split, shares, engine, run, seconds=run.left() - half, how="relaxed")
        if found is None:
            break
        gains.append(float(found.bound))
        if found.bound > best.bound:
            best = found
            _tell(run, instance, best, f"round {r}: {float(best.bound):g} from {len(split)} parts")
        if len(split) == 1:
            break
        if step.shared:
            moved = step.moved(best, found)
            if moved is None:
                break
            shares = moved
        elif r - int(np.argmax(gains[1:])) >= PATIENCE:
            break
        else:
            split = brings.split(instance, count, COLUMNS, rng, r + 1)
            shares = brings.shares(instance, split)
    return _answer(instance, _branched(instance, best, engine, run), gains, brings.WORDS)


def _suitable(instance: Instance, split: list[Any]) -> None:
    size = max((splitting(instance).size(instance, part) for part in split), default=0)
    if size > MOST_COLUMNS:
        raise Unsuitable(f"the largest part has about {size:,} columns, more than {MOST_COLUMNS:,}: --set parts=more")


def _decides(instance: Instance, split: list[Any]) -> list[Vector]:
    return [np.asarray(brought(instance.problem).decides(instance, part)) for part in split]


def _tell(run: Run, instance: Instance, found: Sum, event: str) -> None:
    certificate = found.certificate(instance)
    run.report(event, bound=as_float(found.bound), certificate=certificate, valid_because=WORDS)


WORDS = (
    "restricted to a part every plan is a plan of the part, and what the parts charge for common decisions "
    "adds up to no more than those cost"
)


def _answer(instance: Instance, best: Sum, gains: list[float], words: str) -> Answer:
    """The bound, with how it was split and what the rounds gained."""
    note = f"{len(best.split)} parts ({words}); at once {gains[0]:g}; "
    note += f"{len(gains) - 1} rounds from {gains[min(1, len(gains) - 1)]:g} to {max(gains):g}"
    note += f", branching to {float(best.bound):g}" if float(best.bound) > max(gains) else ""
    return Answer(bound=as_float(best.bound), valid_because=WORDS, certificate=best.certificate(instance), note=note)


class _Steps:
    """Shares that move, on a grid on which their sums are exact."""

    def __init__(self, budget: Vector) -> None:
        self.budget, self.shared = budget, budget.size > 0
        self.length, self.idle = 1.0, 0
        self.best = -math.inf

    def exact(self, shares: list[Vector], decides: list[Vector]) -> list[Vector]:
        """Shares rounded to the grid; in each decision the last part that has it takes what is left of the budget."""
        if not self.shared or not shares:
            return shares
        largest = max(float(np.abs(self.budget).max(initial=0.0)), *(float(np.abs(s).max(initial=0.0)) for s in shares))
        grain = 2.0 ** (math.frexp(largest or 1.0)[1] - 40)
        on_grid = [np.round(s / grain) * grain * d for s, d in zip(shares, decides, strict=True)]
        left, last = np.floor(self.budget / grain) * grain - sum(on_grid), np.zeros(self.budget.shape, dtype=bool)
        for p in range(len(shares) - 1, -1, -1):
            mine = (decides[p] > 0) & ~last
            on_grid[p] = on_grid[p] + np.where(mine, left, 0.0)
            last |= mine
        return on_grid

    def moved(self, best: Sum, found: Sum) -> list[Vector] | None:
        """From the best shares known along the direction of the last answers; None where all parts agree."""
        value = float(found.bound)
        self.idle = 0 if value > self.best else self.idle + 1
        self.best = max(self.best, value)
        if self.idle >= PATIENCE:
            self.length, self.idle, found = self.length / 2, 0, best
        decides = [part.decides for part in found.parts]
        mean = sum(part.taken for part in found.parts) / np.maximum(1.0, sum(decides))
        direction = [d * (part.taken - mean) for d, part in zip(decides, found.parts, strict=True)]
        square = sum(float((g**2).sum()) for g in direction)
        if square < 1e-12:
            return None
        size = self.length * 0.05 * max(abs(self.best), 1e-9) / square
        return self.exact([s + size * g for s, g in zip(found.shares, direction, strict=True)], decides)


def _bounded(
    instance: Instance,
    split: list[Any],
    shares: list[Vector],
    engine: Engine,
    run: Run,
    *,
    seconds: float,
    how: How,
) -> Sum | None:
    """All parts bounded as tasks; None where one of them was not in time."""
    if seconds <= 0:
        return None
    shared = pickle.dumps(instance, protocol=5)
    name = hashlib.sha256(shared).hexdigest()
    each = seconds * engine.slots / max(engine.slots, len(split))
    settings = {"solver": run.solver, "seed": run.seed, "seconds": each, "how": how}
    tasks = [
        Task(
            key=str(p),
            target=f"{__name__}:serve",
            payload={"part": part, "share": share, **settings},
            time_limit=each,
            shared=name,
            group="parts",
        )
        for p, (part, share) in enumerate(zip(split, shares, strict=True))
    ]
    found: dict[int, Bounded] = {}
    for result in outcomes(engine, tasks, {name: shared}, enough=lambda: run.left() <= 0):
        found[int(result.key)] = result.value
    return Sum(split, shares, [found[p] for p in range(len(split))]) if len(found) == len(split) else None


def serve(payload: Mapping[str, Any], send: Send) -> Bounded:
    """In a worker: one part, by multipliers that need no solver, by its relaxation, or by branching on it."""
    send("started", None)
    begun = time.monotonic()
    program, columns = splitting(payload["shared"]).program(payload["shared"], payload["part"], payload["share"])
    seconds, point = 0.8 * (payload["seconds"] - 2 * (time.monotonic() - begun)), np.zeros(program.shape[1])
    tree = one_leaf(program, plain(program))
    if payload["how"] == "branched" and seconds > 0:
        tree = search_tree(program, Run(time_limit=seconds))
    elif payload["how"] == "relaxed" and seconds > 0:
        outcome: Outcome = solver(payload["solver"]).solve(
            program, relax=True, time_limit=seconds, seed=payload["seed"]
        )
        if outcome.stop is Stop.OPTIMAL and outcome.point is not None:
            point, tree = outcome.point, one_leaf(program, outcome.duals)
    document, bound = tree_certificate(program, program, tree, round_up=payload["how"] == "branched")
    kept = {name: document[name] for name in ("program", "bits", "bound", "step", "nodes")}
    there = columns >= 0
    taken = np.zeros(columns.shape)
    taken[there] = point[columns[there]]
    return Bounded(kept, bound, taken, there.astype(np.float64))


def plain(program: Program) -> Vector:
    """Multipliers without any solver: whoever must be served pays at least its cheapest column (rows `serve`)."""
    duals = np.zeros(program.shape[0])
    families = program.rows.families if isinstance(program.rows, Names) else ()
    for family in families:
        for row in range(family.span.start, family.span.stop) if family.name == "serve" else ():
            columns = program.matrix.indices[program.matrix.indptr[row] : program.matrix.indptr[row + 1]]
            duals[row] = program.cost[columns].min() if len(columns) else 0.0
    return duals


def _branched(instance: Instance, best: Sum, engine: Engine, run: Run) -> Sum:
    """Every part branched on in the time that is left; the better bound of each is kept."""
    found = _bounded(instance, best.split, best.shares, engine, run, seconds=0.8 * run.left(), how="branched")
    if found is None:
        return best
    pairs = zip(best.parts, found.parts, strict=True)
    return Sum(best.split, best.shares, [max(pair, key=lambda part: part.bound) for pair in pairs])


PAPERS = {"channelization": "001", "assignment": "002", "overlay": "003"}

for _name, _paper in PAPERS.items():
    registry.bound(_name, "parts", paper=_paper, tasks=True)(parts)
