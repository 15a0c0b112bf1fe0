"""The methods `slp` and `slp-leaves`.

`slp` goes down the tree: at every broker its subscribers are shared out among its children by FilterAssign and a
flow at leaf level.
`slp-leaves` does so once for all leaves. Filters are then adjusted at the leaves and built bottom-up, and the local
search may finish.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.random import Generator

from yardline.decomposition.slp.adjusting import adjusted
from yardline.decomposition.slp.coreset import Filters, Part, Settings, filter_assign
from yardline.decomposition.slp.placing import assigned, moved_over
from yardline.models import checks, registry
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.assignment.feasibility import why_infeasible
from yardline.models.assignment.judge import evaluate
from yardline.models.assignment.load import caps_of, factor_of
from yardline.models.checks import Indices, Vector
from yardline.models.method import Answer, Run
from yardline.solvers.heuristics.assignment.search import Search, searched

INNER = 2.0
"""An inner broker's sample has so many times more per child than one over leaves: 20 against 10, as the paper prints it."""


PAPER = Settings(
    sample="strata",
    sample_factor=10.0,
    supers=5.0,
    overlap=0.5,
    eps=0.1,
    c=1.0,
    first=32,
    tries=20,
    redraws=3,
    most=8,
    share=0.7,
)
"""The paper's constants where it prints them; `strata`, eps, c, first, tries, redraws, most and share are ours."""


@registry.method("assignment", "slp", paper="002 SLP")
def slp(
    instance: Assignment,
    rng: Generator,
    *,
    run: Run,
    load: Literal["desired", "max"] = "desired",
    sample: Literal["strata", "paper"] = "strata",
    sample_factor: float = 10.0,
    supers: float = 5.0,
    overlap: float = 0.5,
    eps: float = 0.1,
    c: float = 1.0,
    first: int = 32,
    tries: int = 20,
    redraws: int = 3,
    iterations: int = 8,
    step: float = 0.02,
    finish: int = 20_000,
) -> Answer:
    """Linear programming on reweighted samples, rounding, max-flow, filter adjustment; top-down over several levels.

    load: caps start at max(beta, least feasible factor), or at beta_max; sample: how S_b is drawn; sample_factor:
    |S_b| per broker;
    supers: super-interests per broker; overlap: of candidate intervals; eps: expansion of filters; c, first: |Q| = c g ln g from
    g = first on; tries: roundings; redraws: of S_b; iterations: at most so many programs per broker; step: by which beta rises;
    finish: rounds of local search at the end (0: the paper's result).
    """
    settings = Settings(
        sample=sample,
        sample_factor=checks.number(sample_factor, "option sample_factor"),
        supers=checks.number(supers, "option supers"),
        overlap=min(0.99, checks.number(overlap, "option overlap")),
        eps=checks.number(eps, "option eps"),
        c=checks.number(c, "option c"),
        first=checks.integer(first, "option first", low=1),
        tries=checks.integer(tries, "option tries", low=1),
        redraws=checks.integer(redraws, "option redraws"),
        most=checks.integer(iterations, "option iterations", low=1),
        share=0.7,
    )
    return _solved(instance, rng, run, load, settings, step, finish, by_level=True)


@registry.method("assignment", "slp-leaves", paper="002, section 5, the alternative argued against")
def slp_leaves(
    instance: Assignment, rng: Generator, *, run: Run, load: Literal["desired", "max"] = "desired", finish: int = 0
) -> Answer:
    """SLP of one level over all leaves, then filters bottom-up.

    load: as that of `slp`; finish: rounds of local search at the end.
    """
    return _solved(instance, rng, run, load, PAPER, 0.02, finish, by_level=False)


def _solved(
    instance: Assignment,
    rng: Generator,
    run: Run,
    load: str,
    settings: Settings,
    step: float,
    finish: int,
    *,
    by_level: bool,
) -> Answer:
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    beta = factor_of(instance, load)
    leaf, preliminary, notes = _shared_out(
        instance, rng, run, settings, beta, checks.number(step, "option step", low=1e-6), by_level
    )
    plan, repaired = _completed(instance, rng, leaf, preliminary, grown=finish > 0)
    notes.insert(1, repaired)
    run.report("adjusted", solution=plan, value=evaluate(instance, plan).cost)
    if finish and run.left() > 0:
        until = 0.02 * run.time_limit + 3e-6 * instance.m
        plan = searched(
            instance,
            plan,
            caps_of(instance, "max"),
            rng,
            run,
            rounds=checks.integer(finish, "option finish"),
            until=until,
        )
    return Answer(solution=plan, note="; ".join(notes))


def _completed(
    instance: Assignment, rng: Generator, leaf: Indices, preliminary: dict[int, tuple[Vector, Vector]], *, grown: bool
) -> tuple[AssignmentPlan, str]:
    """Filters for those whom the flow placed, then the others where filters grow least."""
    state = adjusted(instance, rng, leaf, preliminary, grown=grown)
    out = np.flatnonzero(leaf < 0)
    note = f"{len(out):,} of {instance.m:,} placed by repair"
    if not len(out):
        return state.plan(instance, leaf), note
    search = Search.begun(instance, state, leaf, caps_of(instance, "max"))
    if search.inserted(out):
        return search.plan(), note
    leaf = moved_over(instance, leaf)
    return adjusted(instance, rng, leaf, {}, grown=grown).plan(instance, leaf), note + ", others moved over"


def _shared_out(
    instance: Assignment, rng: Generator, run: Run, settings: Settings, beta: float, step: float, by_level: bool
) -> tuple[Indices, dict[int, tuple[Vector, Vector]], list[str]]:
    """The leaf of everybody, preliminary boxes of leaves, and what is to be known."""
    leaf = np.full(instance.m, -1, dtype=np.int64)
    preliminary: dict[int, tuple[Vector, Vector]] = {}
    notes: list[str] = []
    work = [(-1, np.arange(instance.m))]
    indicator, share = 0.0, settings.share * run.left()
    while work:
        node, who = work.pop()
        part = _part(instance, node, who, beta, by_level)
        until = run.left() - share * max(len(who), 1) / max(
            1, instance.m * (int(instance.level.max()) + 1 if by_level else 1)
        )
        factor = settings.sample_factor * (INNER if (instance.level > 0).any() and by_level else 1.0)
        own = replace(settings, sample_factor=factor)
        filters = filter_assign(part, own, rng, run, max(until, 0.1 * run.time_limit))
        filters = filters or _everything(part)
        if filters.indicator == np.inf:
            notes.append(
                f"no program below {'the publisher' if node < 0 else f'broker {node}'} was solved in time: one box for all there"
            )
        else:
            indicator += filters.indicator
        position, _ = assigned(part, filters, step)
        leaf[who] = np.where(position >= 0, instance.leaves[position], -1)
        child_of = np.full(len(instance.leaves) + 1, -1, dtype=np.int64)
        child_of[part.leaves] = part.below
        for i, child in enumerate(part.children.tolist()):
            mine = who[child_of[position] == i]
            own = filters.child == i
            if child in instance.leaves or not by_level:
                preliminary[child] = (filters.low[own], filters.high[own])
            elif len(mine):
                work.append((child, mine))
    notes.insert(0, f"indicator {indicator:.6g} (the fractional value, no bound)")
    return leaf, preliminary, notes


def _part(instance: Assignment, node: int, who: Indices, beta: float, by_level: bool) -> Part:
    """The children of a node (or all leaves) and the leaves below each."""
    if not by_level:
        children = instance.leaves
        below = np.arange(len(children))
        return Part(
            instance=instance,
            who=who,
            leaves=below,
            below=below,
            children=children,
            beta=beta,
            beta_max=instance.beta_max,
        )
    children = np.flatnonzero(instance.parent == node)
    above = np.full(instance.n, -1, dtype=np.int64)
    above[children] = np.arange(len(children))
    for b in instance.top_down:
        if above[b] < 0 and instance.parent[b] >= 0:
            above[b] = above[instance.parent[b]]
    below = above[instance.leaves]
    leaves = np.flatnonzero(below >= 0)
    return Part(
        instance=instance,
        who=who,
        leaves=leaves,
        below=below[leaves],
        children=children,
        beta=beta,
        beta_max=instance.beta_max,
    )


def _everything(part: Part) -> Filters:
    """One box around all interests for every child."""
    instance, count = part.instance, len(part.children)
    low, high = instance.low[part.who], instance.high[part.who]
    return Filters(
        child=np.arange(count),
        low=np.repeat(low.min(axis=0, keepdims=True), count, axis=0),
        high=np.repeat(high.max(axis=0, keepdims=True), count, axis=0),
        indicator=np.inf,
        iterations=0,
        covers=True,
    )
