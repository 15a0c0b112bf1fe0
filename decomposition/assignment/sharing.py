"""Down the tree: at every broker its subscribers are shared out among its children, by FilterAssign and a flow at leaf level.

Brokers of one level know nothing of each other: they are tasks, each with a seed of its own, so one process, many, and Spark
give the same leaves, as long as no program is cut short by the time limit.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from yardline.decomposition.assignment.coreset import FilterAssign
from yardline.decomposition.assignment.placing import assigned
from yardline.decomposition.assignment.settings import Filters, Part, Settings, part_of
from yardline.decomposition.engines import engine_of, outcomes
from yardline.decomposition.tasks.task import Task
from yardline.models.assignment.data import Assignment
from yardline.models.checks import Indices, Vector
from yardline.models.method import Run

Boxes = tuple[Vector, Vector]


@dataclass(frozen=True, slots=True)
class Shared:
    """What all brokers have in common."""

    instance: Assignment
    settings: Settings
    beta: float
    by_level: bool
    entropy: int


@dataclass(frozen=True, slots=True)
class Given:
    """What one broker's children were given."""

    node: int
    children: Indices
    position: Indices  # of the leaf of each subscriber, -1: not placed
    child: Indices  # of the broker, by number, whose subtree that is; -1
    boxes: dict[int, Boxes]  # per child
    sure: dict[int, Boxes]  # those that the program took for the most part
    indicator: float  # infinite: no program was solved in time
    programs: int


@dataclass(slots=True)
class Down:
    """The leaves of everybody, the preliminary boxes of leaves, and how it went."""

    leaf: Indices
    boxes: dict[int, Boxes] = field(default_factory=dict)
    sure: dict[int, Boxes] = field(default_factory=dict)
    indicator: float = 0.0
    programs: int = 0
    late: list[int] = field(default_factory=list)  # nodes without a program

    def hear(self, instance: Assignment, who: Indices, given: Given) -> list[tuple[int, Indices]]:
        """Take up what a broker's children were given; the inner ones among them are to be gone through next."""
        self.leaf[who] = np.where(given.position >= 0, instance.leaves[given.position], -1)
        self.boxes.update(given.boxes)
        self.sure.update(given.sure)
        self.programs += given.programs
        if np.isfinite(given.indicator):
            self.indicator += given.indicator
        else:
            self.late.append(given.node)
        inner = given.children[np.isin(given.children, instance.parent)]
        return [(int(b), who[given.child == b]) for b in inner]


def shared_out(shared: Shared, run: Run, reserve: float = 0.0) -> Down:
    """Level by level, in a share of the time, of which so many seconds are left at the end; nothing where there are no more."""
    instance = shared.instance
    down, work = Down(np.full(instance.m, -1, dtype=np.int64)), [(-1, np.arange(instance.m))]
    waves = int(instance.level[instance.leaves].max()) + 1 if shared.by_level else 1
    if reserve and run.left() <= reserve:
        return down
    until = max(run.left() - shared.settings.share * run.left(), reserve)
    for wave in range(waves):
        seconds = max(0.0, run.left() - until) / (waves - wave)
        following: list[tuple[int, Indices]] = []
        for who, given in _wave(shared, run, [(b, who) for b, who in work if len(who)], seconds):
            following += down.hear(instance, who, given)
        work = sorted(following, key=lambda pair: pair[0]) if shared.by_level else []
    return down


def _wave(shared: Shared, run: Run, work: list[tuple[int, Indices]], seconds: float) -> Any:
    """The brokers of one level: one is gone through here, several are tasks."""
    if len(work) == 1:
        node, who = work[0]
        inner = Run(time_limit=seconds, seed=run.seed, solver=run.solver, threads=run.threads)
        yield who, node_shared(shared, node, who, inner)
        return
    engine, packed = engine_of(run), pickle.dumps(shared, protocol=5)
    each = seconds * engine.slots / max(1, len(work))
    name, members = hashlib.sha256(packed).hexdigest(), {str(node): who for node, who in work}
    limit = 2 * seconds + 60.0  # the task keeps its own time; this is for one that hangs
    tasks = [
        Task(
            key=str(node),
            target=f"{__name__}:serve",
            payload={"node": node, "who": who, "seconds": each, "seed": run.seed},
            time_limit=limit,
            shared=name,
            group="brokers",
        )
        for node, who in work
    ]
    for result in outcomes(engine, tasks, {name: packed}):
        yield members[result.key], result.value


def serve(payload: Mapping[str, Any], send: Callable[[str, object], None]) -> Given:
    """In a worker: one broker."""
    send("started", None)
    run = Run(time_limit=payload["seconds"], seed=payload["seed"])
    return node_shared(payload["shared"], payload["node"], payload["who"], run)


def node_shared(shared: Shared, node: int, who: Indices, run: Run) -> Given:
    """FilterAssign and the flow for the children of one broker."""
    part = part_of(shared.instance, node, who, shared.beta, by_level=shared.by_level)
    rng = np.random.default_rng((shared.entropy, node + 1))
    loop = FilterAssign(part, shared.settings, rng, run, 0.0)
    filters = loop.solved() or _everything(part)
    position, _ = assigned(part, filters, shared.settings.step)
    child = np.full(len(shared.instance.leaves) + 1, -1, dtype=np.int64)
    child[part.leaves] = part.children[part.below]
    few = filters.sure(shared.settings.sure, shared.instance.alpha[part.children])
    boxes, sure = ({int(b): some.boxes(i) for i, b in enumerate(part.children)} for some in (filters, few))
    return Given(node, part.children, position, child[position], boxes, sure, filters.indicator, loop.programs)


def _everything(part: Part) -> Filters:
    """One box around all interests for every child."""
    count = len(part.children)
    low, high = part.instance.low[part.who].min(axis=0), part.instance.high[part.who].max(axis=0)
    tiled = (np.tile(low, (count, 1)), np.tile(high, (count, 1)), np.zeros(count))
    return Filters(child=np.arange(count), low=tiled[0], high=tiled[1], y=tiled[2], indicator=np.inf)
