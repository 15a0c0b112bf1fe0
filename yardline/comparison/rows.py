"""What becomes of one run: a row of plain values. Runs where the task runs; every cost is the judge's."""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from yardline.comparison.plan import Job, Settings
from yardline.decomposition.tasks.task import Task
from yardline.judging import Best, answer_of, bounded_of, solved_of
from yardline.models import registry
from yardline.models.instance import Instance
from yardline.models.method import Finding, Unsuitable
from yardline.results import Bounded, Solved
from yardline.solvers.automatic import AUTO
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certificates.verdict import verify
from yardline.solvers.worker.pool import Ended
from yardline.solvers.worker.running import TARGET, portable

_instances: dict[str, Instance] = {}


def tasks_of(jobs: Sequence[Job], settings: Settings) -> list[Task]:
    """Jobs as tasks: plain data, methods by name (or, if they are the user's own, by value)."""
    travelling: dict[tuple[str, str, str], Any] = {}
    for job in jobs:
        key, entry = (job.kind, job.instance.problem, job.name), job.entry
        if key not in travelling:
            travelling[key] = (job.kind, job.instance.problem, AUTO) if entry is None else carried(entry)
    return [task_of(job, settings, travelling[job.kind, job.instance.problem, job.name]) for job in jobs]


def task_of(job: Job, settings: Settings, entry: Any) -> Task:
    """A job as a task; `entry` as it travels."""
    run = {"time_limit": settings.time_limit, "seed": job.seed, "solver": settings.solver, "threads": 1}
    payload = {
        "entry": entry,
        "name": job.name,
        "options": job.options,
        "before": "",
        "run": {**run, "certify": job.kind == "bound"},
    }
    finish = "solve_row" if job.kind == "method" else "bound_row"
    return Task(
        key=job.key,
        target=TARGET,
        payload=payload,
        time_limit=settings.time_limit,
        finish=f"yardline.comparison.rows:{finish}",
        shared=job.instance.hash,
        group=f"{job.kind} {job.instance.problem} {job.name} {job.instance.size.bit_length()}",
    )


def carried(entry: registry.Entry) -> Any:
    """An entry as it travels. A user's own function goes by value, with the module that it is in: workers elsewhere have
    what is installed, not the folder that a script happens to be in."""
    module = sys.modules.get(entry.function.__module__)
    if entry.shipped or module is None or module.__name__ == "__main__" or _installed(module):
        return portable(entry)
    import cloudpickle

    known = module.__name__ in cloudpickle.list_registry_pickle_by_value()
    if not known:
        cloudpickle.register_pickle_by_value(module)
    try:
        return portable(entry)
    finally:
        if not known:
            cloudpickle.unregister_pickle_by_value(module)


def _installed(module: ModuleType) -> bool:
    """Whether a module is part of an installation, which a packed environment holds as well."""
    place = getattr(module, "__file__", None)
    return place is None or any(name in Path(place).parts for name in ("site-packages", "dist-packages"))


def solve_row(task: Task, ended: Ended, findings: Sequence[Finding], shared: bytes) -> dict[str, Any]:
    """The row of a method's run."""
    instance, payload = _instance(task.shared, shared), task.payload
    name, seed = payload["name"], payload["run"]["seed"]
    row: dict[str, Any] = {"seconds": ended.seconds, "error": "", "rule": ""}
    try:
        answer = answer_of(ended, Best.of(findings), f"method {name}")
        solved = solved_of(instance, name, seed, answer, ended, {}, payload["run"]["solver"])
    except Unsuitable as error:
        return {**row, "status": "unsuitable", "cost": None, "own_bound": None, "error": str(error)}
    except Exception as error:  # a method that fails costs one row
        words = " ".join(str(error).split())
        return {**row, "status": "failed", "cost": None, "own_bound": None, "error": words}
    rules = sorted({violation.rule for violation in solved.violations})
    return {
        **row,
        "status": solved.status,
        "cost": solved.cost,
        "own_bound": solved.bound,
        "error": _why(solved),
        "rule": ", ".join(rules),
        "terms": json.dumps(dict(solved.terms)),
        "versions": json.dumps(dict(solved.versions)),
    }


def bound_row(task: Task, ended: Ended, findings: Sequence[Finding], shared: bytes) -> dict[str, Any]:
    """The row of a bound."""
    instance, payload = _instance(task.shared, shared), task.payload
    name = payload["name"]
    row: dict[str, Any] = {
        "seconds": ended.seconds,
        "bound": None,
        "certified": False,
        "valid_because": "",
        "error": "",
    }
    try:
        answer = answer_of(ended, Best.of(findings), f"bound {name}")
        bounded = bounded_of(instance, name, 0, answer, ended, {}, payload["run"]["solver"])
    except Unsuitable as error:
        return {**row, "status": "unsuitable", "error": str(error)}
    except Exception as error:  # a bound that fails costs one row
        return {**row, "status": "failed", "error": " ".join(str(error).split())}
    found = {"status": bounded.status, "bound": bounded.bound, "valid_because": bounded.valid_because}
    return {**row, **found, "error": bounded.reason or bounded.note, **_checked(instance, bounded)}


def _why(solved: Solved) -> str:
    """What there is to say about a run that has no valid plan, or that was stopped on the way."""
    if solved.status == "invalid":
        first = "; ".join(str(violation) for violation in solved.violations[:3])
        return first + (f"; and {len(solved.violations) - 3} more" if len(solved.violations) > 3 else "")
    return solved.reason or solved.note


def _checked(instance: Instance, bounded: Bounded) -> dict[str, Any]:
    """A bound is certified when its certificate has just been checked in exact arithmetic, and is what that proves."""
    if bounded.certificate is None or bounded.bound is None:
        return {"certified": False, "checked": ""}
    begun = time.monotonic()
    verdict = verify(instance, bounded.certificate)
    seconds = time.monotonic() - begun
    if not verdict.holds or verdict.bound is None:
        return {"status": "failed", "bound": None, "error": f"its certificate was refused: {verdict.reason}"}
    words = f"{verdict.kind}: holds, {seconds:.2f} s in rationals"
    return {"certified": True, "bound": min(bounded.bound, as_float(verdict.bound)), "checked": words}


def _instance(key: str, pickled: bytes) -> Instance:
    """The instance of a task; the last few are kept unpickled."""
    if key not in _instances:
        if len(_instances) >= 4:
            _instances.clear()
        _instances[key] = pickle.loads(pickled)
    return _instances[key]
