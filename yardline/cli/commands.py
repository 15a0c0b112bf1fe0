"""The commands, each a thin layer over the Python front door."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from yardline.cli import options as o
from yardline.cli.output import number, percent, progress, show, table
from yardline.solvers.worker.pool import warm

if TYPE_CHECKING:
    from yardline.results import Bounded, Evaluation, Solved

EXIT = {"optimal": 0, "feasible": 0, "bounded": 0, "infeasible": 1, "invalid": 1, "unknown": 3}


def solve(
    instance: o.Instance,
    method: o.Method = "auto",
    output: o.Out = None,
    certificate: o.CertificateOut = None,
    bound: o.WithBound = False,
    seed: o.Seed = 0,
    time_limit: o.TimeLimit = 60.0,
    threads: o.Threads = 1,
    solver: o.Solver = "highs",
    engine: o.Engine = "local",
    master: o.Master = "local[*]",
    set_: o.Settings = None,
    trace: o.Trace = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """Find a plan; `--method exact` proves it optimal or says how far it got."""
    o.writable(output, certificate, trace)
    warm(threads)
    import yardline as yl
    from yardline import api
    from yardline.instances.files import write_document

    loaded = yl.load(instance)
    with progress(quiet, trace) as shown:
        solved = yl.solve(
            loaded,
            method,
            seed=seed,
            time_limit=time_limit,
            bound=bound,
            certify=certificate is not None,
            solver=solver,
            threads=threads,
            engine=engine,
            master=master,
            options=o.settings(set_),
            listener=shown.hear,
        )
    if output is not None and solved.solution is not None:
        write_document(api.plan_document(solved), output)
    if certificate is not None and solved.certificate is not None:
        write_document(solved.certificate, certificate)
    show(solved.document(), _solved_lines(solved, output, certificate), as_json)
    return 130 if solved.interrupted else EXIT[solved.status]


def _solved_lines(solved: Solved, output: Path | None, certificate: Path | None) -> list[tuple[str, str]]:
    lines = [("status", solved.status), ("method", f"{solved.method}, seed {solved.seed}, {solved.seconds:.2f} s")]
    if solved.cost is not None:
        terms = ", ".join(f"{k} {number(v)}" for k, v in solved.terms.items() if isinstance(v, (int, float)))
        lines += [("cost", number(solved.cost)), ("terms", terms)]
    if solved.bound is not None:
        lines += [("bound", f"{number(solved.bound)}: {solved.valid_because}"), ("gap", percent(solved.gap))]
    lines += [("violated", str(violation)) for violation in solved.violations[:10]]
    if len(solved.violations) > 10:
        lines.append(("violated", f"... and {len(solved.violations) - 10} more"))
    lines += [(label, words) for label, words in (("reason", solved.reason), ("note", solved.note)) if words]
    if output is not None and solved.solution is not None:
        lines.append(("plan", str(output)))
    if certificate is not None:
        written = str(certificate) if solved.certificate is not None else "none: there is nothing proved to write down"
        lines.append(("certificate", written))
    return lines


def bound(
    instance: o.Instance,
    method: o.Method = "auto",
    certificate: o.CertificateOut = None,
    seed: o.Seed = 0,
    time_limit: o.TimeLimit = 60.0,
    threads: o.Threads = 1,
    solver: o.Solver = "highs",
    engine: o.Engine = "local",
    master: o.Master = "local[*]",
    set_: o.Settings = None,
    trace: o.Trace = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """The best valid lower bound in the time given, with a certificate that a stranger can check."""
    o.writable(certificate, trace)
    warm(threads)
    import yardline as yl
    from yardline.instances.files import write_document

    loaded = yl.load(instance)
    with progress(quiet, trace) as shown:
        bounded = yl.bound(
            loaded,
            method,
            seed=seed,
            time_limit=time_limit,
            solver=solver,
            threads=threads,
            engine=engine,
            master=master,
            options=o.settings(set_),
            listener=shown.hear,
        )
    if certificate is not None and bounded.certificate is not None:
        write_document(bounded.certificate, certificate)
    show(bounded.document(), _bounded_lines(bounded, certificate), as_json)
    return 130 if bounded.interrupted else EXIT[bounded.status]


def _bounded_lines(bounded: Bounded, certificate: Path | None) -> list[tuple[str, str]]:
    lines = [("bound", number(bounded.bound)), ("method", f"{bounded.method}, {bounded.seconds:.2f} s")]
    lines.append(("certified", "yes: checked in exact arithmetic" if bounded.certified else "no"))
    words = (("valid because", bounded.valid_because), ("reason", bounded.reason), ("note", bounded.note))
    lines += [(label, text) for label, text in words if text]
    if certificate is not None and bounded.certificate is not None:
        lines.append(("certificate", str(certificate)))
    return lines


def verify(
    instance: o.Instance,
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A certificate file.")],
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """Recompute a bound, or a proof of optimality, in exact arithmetic; exit 1 if it does not hold."""
    import yardline as yl
    from yardline.api import load_program
    from yardline.models import registry

    verified = yl.verify(load_program(instance) if instance.endswith(".mps") else yl.load(instance), certificate)
    lines = [
        ("holds", "yes" if verified.holds else f"no: {verified.reason}"),
        ("bound", number(verified.bound)),
        ("optimal", "yes: the plan in it costs no more than the bound" if verified.optimal else "not claimed"),
        ("checked", f"kind {verified.kind}, in rationals, {verified.seconds:.2f} s"),
        *[("kind", entry.summary) for entry in registry.entries("certificate") if entry.name == verified.kind],
    ]
    show(verified.document(), lines, as_json)
    return 0 if verified.holds else 1


def evaluate(
    instance: o.Instance,
    solution: Annotated[Path, typer.Argument(metavar="SOLUTION", help="A plan as JSON.")],
    bound: o.WithBound = False,
    time_limit: o.TimeLimit = 60.0,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """The judge: cost, terms, every violated rule by name; with --bound the gap as well."""
    import yardline as yl
    from yardline.instances.files import read_solution

    loaded = yl.load(instance)
    judged = yl.evaluate(loaded, read_solution(solution, loaded), bound=bound, time_limit=time_limit)
    show(judged.document(), _judged_lines(judged), as_json)
    return 0 if judged.valid else 1


def _judged_lines(judged: Evaluation) -> list[tuple[str, str]]:
    lines = [("valid", "yes" if judged.valid else "no"), ("cost", number(judged.cost))]
    for name, value in judged.terms.items():
        lines.append((f"  {name}", number(value) if isinstance(value, (int, float)) else str(value)))
    lines += [("violated", str(violation)) for violation in judged.violations]
    if judged.bound is not None:
        lines += [("bound", f"{number(judged.bound)}: {judged.valid_because}"), ("gap", percent(judged.gap))]
    return lines


def generate(
    workload: Annotated[str, typer.Argument(metavar="WORKLOAD", help="`yardline methods` lists them.")],
    output: o.Out = None,
    seed: o.Seed = 0,
    set_: o.Settings = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """An instance from a named workload, reproducible from its seed."""
    import yardline as yl
    from yardline.models.problem import problem_of

    target = output if output is not None else Path(f"{workload}-{seed}.json")
    o.writable(output)
    made = yl.generate(workload, seed=seed, **o.settings(set_))
    yl.save(made, target)
    note = problem_of(made).remark(made)
    if note and not quiet:
        print(f"yardline: {note}", file=sys.stderr)
    document = {"problem": made.problem, "instance": made.hash, "out": str(target)}
    show(document, [("written", str(target)), ("problem", made.problem), ("instance", made.hash)], as_json)
    return 0


def export(
    instance: o.Instance,
    to: Annotated[str, typer.Option("--to", help="mps or lp.")] = "mps",
    relax: Annotated[bool, typer.Option("--relax", help="Without integrality.")] = False,
    output: o.Out = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """The formulation as a file for any other solver, with readable names."""
    import yardline as yl

    loaded = yl.load(instance)
    target = output if output is not None else Path(f"{loaded.name or loaded.problem}.{to}")
    o.writable(target)
    yl.export(loaded, target, to=to, relax=relax)
    document = {"problem": loaded.problem, "instance": loaded.hash, "out": str(target)}
    show(document, [("written", str(target)), ("problem", loaded.problem), ("instance", loaded.hash)], as_json)
    return 0


def methods(
    problem: Annotated[str | None, typer.Argument(metavar="[PROBLEM]", help="Only those of one problem.")] = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> int:
    """What there is: methods, bounds, workloads, experiments, each with a line and its paper."""
    from yardline.models import registry
    from yardline.models.problem import Problem

    if problem is not None:
        Problem(problem)
    kinds: tuple[registry.Kind, ...] = ("method", "bound", "workload", "experiment")
    found = {kind: registry.entries(kind, problem) for kind in kinds}
    if as_json:
        show({f"{kind}s": [_entry_document(e) for e in entries] for kind, entries in found.items()}, [], True)
        return 0
    for kind, entries in found.items():
        if entries:
            rows = [[e.problem, e.name, e.summary, e.paper, _options(e.options)] for e in entries]
            table(f"{kind}s", ("problem", "name", "what it does", "paper", "options (--set)"), rows)
    return 0


def _entry_document(entry: Any) -> dict[str, Any]:
    names = ("problem", "name", "summary", "paper")
    return {name: getattr(entry, name) for name in names} | {"options": dict(entry.options)}


def _options(options: Any) -> str:
    return ", ".join(f"{name}={default}" for name, default in options.items())


def doctor(as_json: o.Json = False, quiet: o.Quiet = False, verbose: o.Verbose = False) -> int:
    """Solvers, Java, Spark, versions: what works, and what to do about the rest."""
    from yardline.doctor import examine

    checks = examine()
    ok = all(check.ok for check in checks)
    document = {"ok": ok, "checks": [check.document() for check in checks]}
    lines = [
        (c.name, ("ok   " if c.ok else "MISSING  ") + c.found + (f" -> {c.remedy}" if c.remedy else "")) for c in checks
    ]
    show(document, lines, as_json)
    return 0 if ok else 1


COMMANDS = (solve, bound, verify, evaluate, generate, export, methods, doctor)
