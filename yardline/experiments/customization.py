"""The experiments of paper 004 (CCD): savings, the iterative algorithm against the optimum, first plans, bounds, depth.

The paper also charges its methods for planning: 100 ms of computation, and a probe of 0.1 KB on each link, which discovers the
tree. What that is in the normalised units of its costs is not said, so it is off; `--set planning=0.1 --set probe=0.0001` charges
it where a unit of conversion is a second and one of transmission a megabyte. The root or the leaves alone need no plan.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from yardline.api import generate
from yardline.experiments.claims import Check, cheaper, costs, mean_below, where, within
from yardline.experiments.description import Claim, Experiment, Row, Scale, Verdict, Workload
from yardline.models import registry
from yardline.models.customization.data import Customization

RATIOS = (0.1, 1.0, 10.0)  # alpha / beta
STARTS = ("all-in-root", "all-in-leaves", "single-format")
STEPS = (10, 50, 150, 500, 1000)
WITHOUT_PLANNING = ("all-in-root", "all-in-leaves")


def _workload(scale: Scale, name: str, **vary: Sequence[Any]) -> Workload:
    """1,024 brokers and 100 runs at the paper's scale; a few small ones otherwise."""
    brokers, instances = (128, 3) if scale == "small" else (1024, 100)
    return Workload(name=name, fixed={"brokers": brokers}, vary=vary, instances=instances)


def overhead(planning: float, probe: float) -> Callable[[Row], float] | None:
    """What a run is charged for planning: computation once at the root, and a probe on each link of the tree."""

    def charged(run: Row) -> float:
        if run["method"] in WITHOUT_PLANNING:
            return 0.0
        alpha, beta, links = _tree(run["parameters"])
        return beta * planning + alpha * probe * links

    return charged if planning or probe else None


@lru_cache(maxsize=1024)
def _tree(drawn: str) -> tuple[float, float, int]:
    """Both weights and the number of links of an instance, drawn again."""
    how = json.loads(drawn)
    instance = generate(how["workload"], seed=how["seed"], **how["parameters"])
    assert isinstance(instance, Customization)
    return instance.alpha, instance.beta, instance.n - 1


def same(first: str, second: str) -> Check:
    """Two methods end with plans of the same cost, in every case."""

    def check(rows: Sequence[Row]) -> Verdict:
        pairs = costs(rows, first, second)
        equal = sum(abs(a - b) <= 1e-9 * max(a, b) for a, b in pairs)
        apart = max((abs(a - b) / max(a, b) for a, b in pairs if max(a, b)), default=0.0)
        numbers = f"{equal} of {len(pairs)} cases end with the same cost; the largest difference is {100 * apart:.2f} %"
        return Verdict(held=bool(pairs) and equal == len(pairs), numbers=numbers)

    return check


def below_bound(method: str, bound: str, factor: float) -> Check:
    """A method's plans cost at most so many times a bound, in every case."""

    def check(rows: Sequence[Row]) -> Verdict:
        over = [row["over_bound"] for row in rows if row["by_bound"] == f"{method} over {bound}"]
        known = [1 + value for value in over if value is not None]
        good = sum(value <= factor for value in known)
        numbers = f"{good} of {len(over)} cases; {method} over {bound}: mean {sum(known) / max(1, len(known)):.4g}"
        return Verdict(held=bool(over) and good == len(over), numbers=f"{numbers}, worst {max(known, default=0):.4g}")

    return check


def _savings(scale: Scale, name: str, method: str, title: str, planning: float, probe: float) -> Experiment:
    return Experiment(
        title=title,
        workloads=[_workload(scale, name, alpha=RATIOS, matching_ratio=(0.1, 0.5, 0.9))],
        methods=["all-in-root", "all-in-leaves", method],
        bounds=["dual-ascent"],
        x="alpha",
        y="over_best",
        overhead=overhead(planning, probe),
        claims=[
            Claim(words="it never costs more than converting at the leaves", check=cheaper(method, "all-in-leaves")),
            Claim(words="it never costs more than converting at the root", check=cheaper(method, "all-in-root")),
            Claim(
                words="where computation is dear (alpha/beta 0.1), converting at the root is within 10 % of it",
                check=where(within("all-in-root", method, 1.1), alpha=0.1),
            ),
            Claim(
                words="where communication is dear (alpha/beta 10), converting at the root costs more than 10 % more on average",
                check=where(mean_below(method, "all-in-root", 1 / 1.1), alpha=10.0),
            ),
        ],
    )


@registry.experiment("customization", "ccd-fig7a", paper="004 figure 7, left")
def fig7a(scale: Scale, *, planning: float = 0.0, probe: float = 0.0) -> Experiment:
    """Savings of the optimal plan against both baselines, annotated maps, by alpha/beta."""
    return _savings(
        scale, "customization-map", "exact", "Annotated maps: cost over the optimal plan's", planning, probe
    )


@registry.experiment("customization", "ccd-fig7b", paper="004 figure 7, right")
def fig7b(scale: Scale, *, planning: float = 0.0, probe: float = 0.0) -> Experiment:
    """Savings of the iterative algorithm against both baselines, video, by alpha/beta."""
    return _savings(scale, "customization-video", "iterative", "Video: cost over the best plan's", planning, probe)


@registry.experiment("customization", "ccd-fig9", paper="004 figure 9")
def fig9(scale: Scale, *, planning: float = 0.0, probe: float = 0.0) -> Experiment:
    """The iterative algorithm against the optimum, by the number of iterations, annotated maps."""
    steps = [f"iterative:iterations={k}" for k in (STEPS[:3] if scale == "small" else STEPS)]
    return Experiment(
        title="Annotated maps: cost over the optimum, by iterations",
        workloads=[_workload(scale, "customization-map", matching_ratio=(0.1, 0.5, 0.7))],
        methods=[*steps, "exact"],
        bounds=["dual-ascent"],
        x="method",
        y="over_best",
        series="matching_ratio",
        overhead=overhead(planning, probe),
        claims=[
            Claim(words="it comes within about 1 % (1.5 %) of the optimum", check=within(steps[-1], "exact", 1.015))
        ],
    )


@registry.experiment("customization", "ccd-fig10", paper="004 figure 10")
def fig10(scale: Scale, *, planning: float = 0.0, probe: float = 0.0) -> Experiment:
    """The three first plans, by alpha/beta and matching ratio, video."""
    return Experiment(
        title="Video: cost of the first plans",
        workloads=[_workload(scale, "customization-video", alpha=RATIOS, matching_ratio=(0.1, 0.5, 0.9))],
        methods=list(STARTS),
        bounds=["dual-ascent"],
        x="alpha",
        y="cost",
        overhead=overhead(planning, probe),
        claims=[
            Claim(
                words="all-in-root is the cheapest where computation is dear (alpha/beta 0.1), against all-in-leaves",
                check=where(cheaper("all-in-root", "all-in-leaves"), alpha=0.1),
            ),
            Claim(
                words="all-in-root is the cheapest where computation is dear (alpha/beta 0.1), against single-format",
                check=where(cheaper("all-in-root", "single-format"), alpha=0.1),
            ),
            Claim(
                words="single-format is the better start where communication is dear (alpha/beta 10)",
                check=where(cheaper("single-format", "all-in-root"), alpha=10.0),
            ),
        ],
    )


@registry.experiment("customization", "ccd-fig11", paper="004 figure 11")
def fig11(scale: Scale, *, planning: float = 0.0, probe: float = 0.0) -> Experiment:
    """Nodes picked at random against nodes picked by slack, three matching ratios, video."""
    few, many = (50, 500) if scale == "small" else (150, 5000)
    names = [f"iterative:iterations={k}:select={s}" for s in ("slack", "random") for k in (few, many)]
    return Experiment(
        title="Video: cost over the best plan's, by selection and iterations",
        workloads=[_workload(scale, "customization-video", matching_ratio=(0.1, 0.5, 0.7))],
        methods=names,
        bounds=["dual-ascent"],
        x="matching_ratio",
        y="over_best",
        overhead=overhead(planning, probe),
        claims=[
            Claim(words="slack gets down faster than random", check=cheaper(names[0], names[2])),
            Claim(words="both selections converge to the same plan (its cost)", check=same(names[1], names[3])),
        ],
    )


@registry.experiment("customization", "ccd-bounds", paper="004 section 5 (lower bounds)")
def bounds(scale: Scale, *, planning: float = 0.0, probe: float = 0.0) -> Experiment:
    """The paper's lower bound and ours against the optimum, all four workloads."""
    return Experiment(
        title="Cost of the optimum over each bound",
        workloads=[_workload(scale, f"customization-{w}") for w in ("map", "video", "random", "down")],
        methods=["exact", "iterative"],
        bounds=["paper", "dual-ascent", "best"],
        x="workload",
        y="over_bound",
        series="by_bound",
        overhead=overhead(planning, probe),
        claims=[
            Claim(
                words="the paper's bound shows the iterative plans to be within a small factor (2) of the least possible cost",
                check=below_bound("iterative", "paper", 2.0),
            ),
            Claim(
                words="dual ascent is within 2 % of the optimum",
                check=below_bound("exact", "dual-ascent", 1.02),
            ),
        ],
    )


@registry.experiment("customization", "ccd-depth", paper="004 section 8 (future work: deeper stumps)")
def depth(scale: Scale, *, planning: float = 0.0, probe: float = 0.0) -> Experiment:
    """Stumps of depth 1 and 2, local Steiner trees by the paper's approximation and exact, video."""
    count = 100 if scale == "small" else 500
    names = [f"iterative:iterations={count}:depth={d}:steiner={s}" for d in (1, 2) for s in ("charikar", "exact")]
    return Experiment(
        title="Video: cost over the best plan's, by depth of the stump",
        workloads=[_workload(scale, "customization-video", matching_ratio=(0.1, 0.5))],
        methods=[*names, "exact"],
        bounds=["dual-ascent"],
        x="method",
        y="over_best",
        series="matching_ratio",
        time_limit=120,
        overhead=overhead(planning, probe),
        claims=[
            Claim(
                words="deeper stumps give cheaper plans on average (approximate trees)",
                check=mean_below(names[2], names[0]),
            ),
            Claim(
                words="exact trees give cheaper plans on average than approximate ones",
                check=mean_below(names[1], names[0]),
            ),
        ],
    )
