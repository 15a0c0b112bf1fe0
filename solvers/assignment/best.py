"""The bound `best`: cells and forced sets together, each on the brokers where it is the stronger one."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from yardline.models import checks, registry
from yardline.models.assignment.data import Assignment
from yardline.models.assignment.feasibility import why_infeasible
from yardline.models.method import Answer, Run
from yardline.solvers.assignment import cells as priced
from yardline.solvers.assignment import forced as held
from yardline.solvers.certificates.both import KIND
from yardline.solvers.certificates.cells import WHOLE
from yardline.solvers.certificates.forced import Ground
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certificates.verdict import header

BECAUSE = "prices of cells on some brokers, forced subscribers on the others; costs of brokers add up (whole numbers)"


@registry.bound("assignment", "best")
def best(
    instance: Assignment,
    rng: Generator,
    *,
    run: Run,
    load: Literal["max", "desired"] = "max",
    cells: int = 10_000,
    rounds: int = 300,
    witnesses: int = 24,
) -> Answer:
    """The better of `cells`, `forced` and a mixture of both, broker by broker; what `auto` takes for large instances.

    load, cells, rounds, witnesses: as those of `cells` and `forced`.
    """
    reason = why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    if not instance.m:
        return Answer(bound=0.0, valid_because="there are no subscribers")
    ascent = priced.started(instance, load, checks.integer(cells, "option cells", low=1))
    priced.early(instance, ascent, load, run)
    ground = Ground(instance, ascent.cells, load)
    found = held.searched(ground, run, checks.integer(witnesses, "option witnesses"))
    rounds = checks.integer(rounds, "option rounds", low=1)
    paid = priced.climbed(instance, ascent, run, rounds, reserve=0.4 if found else 0.15)
    answers = [_cells(instance, ascent, load, run)]
    if found:
        everything = np.full(instance.n, WHOLE, dtype=np.int64)
        document, bound = held.certified(ground, found, load, everything)
        answers.append(Answer(bound=as_float(bound), valid_because=held.because(instance, load), certificate=document))
        answers += _mixed(instance, ascent, ground, found, paid, load, run, rounds)
    return max(answers, key=lambda answer: answer.bound or 0.0)


def _cells(instance: Assignment, ascent: priced.Ascent, load: str, run: Run) -> Answer:
    document, bound = priced.certified(instance, ascent, load)
    because = priced.because(load)
    run.report("cells", bound=as_float(bound), certificate=document, valid_because=because)
    return Answer(bound=as_float(bound), valid_because=because, certificate=document)


def _mixed(
    instance: Assignment,
    ascent: priced.Ascent,
    ground: Ground,
    found: dict[int, tuple[int, list[int]]],
    paid: Any,
    load: str,
    run: Run,
    rounds: int,
) -> list[Answer]:
    """Forced sets where they are worth more than what cells bring in, cells on the other brokers."""
    stronger = [b for b, (least, _) in found.items() if least > paid[b]]
    if not stronger or run.left() <= 0.25 * run.time_limit:
        return []
    parts = np.zeros(instance.n, dtype=np.int64)
    parts[stronger] = WHOLE
    ascent.parts, ascent.value = WHOLE - parts, -np.inf
    priced.climbed(instance, ascent, run, rounds // 2, late=50)
    one, first = priced.certified(instance, ascent, load)
    two, second = held.certified(ground, found, load, parts)
    inner = ("yardline", "kind", "problem", "instance")
    one, two = ({key: value for key, value in part.items() if key not in inner} for part in (one, two))
    document = {**header(KIND, instance), "bound": str(first + second), "cells": one, "forced": two}
    because = BECAUSE + (priced.DESIRED if load == "desired" else "")
    return [Answer(bound=as_float(first + second), valid_because=because, certificate=document)]
