"""From how a run ended to a result: the answer, what was found before the end came, and the judge's word on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from yardline.models.instance import Instance
from yardline.models.method import Answer, Finding, Unavailable, Unsuitable
from yardline.models.problem import problem_of
from yardline.results import Bounded, Contradiction, MethodFailed, Solved, gap_of, reconciled, status_of
from yardline.solvers.worker.pool import Ended
from yardline.versions import versions

Listen = Callable[[Finding], None]


class Best:
    """The best plan and bound heard of so far: what is returned when a run is stopped."""

    def __init__(self, listener: Listen | None = None) -> None:
        self.listener = listener
        self.plan: Finding | None = None
        self.bound: Finding | None = None

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Best:
        """The best of findings that came before."""
        best = cls()
        for finding in findings:
            best.hear(finding)
        return best

    def hear(self, finding: Finding) -> None:
        """Keep what improves."""
        known = None if self.plan is None else self.plan.value
        if finding.solution is not None and (known is None or finding.value is None or finding.value <= known):
            self.plan = finding
        proved = None if self.bound is None else self.bound.bound
        if finding.bound is not None and (proved is None or finding.bound > proved):
            self.bound = finding
        if self.listener is not None:
            self.listener(finding)

    def answer(self, note: str) -> Answer:
        """What was found before the end came."""
        solution = None if self.plan is None else self.plan.solution
        if self.bound is None:
            return Answer(solution=solution, note=note)
        proved = self.bound
        return Answer(
            solution=solution,
            bound=proved.bound,
            valid_because=proved.valid_because,
            certificate=proved.certificate,
            note=note,
        )


def answer_of(ended: Ended, best: Best, who: str) -> Answer:
    """The answer of a run, however it ended."""
    if ended.how == "done":
        answer: Answer = ended.answer
        return answer
    if ended.how == "failed" and ended.kind in ("Unsuitable", "Unavailable"):
        raise (Unsuitable if ended.kind == "Unsuitable" else Unavailable)(ended.error)
    found = best.plan is not None or best.bound is not None
    if ended.how == "interrupted":
        if not found:
            raise KeyboardInterrupt
        return best.answer("interrupted: this is the best found until then")
    if ended.how == "killed":
        return best.answer(f"{who} was stopped: {ended.error}")
    words = f"{ended.kind}: {ended.error}" if ended.kind else ended.error
    if not found:
        raise MethodFailed(f"{who} failed: {words}", ended.traceback)
    return best.answer(f"{who} failed after its last finding: {words}")


def solved_of(
    instance: Instance, name: str, seed: int, answer: Answer, ended: Ended, options: Mapping[str, Any], solver: str
) -> Solved:
    """The answer, judged."""
    problem = problem_of(instance)
    judgement = None if answer.solution is None else problem.evaluate(instance, answer.solution)
    valid = judgement is not None and judgement.valid
    reason = answer.infeasible
    if reason is None and not valid and ended.how == "done":
        reason = problem.why_infeasible(instance)
    if reason is not None and valid:
        raise Contradiction(f"{name} calls the instance infeasible and has a valid plan: please report this bug")
    cost = judgement.cost if judgement is not None and reason is None else None
    least = reconciled(cost if valid else None, answer.bound, name) if reason is None else None
    if reason is not None:
        status = "infeasible"
    elif judgement is None or cost is None:
        status = "unknown"
    else:
        status = status_of(cost, least) if valid else "invalid"
    return Solved(
        problem=instance.problem,
        instance=instance.hash,
        method=name,
        seed=seed,
        status=status,  # type: ignore[arg-type]
        cost=cost,
        bound=least,
        gap=gap_of(cost, least) if valid else None,
        seconds=ended.seconds,
        terms={} if judgement is None or reason is not None else {**answer.numbers, **judgement.terms},
        solution=answer.solution if reason is None else None,
        violations=() if judgement is None or reason is not None else judgement.violations,
        reason=reason or "",
        note=answer.note,
        valid_because=answer.valid_because if least is not None else "",
        certificate=answer.certificate,
        interrupted=ended.how == "interrupted",
        options=options,
        versions=versions(solver),
    )


def bounded_of(
    instance: Instance, name: str, seed: int, answer: Answer, ended: Ended, options: Mapping[str, Any], solver: str
) -> Bounded:
    """The answer of a bound."""
    status = "infeasible" if answer.infeasible else "unknown" if answer.bound is None else "bounded"
    return Bounded(
        problem=instance.problem,
        instance=instance.hash,
        method=name,
        seed=seed,
        status=status,  # type: ignore[arg-type]
        bound=answer.bound,
        certified=answer.certificate is not None,
        valid_because=answer.valid_because,
        seconds=ended.seconds,
        reason=answer.infeasible or "",
        note=answer.note,
        certificate=answer.certificate,
        interrupted=ended.how == "interrupted",
        options=options,
        versions=versions(solver),
    )
