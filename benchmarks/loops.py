"""Numbers of the loops: `python benchmarks/loops.py [speed|quality|sampled|parts][:PROBLEM]...`, minutes; FULL=1 for an hour.

Seeds, sizes and limits are printed; every cost is the judge's, every bound certified.
"""

from __future__ import annotations

import os
import sys

import numpy as np

import yardline as yl
from yardline.decomposition import engines, relax_round
from yardline.models.method import Run, Unsuitable

FULL = bool(os.environ.get("FULL"))
COUNT, LIMIT = (200, 60) if FULL else (12, 20)

QUALITY = {
    "channelization": [
        ("channelization-random", {"flows": 16, "users": 12, "groups": 4, "interest": 0.2}),
        ("channelization-random", {"flows": 17, "users": 12, "groups": 4, "interest": 0.15, "hybrid": True}),
        ("channelization-random", {"flows": 8, "users": 7, "groups": 3, "interest": 0.3, "mode": "unconstrained"}),
    ],
    "assignment": [
        ("assignment-3", {"subscribers": 9, "brokers": 4, "locations": 9, "alpha": 2}),
        ("assignment-3", {"subscribers": 7, "brokers": 5, "locations": 9, "alpha": 2, "levels": 2, "degree": 3}),
    ],
    "overlay": [
        ("overlay-paper", {"users": 8, "brokers": 4, "channels": 4, "core_price": 3.0}),
        ("overlay-paper", {"users": 7, "brokers": 4, "channels": 3, "topology": "tree", "room": 1.3}),
    ],
    "customization": [("customization-random", {"brokers": 200, "formats": 10, "matching_ratio": 0.4})],
}


def speed(problems: list[str]) -> None:
    """64 trials of 0.2 s or more: two workers against one, from the end of the relaxation to the answer."""
    instance = yl.generate("overlay-paper", seed=1, users=50, brokers=6, channels=3)
    engines.SHORT, seconds = 0.0, {}
    for slots in (1, 2):
        engines.SLOTS, story = slots, dict[str, float]()
        run = Run(
            time_limit=600, engine="local", listener=lambda seen, story=story: story.update({seen.event: seen.seconds})
        )
        relax_round.relax_round(instance, np.random.default_rng(0), run=run, trials=64)
        seconds[slots] = run.seconds() - story["relaxation"]
    print(f"speed: 64 trials, {seconds[1] / 64:.2f} s each; two workers {seconds[1] / seconds[2]:.2f} x one")


def quality(problems: list[str]) -> None:
    """relax-round against exact."""
    for problem in problems or list(QUALITY):
        cases = QUALITY[problem]
        ratios, unproved, seconds, infeasible, missed = [], 0, [], 0, 0
        for seed in range(COUNT):
            name, parameters = cases[seed % len(cases)]
            instance = yl.generate(name, seed=seed, **parameters)
            best = yl.solve(instance, "exact", time_limit=LIMIT)
            infeasible += best.status == "infeasible"
            unproved += best.status not in ("optimal", "infeasible")
            if best.status != "optimal":
                continue
            found = yl.solve(instance, "relax-round", time_limit=LIMIT)
            missed += found.cost is None
            if found.cost is not None:
                ratios.append(found.cost / best.cost if best.cost else 1.0)
                seconds.append(found.seconds)
        words = f"{len(ratios)} of {COUNT} ({unproved} not proved, {infeasible} infeasible, {missed} without a plan)"
        print(
            f"quality, {problem}: {words}; over the optimum: median {100 * np.median(ratios) - 100:.2f} %, "
            f"worst {100 * max(ratios) - 100:.1f} %; {np.mean(seconds):.2f} s",
            flush=True,
        )


SAMPLED = {
    "channelization": ("channelization-random", {"flows": 250, "users": 60, "groups": 15, "interest": 0.04}, 40),
    "overlay": ("overlay-paper", {"users": 100, "brokers": 8, "channels": 10, "core_price": 3.0}, 8),
    "customization": ("customization-random", {"brokers": 8_000, "formats": 20, "matching_ratio": 0.5}, 400),
}


def sampled(problems: list[str]) -> None:
    """Sampled at about ten times what exact proves, against the simple heuristics."""
    from yardline.models import registry

    for problem in problems or list(SAMPLED):
        name, parameters, size = SAMPLED[problem]
        for seed in (1, 2, 3):
            instance = yl.generate(name, seed=seed, **parameters)
            costs = {}
            for entry in registry.entries("method", problem):
                if entry.name in ("exact", "portfolio", "relax-round", "sampled"):
                    continue
                try:
                    solved = yl.solve(instance, entry.name, time_limit=LIMIT)
                except Unsuitable:
                    continue
                if solved.status in ("feasible", "optimal"):
                    costs[entry.name] = solved.cost
            ours = yl.solve(instance, "sampled", time_limit=LIMIT, options={"size": size})
            best = min(costs, key=lambda key: costs[key])
            print(
                f"sampled, {problem} {parameters}, seed {seed}: {ours.cost} in {ours.seconds:.0f} s; "
                f"best simple one {best} {costs[best]:g}",
                flush=True,
            )


PARTS = {
    "channelization": (
        ("channelization-random", {"flows": 150, "users": 100, "groups": 5, "interest": 0.05}),
        ("flow-merge", "sampled"),
        ("parts", "groups"),
    ),
    "assignment": (
        ("assignment-3", {"subscribers": 60, "brokers": 6, "locations": 30}),
        ("local-search", "slp"),
        ("parts",),
    ),
    "overlay": (
        ("overlay-paper", {"users": 100, "brokers": 10, "channels": 20, "core_price": 3.0}),
        ("greedy", "sampled"),
        ("parts",),
    ),
}


def parts(problems: list[str]) -> None:
    """Bounds at about a million columns and more, where a hundred thousand take the whole relaxation a minute."""
    for problem in problems or list(PARTS):
        (name, parameters), methods, bounds = PARTS[problem]
        instance = yl.generate(name, seed=1, **parameters)
        options = {"sampled": {"size": SAMPLED[problem][2]}} if problem in SAMPLED else {}
        plans = [
            (yl.solve(instance, method, time_limit=LIMIT, options=options.get(method, {})).cost, method)
            for method in methods
        ]
        cost, method = min((cost, method) for cost, method in plans if cost is not None)
        print(f"parts, {problem} {parameters}: best plan {cost:g} ({method})", flush=True)
        for bound in ("lp", *bounds):
            try:
                found = yl.bound(instance, bound, time_limit=60)
            except Unsuitable as error:
                print(f"    {bound}: {error}", flush=True)
                continue
            far = "" if found.bound is None else f"{found.bound:g}, {100 * (1 - found.bound / cost):.1f} % below it,"
            print(f"    {bound}: {far} in {found.seconds:.0f} s; {found.note}", flush=True)


if __name__ == "__main__":
    names = sys.argv[1:] or ["speed", "quality", "sampled", "parts"]
    for which in names:
        loop, _, problem = which.partition(":")
        {"speed": speed, "quality": quality, "sampled": sampled, "parts": parts}[loop]([problem] if problem else [])
