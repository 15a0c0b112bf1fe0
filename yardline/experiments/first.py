"""First experiments: on each problem, what the simple methods cost against the certified optimum of small instances."""

from __future__ import annotations

from yardline.experiments.claims import cheaper, mean_below, where, within
from yardline.experiments.description import Claim, Experiment, Scale, Workload
from yardline.models import registry


@registry.experiment("channelization", "small-channelization", paper="001 (the question, on small instances)")
def channelization(scale: Scale) -> Experiment:
    """How far random assignment and flow merging are from the optimum, by the number of groups."""
    flows, users, instances = (12, 10, 5) if scale == "small" else (20, 16, 20)
    return Experiment(
        title="Cost over the optimum, small random instances",
        workloads=[
            Workload(
                name="channelization-random",
                fixed={"flows": flows, "users": users, "interest": 0.2},
                vary={"groups": [2, 4, 6]},
                instances=instances,
            )
        ],
        methods=["random", "flow-merge", "exact"],
        x="groups",
        y="over_bound",
        time_limit=30 if scale == "small" else 120,
        claims=[
            Claim(
                words="flow-merge is within 20 % of the optimum in nine of ten cases",
                check=within("flow-merge", "exact", 1.2, share=0.9),
            ),
            Claim(words="flow-merge never costs more than random groups", check=cheaper("flow-merge", "random")),
        ],
    )


@registry.experiment("assignment", "small-assignment", paper="002 (the question, on small instances)")
def assignment(scale: Scale) -> Experiment:
    """The closest broker against the offline greedy method and the optimum, by the number of subscribers."""
    sizes, instances = ([6, 8, 10], 4) if scale == "small" else ([8, 12, 16], 10)
    return Experiment(
        title="Total filter measure over the bound, small instances of workload 3",
        workloads=[
            Workload(
                name="assignment-3",
                fixed={"brokers": 3, "locations": 20, "network": 2, "alpha": 1},
                vary={"subscribers": sizes},
                instances=instances,
            )
        ],
        methods=["closest", "greedy-offline", "exact"],
        x="subscribers",
        y="over_bound",
        time_limit=30 if scale == "small" else 300,
        claims=[
            Claim(
                words="greedy-offline costs less than the closest broker on average",
                check=mean_below("greedy-offline", "closest"),
            ),
            Claim(
                words="greedy-offline is within a third of the best plan known in most cases",
                check=within("greedy-offline", "exact", 4 / 3, share=0.5),
            ),
        ],
    )


@registry.experiment("overlay", "small-overlay", paper="003 (the question, on small instances)")
def overlay(scale: Scale) -> Experiment:
    """Random against greedy assignment of users to brokers, by the price of core links."""
    users, brokers, instances = (8, 3, 5) if scale == "small" else (14, 4, 20)
    return Experiment(
        title="Cost over the bound, small instances, by core price",
        workloads=[
            Workload(
                name="overlay-paper",
                fixed={"users": users, "brokers": brokers, "channels": 4, "room": 3.0},
                vary={"core_price": [0.1, 1.0, 10.0]},
                instances=instances,
            )
        ],
        methods=["random", "greedy", "exact"],
        x="core_price",
        y="over_bound",
        time_limit=30 if scale == "small" else 120,
        claims=[
            Claim(
                words="greedy is close to the optimum (5 %) where core links are cheap",
                check=where(within("greedy", "exact", 1.05), core_price=0.1),
            ),
            Claim(
                words="greedy is still within 5 % of the optimum where core links are dear",
                check=where(within("greedy", "exact", 1.05), core_price=10.0),
            ),
            Claim(words="greedy costs less than random on average", check=mean_below("greedy", "random")),
        ],
    )


@registry.experiment("customization", "small-customization", paper="004 (the question, on small instances)")
def customization(scale: Scale) -> Experiment:
    """Converting at the root against converting at the leaves, by the weight of conversion."""
    brokers, formats, instances = (16, 5, 5) if scale == "small" else (64, 8, 20)
    return Experiment(
        title="Cost over the optimum by the weight of conversion",
        workloads=[
            Workload(
                name="customization-random",
                fixed={"brokers": brokers, "formats": formats},
                vary={"beta": [0.01, 1.0, 100.0]},
                instances=instances,
            )
        ],
        methods=["all-in-root", "all-in-leaves", "exact"],
        x="beta",
        y="over_bound",
        time_limit=30 if scale == "small" else 120,
        claims=[
            Claim(
                words="all-in-leaves is the cheaper of the two where conversion costs next to nothing",
                check=where(cheaper("all-in-leaves", "all-in-root"), beta=0.01),
            ),
            Claim(
                words="all-in-root is the cheaper of the two where conversion is dear",
                check=where(cheaper("all-in-root", "all-in-leaves"), beta=100.0),
            ),
            Claim(
                words="all-in-root is optimal within 1 % where conversion is dear",
                check=where(within("all-in-root", "exact", 1.01), beta=100.0),
            ),
        ],
    )
