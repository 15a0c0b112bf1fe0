"""The method `local-search`: the best greedy plan, improved by ruin and recreate (search.py) while the time lasts."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator

from yardline.models import checks, registry
from yardline.models.assignment.data import Assignment, AssignmentPlan
from yardline.models.assignment.feasibility import why_infeasible
from yardline.models.assignment.judge import evaluate
from yardline.models.assignment.load import caps_of
from yardline.models.method import Answer, Run
from yardline.solvers.heuristics.assignment.balance import balance
from yardline.solvers.heuristics.assignment.greedy_offline import greedy_offline
from yardline.solvers.heuristics.assignment.greedy_online import greedy_online
from yardline.solvers.heuristics.assignment.search import searched


@registry.method("assignment", "local-search")
def local_search(
    instance: Assignment,
    rng: Generator,
    *,
    run: Run,
    load: Literal["max", "desired"] = "max",
    rounds: int = 0,
) -> Answer:
    """Subscribers leave the edges of filters and come back greedily; kept by the rule of annealing, which cools as time goes.

    load: within beta_max, or within max(beta, least feasible factor); rounds: so many (0: 100,000 and ten per subscriber), or
    fewer where the time is over before.
    """
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    plan = started(instance, rng, load)
    run.report("start", solution=plan, value=evaluate(instance, plan).cost)
    rounds = checks.integer(rounds, "option rounds") or 100_000 + 10 * instance.m
    return Answer(solution=searched(instance, plan, caps_of(instance, load), rng, run, rounds=rounds))


def started(instance: Assignment, rng: Generator, load: str) -> AssignmentPlan:
    """The best valid greedy plan within the caps; that of `balance` where greedy breaks them."""
    caps, best, least = caps_of(instance, load), balance(instance, rng), float("inf")
    for plan in _greedy(instance, rng, load):
        judgement = evaluate(instance, plan)
        loads = np.bincount(plan.leaf, minlength=instance.n)[instance.leaves]
        if judgement.valid and (loads <= caps).all() and judgement.cost < least:
            best, least = plan, judgement.cost
    return best


def _greedy(instance: Assignment, rng: Generator, load: str) -> list[AssignmentPlan]:
    plans = [greedy_offline(instance, rng, load="desired")]
    if load == "max":
        plans.append(greedy_offline(instance, rng, load="max"))
    if instance.m <= 200_000:
        plans.append(greedy_online(instance, rng, load="max", evict="later"))
    return plans
