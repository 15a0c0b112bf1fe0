"""What becomes of one run: a row of plain values. Runs where the task runs; every cost is the judge's."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from typing import Any

from yardline.comparison.plan import Job, Settings
from yardline.decomposition.tasks.task import Task
from yardline.judging import Best, answer_of, bounded_of, solved_of
from yardline.models import registry
from yardline.models.instance import Instance
from yardline.models.method import Finding, Unsuitable
from yardline.solvers.automatic import AUTO
from yardline.solvers.worker.pool import Ended
from yardline.solvers.worker.running import TARGET, portable

_instances: dict[str, Instance] = {}


def task_of(job: Job, settings: Settings) -> Task:
    """A job as a task: plain data, the method by name (or, if it is the user's own, by value)."""
    name, by_name = job.name, (job.kind, job.instance.problem, job.name)
    run = {"time_limit": settings.time_limit, "seed": job.seed, "solver": settings.solver, "threads": 1}
    payload = {
        "entry": by_name if name == AUTO else portable(registry.find(*by_name)),
        "name": name,
        "options": {},
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
        group=f"{job.kind} {job.instance.problem} {name} {job.instance.size.bit_length()}",
    )


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
        "error": solved.note if solved.status == "unknown" else solved.reason,
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
    found = {"status": bounded.status, "bound": bounded.bound, "certified": bounded.certified}
    return {**row, **found, "valid_because": bounded.valid_because, "error": bounded.reason or bounded.note}


def _instance(key: str, pickled: bytes) -> Instance:
    """The instance of a task; the last few are kept unpickled."""
    if key not in _instances:
        if len(_instances) >= 4:
            _instances.clear()
        _instances[key] = pickle.loads(pickled)
    return _instances[key]
