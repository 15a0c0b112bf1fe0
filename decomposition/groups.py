"""A bound on channelization by its groups: wants have prices, groups are alike, and no group earns more than the best one.

    bound(v) = sum(v[i]) + K * min(0, least over bands of  cost of a group - what it earns)

is valid for any v >= 0 (solvers/certificates/groups.py says why) and concave in v, the prices of a flow's wants together. A
group of a band serves a share a[i] of flow i's wants at a cost C. So bound(v) <= sum(v) + K * (C - a * v), and the
prices that look best beside all groups seen so far are a small program; steps are kept short where it promised too much.

    start        prices in proportion to what flows cost
    rounds       relaxations of all bands, new prices, in half of the time
    in the end   the bands are branched on, and prices moved again, while the time lasts
"""

from __future__ import annotations

import hashlib
import math
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator

from yardline.decomposition.engines import Placed, outcomes
from yardline.decomposition.parts import How
from yardline.decomposition.relax_round import Send
from yardline.decomposition.tasks.task import Task
from yardline.models import checks, registry
from yardline.models.channelization import group
from yardline.models.channelization.data import Channelization
from yardline.models.checks import Vector
from yardline.models.method import Answer, Run
from yardline.models.problem import problem_of
from yardline.models.program import Builder
from yardline.solvers import highs
from yardline.solvers.certificates.groups import KIND, together
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certificates.verdict import header
from yardline.solvers.certify import one_leaf, tree_certificate
from yardline.solvers.programs import search_tree

PAIRS = 200_000
"""Of bands and wants, if the number of bands is not given: some seconds for the relaxations of all bands."""

STARTS = (1.0, 0.75, 0.5, 1.25, 0.25)
"""Multiples of 2 * everybody / K grains at which flows are priced at first."""

ROUND = 0.3
"""Of the time left, what one round of branching may take."""

RADIUS = 0.3
"""Of prices, how far they move at first."""

WORDS = (
    "every want is paid for at its price, there are at most K groups, and none earns more above its cost "
    "than the best group of its band"
)


@dataclass(frozen=True, slots=True)
class Band:
    """The best group of one band: its certificate, what it proves, the share of each flow's wants it serves, its cost."""

    document: Mapping[str, Any]
    bound: Fraction
    share: Vector
    cost: float  # so that cost - share * v is the bound at the prices of flows v
    reached: float = math.inf  # what a whole group costs that serves these shares; inf: none was found


@dataclass(frozen=True, slots=True)
class Priced:
    """Prices of flows, and what all bands prove with them."""

    price: Vector  # per want
    bands: list[Band]
    bound: Fraction


def groups(instance: Channelization, rng: Generator, *, run: Run, bands: int | None = None, rounds: int = 50) -> Answer:
    """Prices of wants, and what one group can earn by them at most, K times over; rechecked in rationals.

    bands: sizes of audiences told apart, at most; none: 2 per user, and fewer of large instances.  rounds: of new prices.
    """
    count = max(10, min(2 * instance.m, PAIRS // max(1, instance.wants.nnz))) if bands is None else bands
    count, rounds = checks.integer(count, "option bands", low=1), checks.integer(rounds, "option rounds", low=1)
    reason = problem_of(instance).why_infeasible(instance)
    if reason is not None:
        return Answer(infeasible=reason)
    search = Search(instance, run, banded(group.total(instance), count))
    for price in search.starts():
        search.look(price, "relaxed", 0.5 * run.time_limit)
    if search.best is None:
        return Answer(note="no band was bounded in time: --set bands=fewer")
    first = float(search.best.bound)
    done = search.climb("relaxed", rounds, 0.5 * run.time_limit)
    relaxed = float(search.best.bound)
    done += search.climb("branched", rounds - done, 0.3 * run.time_limit)
    search.look(search.flows(search.best), "branched", 0.1 * run.time_limit)
    best = search.best
    note = (
        f"{len(best.bands)} bands; at first {first:g}; {done} rounds to {relaxed:g}, branching to {float(best.bound):g}"
    )
    return Answer(bound=as_float(best.bound), valid_because=WORDS, certificate=search.certificate(best), note=note)


def banded(total: int, count: int) -> list[int]:
    """The last number of each of about so many equal bands of 0..total."""
    return sorted({*np.linspace(0, total, min(count, total + 1)).astype(np.int64).tolist(), total})


class Search:
    """The prices tried, the groups that they brought up, and the best bound so far."""

    def __init__(self, instance: Channelization, run: Run, lasts: list[int]) -> None:
        self.instance, self.run, self.lasts, self.engine = instance, run, lasts, Placed(run)
        pickled = pickle.dumps(instance, protocol=5)
        self.shared = hashlib.sha256(pickled).hexdigest(), pickled
        self.wanted = instance.wanted
        self.count = np.diff(instance.audience.indptr)[self.wanted].astype(np.float64)
        self.at = np.searchsorted(self.wanted, group.wants(instance)[0])
        dearest = np.full(len(self.wanted), np.inf)
        dearest[self.at] = group.dearest(instance)
        self.most = dearest * self.count * (1 - group.LESS)  # of a flow's price
        self.best: Priced | None = None
        self.seen: list[Band] = []
        self.radius = RADIUS

    def starts(self) -> Iterator[Vector]:
        """Prices of flows to begin with."""
        grain, k = group.grains(self.instance)
        cost = grain * self.instance.rates[self.wanted]
        for times in STARTS:
            typical = times * 2 * int(k.sum()) / max(1, self.instance.most_groups)
            yield np.minimum(self.instance.send_cost[self.wanted] + typical * cost, self.most)

    def look(self, price: Vector, how: How, reserve: float, part: float = 1.0) -> Priced | None:
        """What prices of flows prove, if some part of the time left (but for a reserve) suffices to find out."""
        grid = 2.0 ** (math.frexp(float(price.max(initial=0.0)))[1] - 30)
        each = np.floor((price / self.count)[self.at] / grid) * grid  # short numbers, quick in rationals
        found = self._bounded(each, how, part * (self.run.left() - reserve))
        if found is None:
            return None
        bound = together(self.instance, each, [band.bound for band in found])
        result = Priced(each, found, bound)
        self.seen += found
        if self.best is None or bound > self.best.bound:
            self.best = result
            self.run.report(
                f"prices of {len(self.count)} flows, {how}",
                bound=as_float(bound),
                certificate=self.certificate(result),
                valid_because=WORDS,
            )
        return result

    def climb(self, how: How, rounds: int, reserve: float) -> int:
        """New prices, round by round, until nothing is gained or the time for that is over; how many rounds."""
        assert self.best is not None
        self.radius, part = RADIUS, 1.0
        if how == "branched":
            self.seen, part = [], ROUND  # points of relaxations would hold prices back
            self.look(self.flows(self.best), how, reserve, part)
        for done in range(rounds):
            before = self.best.bound
            price, promised = self.promising()
            if promised <= float(before) * (1 + 1e-4) or self.look(price, how, reserve, part) is None:
                return done
            gained = float(self.best.bound - before)
            self.radius *= 1.5 if gained > 0.5 * (promised - float(before)) else 0.5 if gained <= 0 else 1.0
        return rounds

    def flows(self, priced: Priced) -> Vector:
        """The prices of flows."""
        return np.bincount(self.at, weights=priced.price, minlength=len(self.count)).astype(np.float64)

    def promising(self) -> tuple[Vector, float]:
        """The prices near the best ones that look best beside the groups seen so far, and what they promise.

        max  sum(v) - K * e      (earns)  e >= sum(a[i] * v[i]) - C  for each group seen,  e >= 0
        """
        assert self.best is not None
        now, K = self.flows(self.best), float(self.instance.most_groups)
        step = self.radius * (now + float(now.sum()) / max(1, len(now)))
        b = Builder()
        high = np.minimum(now + step, self.most)
        v = b.columns("v", self.wanted[:, None], cost=-1.0, low=np.maximum(0.0, now - step), high=high, integer=False)
        e = b.columns("e", [[0]], cost=K, high=float(high.sum()) + 1.0, integer=False)
        rows = b.rows("earns", np.arange(len(self.seen))[:, None], low=np.array([-band.cost for band in self.seen]))
        for row, band in zip(rows.tolist(), self.seen, strict=True):
            b.entries(row, e)
            b.entries(row, v[band.share > 0], -band.share[band.share > 0])
        outcome = highs.solve(b.program(), relax=True, time_limit=max(0.1, self.run.left()))
        if outcome.point is None:
            return now, -np.inf
        return np.asarray(outcome.point[: len(v)]), -outcome.value

    def _bounded(self, price: Vector, how: How, seconds: float) -> list[Band] | None:
        """All bands bounded; None where one of them was not in time."""
        begun, every = self.run.seconds(), list(range(len(self.lasts)))
        found = self._served(price, every, "relaxed", seconds, 0.0)
        if len(found) < len(every):
            return None
        if how == "branched":
            flows = np.bincount(self.at, weights=price, minlength=len(self.count))
            cutoff = min([0.0, *(band.reached - float(band.share @ flows) for band in self.seen)])
            short = [p for p in every if found[p].bound < cutoff]
            left = seconds - (self.run.seconds() - begun)
            for p, band in self._served(price, short, "branched", left, cutoff).items():
                found[p] = band if band.bound > found[p].bound else found[p]
        return [found[p] for p in every]

    def _served(self, price: Vector, which: list[int], how: How, seconds: float, cutoff: float) -> dict[int, Band]:
        """Some bands as tasks that share the time."""
        if seconds <= 0 or not which:
            return {}
        begun, name = self.run.seconds(), self.shared[0]
        firsts = [0, *(last + 1 for last in self.lasts[:-1])]
        each = seconds * self.engine.slots / max(self.engine.slots, len(which))
        payload = {"price": price, "how": how, "seconds": each, "cutoff": cutoff}
        tasks = [
            Task(
                key=str(p),
                target=f"{__name__}:serve",
                payload={"band": (firsts[p], self.lasts[p]), **payload},
                time_limit=seconds,
                shared=name,
                group=how,
            )
            for p in which
        ]
        self.engine.expected = each if how == "branched" else None

        def late() -> bool:
            return self.run.seconds() - begun > seconds

        return {int(r.key): r.value for r in outcomes(self.engine, tasks, dict([self.shared]), enough=late)}

    def certificate(self, priced: Priced) -> dict[str, Any]:
        """The certificate of prices."""
        return {
            **header(KIND, self.instance),
            "bound": str(priced.bound),
            "prices": priced.price.tolist(),
            "bands": self.lasts,
            "parts": [band.document for band in priced.bands],
        }


def serve(payload: Mapping[str, Any], send: Send) -> Band:
    """In a worker: the best group of a band, by its relaxation or by branching on it."""
    send("started", None)
    instance, price = payload["shared"], payload["price"]
    program = group.program(instance, price, *payload["band"])
    outcome = highs.solve(program, relax=True, time_limit=payload["seconds"])
    point = outcome.point if outcome.point is not None else np.zeros(program.shape[1])
    tree, reached = one_leaf(program, outcome.duals), math.inf
    if payload["how"] == "branched":
        tree = search_tree(program, Run(time_limit=payload["seconds"]), cutoff=payload["cutoff"])
        point = point if tree.best is None else tree.best
    document, bound = tree_certificate(program, program, tree, round_up=False)
    kept = {name: document[name] for name in ("program", "bits", "bound", "step", "nodes")}
    served, at = group.served(instance, program, point), np.searchsorted(instance.wanted, group.wants(instance)[0])
    wants = np.bincount(at, minlength=len(instance.wanted))
    share = np.bincount(at, weights=served, minlength=len(wants)) / wants
    earned = float(share @ np.bincount(at, weights=price, minlength=len(wants)))
    if tree.best is not None:
        reached = program.value(point) + earned
    return Band(kept, bound, share, float(bound) + earned, reached)


registry.bound("channelization", "groups", paper="001", tasks=True)(groups)
