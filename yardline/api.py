"""The front door in Python: load, solve, bound, evaluate, verify, generate, formulate.

Methods and bounds run in a worker that can be killed; every cost comes from the judge, in this process.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from yardline.instances import files
from yardline.judging import Best, Listen, answer_of, bounded_of, solved_of
from yardline.models import checks, registry
from yardline.models.instance import Instance, Solution
from yardline.models.method import Answer
from yardline.models.problem import problem_of
from yardline.models.program import Program
from yardline.results import Bounded, Evaluation, Solved, Verified, gap_of, reconciled, status_of
from yardline.solvers import automatic, mps
from yardline.solvers.catalog import solver as solver_module
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certificates.verdict import MODEL
from yardline.solvers.certificates.verdict import verify as check_certificate
from yardline.solvers.worker.pool import Ended, worker
from yardline.solvers.worker.running import run_entry


def load(path: str | os.PathLike[str]) -> Instance:
    """The instance in a file (.json, .json.gz), or a shipped example by its name."""
    if not os.path.exists(path) and str(path) in examples():
        path = examples()[str(path)]
    return files.read_instance(path)


def load_program(path: str | os.PathLike[str]) -> Program:
    """The program in an MPS file: what a certificate of a user's own model is checked against."""
    with files.blaming(path):
        return mps.read(Path(path))


def save(
    thing: Instance | Solution | Solved, path: str | os.PathLike[str], *, instance: Instance | None = None
) -> None:
    """An instance, or a plan, into a file; a plan knows its instance if that is given or if it comes from `solve`."""
    if isinstance(thing, Instance):
        files.write_instance(thing, path)
    elif isinstance(thing, Solved):
        files.write_document(plan_document(thing), path)
    elif instance is not None:
        files.write_document(files.solution_document(instance, thing), path)
    else:
        files.write_document({"yardline": files.VERSION, "problem": thing.problem, **thing.document()}, path)


def plan_document(solved: Solved) -> dict[str, Any]:
    """The solution file of a result."""
    if solved.solution is None:
        raise ValueError(f"there is no plan to save: the status is {solved.status}")
    head = {"yardline": files.VERSION, "problem": solved.problem, "instance": solved.instance}
    meta = {"options": dict(solved.options), "versions": dict(solved.versions), "seconds": solved.seconds}
    return {**head, "method": solved.method, "seed": solved.seed, **solved.solution.document(), "meta": meta}


def generate(workload: str, *, seed: int = 0, name: str = "", **parameters: Any) -> Instance:
    """An instance of a named workload, reproducible from its seed."""
    entry = registry.find_workload(workload)
    settings = entry.settings(parameters)
    instance: Instance = entry.function(np.random.default_rng(checks.integer(seed, "seed")), **settings)
    meta = {"workload": workload, "seed": seed, "parameters": {**entry.options, **settings}}
    object.__setattr__(instance, "name", name or f"{workload}-{seed}")
    object.__setattr__(instance, "meta", meta)
    return instance


def examples() -> dict[str, Path]:
    """The shipped instances, by name."""
    folder = Path(files.__file__).with_name("examples")
    return {path.name.partition(".")[0]: path for path in sorted(folder.glob("*.json*"))}


def formulate(instance: Instance, relax: bool = False) -> Any:
    """The Pyomo model of an instance, for those who want to add constraints of their own."""
    return problem_of(instance).formulate(instance, relax=relax)


def extract(instance: Instance, model: Any) -> Solution:
    """The plan that a solved Pyomo model holds."""
    import pyomo.environ as pyo

    chosen: dict[str, Any] = {}
    for family in model.component_objects(pyo.Var):
        indices = [key if isinstance(key, tuple) else (key,) for key in family if (family[key].value or 0) > 0.5]
        chosen[family.local_name] = np.array(indices, dtype=np.int64).reshape(
            len(indices), len(indices[0]) if indices else 1
        )
    return problem_of(instance).decode(instance, chosen)


def evaluate(
    instance: Instance, solution: Solution | Mapping[str, Any], *, bound: bool = False, time_limit: float = 60
) -> Evaluation:
    """The judge: cost, terms, every violated rule; with `bound` the gap as well."""
    problem = problem_of(instance)
    plan = solution if isinstance(solution, Solution) else problem.read_solution(solution, instance)
    judgement = problem.evaluate(instance, plan)
    least, because = None, ""
    if bound:
        proved = _bound(instance, time_limit=time_limit)
        least = reconciled(judgement.cost, proved.bound, proved.method) if judgement.valid else proved.bound
        because = proved.valid_because
    return Evaluation(
        problem=instance.problem,
        instance=instance.hash,
        valid=judgement.valid,
        cost=judgement.cost,
        terms=judgement.terms,
        violations=judgement.violations,
        bound=least,
        gap=gap_of(judgement.cost, least) if judgement.valid else None,
        valid_because=because,
    )


def verify(instance: Instance | Program, certificate: Mapping[str, Any] | str | os.PathLike[str]) -> Verified:
    """Recompute what a certificate proves about an instance, or about a program of the user's own, in exact arithmetic."""
    begun = time.monotonic()
    if isinstance(certificate, Mapping):
        verdict = check_certificate(instance, certificate)
    else:
        with files.blaming(certificate):
            verdict = check_certificate(
                instance, files.read_document(Path(certificate), most=files.LARGEST_CERTIFICATE)
            )
    return Verified(
        problem=MODEL if isinstance(instance, Program) else instance.problem,
        instance=instance.hash,
        kind=verdict.kind,
        holds=verdict.holds,
        bound=_finite(verdict.bound),
        optimal=verdict.optimal,
        seconds=time.monotonic() - begun,
        reason=verdict.reason,
    )


def _finite(exact: Fraction | None) -> float | None:
    """An exact bound as a number that JSON can hold; None where there is none."""
    value = -math.inf if exact is None else as_float(exact)
    return value if math.isfinite(value) else None


def solve(
    instance: Instance,
    method: str = "auto",
    *,
    seed: int = 0,
    time_limit: float = 60,
    bound: bool = False,
    certify: bool = False,
    solver: str = "highs",
    threads: int = 1,
    engine: str = "local",
    master: str = "local[*]",
    options: Mapping[str, Any] | None = None,
    listener: Listen | None = None,
) -> Solved:
    """Find a plan. `bound` adds the best bound in the time left; `certify` asks for a certificate of what is proved.

    `engine` (`local` or `spark`, on `master`) runs the trials and parts of methods that have some.
    """
    run = _run(time_limit, seed, solver, threads, engine, master, certify=certify)
    called = _called("method", instance, method, run, options, listener)
    solved = solved_of(instance, called.name, seed, called.answer, called.ended, called.options, solver)
    left = time_limit - called.ended.seconds
    needs = (bound and solved.status == "feasible") or (certify and solved.certificate is None)
    if needs and solved.cost is not None and left > 0.2 and not solved.interrupted:
        proved = _bound(instance, time_limit=left, seed=seed, solver=solver, threads=threads, listener=listener)
        solved = _with_bound(solved, proved)
    return solved


def bound(
    instance: Instance,
    method: str = "auto",
    *,
    seed: int = 0,
    time_limit: float = 60,
    solver: str = "highs",
    threads: int = 1,
    engine: str = "local",
    master: str = "local[*]",
    options: Mapping[str, Any] | None = None,
    listener: Listen | None = None,
) -> Bounded:
    """The best valid lower bound that a method reaches in the time given."""
    run = _run(time_limit, seed, solver, threads, engine, master, certify=True)
    called = _called("bound", instance, method, run, options, listener)
    return bounded_of(instance, called.name, seed, called.answer, called.ended, called.options, solver)


_bound = bound


@dataclass(frozen=True, slots=True, kw_only=True)
class _Called:
    """A method or bound that was run: its name, its options, how it ended, what it answered."""

    name: str
    options: Mapping[str, Any]
    ended: Ended
    answer: Answer


def _called(
    kind: registry.Kind,
    instance: Instance,
    method: str,
    run: Mapping[str, Any],
    options: Mapping[str, Any] | None,
    listener: Listen | None,
) -> _Called:
    """Find a method or bound, and run it in a worker."""
    name = automatic.choose(kind, instance, run["time_limit"]) if method == automatic.AUTO else method
    entry = registry.find(kind, instance.problem, name)
    settings = entry.settings(options or {})
    spark = run["engine"] == "spark"
    if spark:
        _check_tasks(entry)
    before = "yardline.decomposition.engines:prepare" if spark else ""  # started before the clock of the run
    best = Best(listener)
    with worker(run["threads"]) as mine:
        ended = run_entry(entry, instance, worker=mine, options=settings, run=run, listener=best.hear, before=before)
    answer = answer_of(ended, best, f"{kind} {name}")
    return _Called(name=name, options={**entry.options, **settings}, ended=ended, answer=answer)


def _run(
    time_limit: float, seed: int, solver: str, threads: int, engine: str, master: str, *, certify: bool
) -> dict[str, Any]:
    """The settings of a run, checked before anything is started."""
    limit = checks.number(time_limit, "time limit")
    solver_module(solver)
    return {
        "time_limit": limit,
        "seed": checks.integer(seed, "seed", high=2**31 - 1),
        "solver": solver,
        "threads": checks.integer(threads, "threads", low=1, high=1024),
        "certify": certify,
        "engine": checks.choice(engine, "engine", ("local", "spark")),
        "master": checks.text(master, "master"),
    }


def _check_tasks(entry: registry.Entry) -> None:
    """Spark only for what has tasks."""
    if not entry.tasks:
        loops = sorted({e.name for e in registry.entries(entry.kind, entry.problem) if e.tasks})
        raise ValueError(
            f"{entry.kind} {entry.name} has no tasks that Spark could run: expected --engine local, or one of "
            + (", ".join(loops) or "those that have")
        )


def _with_bound(solved: Solved, proved: Bounded) -> Solved:
    """A result with the better of its own bound and another, and the certificate of the other."""
    valid = solved.status in ("optimal", "feasible")
    other = reconciled(solved.cost if valid else None, proved.bound, proved.method)
    better = other is not None and (solved.bound is None or other >= solved.bound)
    least = other if better else solved.bound
    return replace(
        solved,
        status=status_of(solved.cost, least) if valid and solved.cost is not None else solved.status,
        bound=least,
        gap=gap_of(solved.cost, least) if valid else None,
        valid_because=proved.valid_because if better else solved.valid_because,
        certificate=proved.certificate or solved.certificate,
        seconds=solved.seconds + proved.seconds,
        interrupted=solved.interrupted or proved.interrupted,
        note=" ".join(filter(None, (solved.note, proved.note))),
    )
