"""Experiments of paper 002 that are comparisons of methods: costs, loads, times, by workload and by parameter.

Small scale: a tenth of the paper's brokers and a hundredth of its subscribers. Claims are the paper's, in our words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from yardline.experiments.claims import always_valid, at_most, between, falls, mean_below, where, within
from yardline.experiments.description import Claim, Experiment, Scale, Workload
from yardline.models import registry

SETTINGS: Mapping[str, Sequence[Any]] = {"interest_skew": ["L", "H"], "broad_interests": ["L", "H"]}
ALL = ["slp", "greedy-offline", "greedy-online", "greedy-no-latency", "closest", "closest-no-balance", "balance"]
COMPARABLE = Claim(
    words="SLP and Gr* are comparable: SLP costs at most 5 % more wherever both are valid",
    check=within("slp", "greedy-offline", 1.05),
)


def _sizes(scale: Scale, *, levels: bool = False) -> dict[str, Any]:
    """Subscribers and brokers; room for load where few brokers make regions uneven."""
    if scale == "paper":
        return {"subscribers": 100_000, "brokers": 200 if levels else 100}
    return {"subscribers": 1_000, "brokers": 20 if levels else 10, "beta_max": 3.0}


def _one(name: str, scale: Scale, vary: Mapping[str, Sequence[Any]], **fixed: Any) -> Workload:
    return Workload(name=name, fixed={**_sizes(scale), **fixed}, vary=vary, instances=2 if scale == "small" else 5)


def _experiment(
    scale: Scale, title: str, workloads: Sequence[Workload], methods: Sequence[str], **rest: Any
) -> Experiment:
    limit = 10.0 if scale == "small" else 900.0
    return Experiment(
        **{"title": title, "workloads": workloads, "methods": methods, "bounds": ["best"], "time_limit": limit, **rest}
    )


@registry.experiment("assignment", "slp-fig6", paper="002, figure 6")
def fig6(scale: Scale) -> Experiment:
    """Total bandwidth of all methods on workload set 1, one level."""
    printed = Claim(
        words="the same of SLP as printed, without our local search",
        check=within("slp:finish=0", "greedy-offline", 1.05),
    )
    claims = [COMPARABLE, printed, Claim(words="Balance costs far more", check=mean_below("slp", "balance", 0.8))]
    workloads, methods = [_one("assignment-1", scale, SETTINGS)], [*ALL, "slp:finish=0"]
    return _experiment(scale, "Cost, workload set 1", workloads, methods, x="method", y="cost", claims=claims)


@registry.experiment("assignment", "slp-fig8", paper="002, figure 8")
def fig8(scale: Scale) -> Experiment:
    """Cost by workload setting, with delays and loads as terms of the judge."""
    workloads = [_one("assignment-1", scale, SETTINGS)]
    return _experiment(scale, "Cost by setting", workloads, ALL, x="interest_skew", y="cost", claims=[COMPARABLE])


@registry.experiment("assignment", "slp-table1", paper="002, table 1")
def table1(scale: Scale) -> Experiment:
    """Cost over the certified bound, workload set 1 (the paper's fractional value is in SLP's note)."""
    workloads = [_one("assignment-1", scale, SETTINGS)]
    methods = ["slp", "greedy-offline", "local-search"]
    claims = [COMPARABLE]
    return _experiment(scale, "Cost over bound", workloads, methods, x="broad_interests", y="over_bound", claims=claims)


@registry.experiment("assignment", "slp-table2", paper="002, table 2")
def table2(scale: Scale) -> Experiment:
    """Cost over the certified bound, workload sets 2 and 3."""
    workloads = [_one(name, scale, {}) for name in ("assignment-2", "assignment-3")]
    methods = ["slp", "greedy-offline", "local-search"]
    return _experiment(scale, "Cost over bound", workloads, methods, x="method", y="over_bound", claims=[COMPARABLE])


def _levels(scale: Scale, latency: str) -> Workload:
    fixed = {**_sizes(scale, levels=True), "levels": 2, "degree": 15, "latency": latency}
    vary = SETTINGS if scale == "paper" else {"interest_skew": ["L", "H"]}
    return Workload(name="assignment-1", fixed=fixed, vary=vary, instances=1 if scale == "small" else 3)


@registry.experiment("assignment", "slp-fig9", paper="002, figure 9")
def fig9(scale: Scale) -> Experiment:
    """Several levels, tight and loose latency: cost of all methods."""
    workloads = [_levels(scale, latency) for latency in ("tight", "loose")]
    claims = [
        Claim(
            words="under loose latency SLP and Gr* are comparable: SLP costs at most 5 % more",
            check=where(within("slp", "greedy-offline", 1.05), latency="loose"),
        ),
        Claim(words="Balance, which ignores interests, costs more", check=mean_below("slp", "balance")),
        Claim(
            words="SLP of one level with filters bottom-up costs more (both without our local search)",
            check=mean_below("slp:finish=0", "slp-leaves:finish=0"),
        ),
    ]
    methods = [*ALL, "slp:finish=0", "slp-leaves:finish=0"]
    return _experiment(scale, "Cost, several levels", workloads, methods, x="method", y="cost", claims=claims)


@registry.experiment("assignment", "slp-fig10", paper="002, figure 10")
def fig10(scale: Scale) -> Experiment:
    """Several levels: load factors under tight and loose latency."""
    workloads = [_levels(scale, latency) for latency in ("tight", "loose")]
    methods = ["slp", "greedy-offline"]
    claims = [Claim(words="SLP keeps all limits under tight and loose latency", check=always_valid("slp"))]
    title = "Load factor, several levels"
    return _experiment(scale, title, workloads, methods, x="latency", y="load_factor", claims=claims)


@registry.experiment("assignment", "slp-fig11a", paper="002, figure 11a")
def fig11a(scale: Scale) -> Experiment:
    """Running time of SLP against the number of subscribers, several levels."""
    sizes = [500, 1_000, 2_000] if scale == "small" else [10_000, 100_000, 1_000_000]
    fixed = {k: v for k, v in _sizes(scale, levels=True).items() if k != "subscribers"}
    vary = {"subscribers": sizes}
    workload = Workload(name="assignment-1", fixed={**fixed, "levels": 2, "latency": "loose"}, vary=vary, instances=1)
    claims = [Claim(words="SLP serves every size in a manageable time", check=always_valid("slp"))]
    methods = ["slp", "greedy-offline"]
    return _experiment(scale, "Seconds", [workload], methods, x="subscribers", y="seconds", claims=claims)


@registry.experiment("assignment", "slp-fig11b", paper="002, figure 11b")
def fig11b(scale: Scale) -> Experiment:
    """Effect of filter complexity."""
    workloads = [_one("assignment-1", scale, {"alpha": [1, 2, 3, 4]}, interest_skew="H", broad_interests="H")]
    methods = ["slp", "greedy-offline", "greedy-online"]
    claims = [
        Claim(words=f"more boxes per filter lower the cost of {method}", check=falls(method, "alpha"))
        for method in methods[:2]  # plans of Gr break the load limit, as the paper says
    ]
    return _experiment(scale, "Cost by filter complexity", workloads, methods, x="alpha", y="cost", claims=claims)


@registry.experiment("assignment", "slp-fig12", paper="002, figure 12")
def fig12(scale: Scale) -> Experiment:
    """Effect of the maximum delay."""
    workloads = [_one("assignment-1", scale, {"max_delay": [0.2, 0.3, 0.5, 1.0]})]
    claims = [Claim(words="a larger delay lowers the cost of SLP", check=falls("slp", "max_delay"))]
    methods = ["slp", "greedy-offline"]
    return _experiment(scale, "Cost by delay", workloads, methods, x="max_delay", y="cost", claims=claims)


@registry.experiment("assignment", "slp-table3", paper="002, table 3")
def table3(scale: Scale) -> Experiment:
    """Load factors by the distribution of brokers."""
    workloads = [_one("assignment-1", scale, {"broker_mix": ["4-1-4", "1-1-1", "1-4-1"]}, over_balance=1.5)]
    methods = ["balance", "slp", "closest-no-balance"]
    words = "the load factor of SLP lies between those of Balance and of Closest without balance"
    claims = [Claim(words=words, check=between("slp", "balance", "closest-no-balance", "load_factor"))]
    title = "Load factor by broker mix"
    return _experiment(scale, title, workloads, methods, x="broker_mix", y="load_factor", claims=claims)


@registry.experiment("assignment", "slp-fig13", paper="002, figure 13")
def fig13(scale: Scale) -> Experiment:
    """How many the flow cannot place within the load limit, against the size of S_b, drawn as in the paper and in strata."""
    drawn = [(kind, size) for kind in ("paper", "strata") for size in (2, 5, 10)]
    methods = [f"slp:sample={kind}:sample_factor={size}:finish=0" for kind, size in drawn]
    workloads = [_one("assignment-1", scale, {})]
    words = "ten per broker, drawn at random, are enough for the flow to place everybody within the load limits"
    claims = [Claim(words=words, check=where(at_most("repaired", 0.0), method=methods[2]))]
    title = "Subscribers left to repair by sample"
    return _experiment(scale, title, workloads, methods, x="method", y="repaired", claims=claims)


@registry.experiment("assignment", "slp-fig14", paper="002, figure 14")
def fig14(scale: Scale) -> Experiment:
    """Cost against the number of super-interests."""
    methods = [f"slp:supers={size}:finish=0" for size in (1, 2, 5, 10)]
    workloads = [_one("assignment-1", scale, {})]
    check = mean_below("slp:supers=10:finish=0", "slp:supers=1:finish=0")
    claims = [Claim(words="more super-interests lower the cost", check=check)]
    title = "Cost by super-interests"
    return _experiment(scale, title, workloads, methods, x="method", y="cost", claims=claims)


@registry.experiment("assignment", "slp-greedy-trap", paper="002, section 6, the example where Gr* fails")
def greedy_trap(scale: Scale) -> Experiment:
    """A family of instances where Gr* costs orders of magnitude more than SLP."""
    distances = [100.0, 10_000.0] if scale == "small" else [100.0, 10_000.0, 1_000_000.0]
    workload = Workload(name="assignment-trap", vary={"far": distances}, instances=1)
    check = where(within("slp", "greedy-offline", 0.01), far=distances[-1])
    claims = [Claim(words="Gr* is orders of magnitude worse than SLP: at least 100 times", check=check)]
    methods = ["slp", "greedy-offline", "local-search"]
    return _experiment(scale, "Cost by distance", [workload], methods, x="far", y="cost", claims=claims)
