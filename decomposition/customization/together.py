"""Several publications of customization that share nodes and links: planned jointly by prices on what is scarce.

    min   sum over publications k of cost_k(plan_k)
    (node)  sum over k of work_k(b)  <=  node[b]       work: node_weight * conversion costs at broker b, without beta
    (link)  sum over k of load_k(l)  <=  link[l]       load: link_weight * tau of what link l carries, without alpha

For ANY prices p >= 0 on brokers and q >= 0 on links, no joint plan costs less than

    sum over k of least cost of k with weights raised by the prices  -  sum(p[b] * node[b])  -  sum(q[l] * link[l]),

because a plan that keeps the limits pays no more for them than the prices give back. The certificate holds the prices and a
certificate of each priced publication; `check_together` adds them up in rationals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from yardline.models import checks
from yardline.models.checks import Vector
from yardline.models.customization.data import Customization, CustomizationPlan
from yardline.models.customization.judge import evaluate
from yardline.models.method import Answer, Run
from yardline.models.numbers import relative_gap, widened
from yardline.models.program import Builder
from yardline.solvers import highs
from yardline.solvers.certificates.rational import as_float
from yardline.solvers.certificates.verdict import rational, verify
from yardline.solvers.customization.exact import exact

KIND = "together"
Link = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """What brokers and links can take from all publications together.

    node: the most conversion work per broker, link: the most load per link (broker above, broker below); not named: unlimited.
    broker: per publication, the broker that each of its nodes is; by default node v is broker v in all of them.
    """

    node: Mapping[int, float] = field(default_factory=dict)
    link: Mapping[Link, float] = field(default_factory=dict)
    broker: Sequence[Sequence[int]] | None = None

    def __post_init__(self) -> None:
        for b, limit in self.node.items():
            checks.number(limit, f"capacity of node {b}")
        for l, limit in self.link.items():
            checks.number(limit, f"capacity of link {l}")

    def limits(self) -> Vector:
        """All limits: brokers first, then links."""
        return np.array([*self.node.values(), *self.link.values()], dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """A joint plan and a bound on all joint plans; `plans` is None where none that keeps the limits was found."""

    plans: tuple[CustomizationPlan, ...] | None
    cost: float | None
    bound: float
    gap: float | None
    prices: Mapping[str, Any]
    certificate: Mapping[str, Any]
    iterations: int


def together(
    instances: Sequence[Customization],
    capacity: Capacity,
    *,
    iterations: int = 40,
    time_limit: float = 60.0,
    seed: int = 0,
) -> Together:
    """Plan publications jointly: prices by subgradient steps, plans out of all that the prices brought up."""
    shared = _Shared(list(instances), capacity)
    run, rng = Run(time_limit=time_limit, seed=seed), np.random.default_rng(seed)
    prices = np.zeros(len(shared.limits))
    bound, best, found, done = -np.inf, prices, None, 0
    for step in range(iterations):
        answers = [_solved(priced, rng, run) for priced in shared.priced(prices)]
        value = sum(a.bound or 0.0 for a in answers) - float(prices @ shared.limits)
        if value > bound:
            bound, best = value, prices
        shared.keep(answers)
        found, done = shared.chosen(), step + 1
        used = shared.use([a.solution for a in answers])
        over = used - shared.limits
        if run.left() <= 0.2 * time_limit or (not (over > 0).any() and not prices.any()):
            break
        if found is not None and found[0] - bound <= 1e-6 * abs(found[0]):
            break
        prices = _stepped(prices, over, bound, value, found, step)
    return _result(shared, best, found, done, time_limit, rng)


def _stepped(
    prices: Vector, over: Vector, bound: float, value: float, found: tuple[float, Any] | None, step: int
) -> Vector:
    """Prices a step up where there is too much and down where there is too little; short binary fractions, so exact."""
    goal = (
        found[0] if found is not None else (1.1 + step) * (abs(bound) + 1.0)
    )  # further and further while nothing fits
    length = max(goal - value, 1e-6 * abs(goal)) / max(float(over @ over), 1e-12) / (1 + 0.1 * step)
    moved = np.maximum(0.0, prices + length * over)
    return np.round(moved * 2**20) / 2**20


def _solved(priced: Customization, rng: np.random.Generator, run: Run) -> Answer:
    """A least plan of one priced publication and its bound."""
    answer = exact(priced, rng, run=Run(time_limit=max(0.5, run.left() / 4), seed=run.seed))
    if answer.infeasible is not None:
        raise ValueError(f"{priced.name or 'a publication'}: {answer.infeasible}")
    return answer


class _Shared:
    """The publications, what each of their plans takes of each limit, and the plans seen so far."""

    def __init__(self, instances: list[Customization], capacity: Capacity) -> None:
        if not instances:
            raise ValueError("there are no publications: expected at least one instance")
        self.instances, self.capacity, self.limits = instances, capacity, capacity.limits()
        self.places = [self._places(k, instance) for k, instance in enumerate(instances)]
        self.pool: list[dict[str, tuple[CustomizationPlan, float, Vector]]] = [{} for _ in instances]

    def _places(self, k: int, instance: Customization) -> tuple[Any, Any]:
        """Per node, the place of its limit and of its link's limit (-1: unlimited)."""
        named = self.capacity.broker
        broker = range(instance.n) if named is None else checks.listing(named[k], f"broker[{k}]", length=instance.n)
        nodes = {b: p for p, b in enumerate(self.capacity.node)}
        links = {l: len(nodes) + p for p, l in enumerate(self.capacity.link)}
        own = np.array([nodes.get(int(b), -1) for b in broker])
        above = [(int(broker[instance.parent[v]]), int(broker[v])) if v else (-1, -1) for v in range(instance.n)]
        return own, np.array([links.get(pair, -1) for pair in above])

    def priced(self, prices: Vector) -> list[Customization]:
        """The publications with their weights raised by the prices."""
        paid = np.append(prices, 0.0)  # the last for what has no limit
        result = []
        for instance, (own, link) in zip(self.instances, self.places, strict=True):
            nodes = instance.node_weight * (instance.beta + paid[own])
            links = instance.link_weight * (instance.alpha + paid[link])
            result.append(replace(instance, alpha=1.0, beta=1.0, node_weight=nodes, link_weight=links))
        return result

    def taken(self, k: int, plan: CustomizationPlan) -> Vector:
        """What a plan of publication k takes of each limit."""
        instance, (own, link) = self.instances[k], self.places[k]
        work = instance.node_weight * (plan.converts @ instance.conversion_cost)
        load = instance.link_weight * (plan.sends @ instance.tau)
        used = np.zeros(len(self.limits) + 1)
        np.add.at(used, own, work)
        np.add.at(used, link, load)
        return used[:-1]

    def use(self, plans: Sequence[Any]) -> Vector:
        """What plans take together."""
        return np.sum([self.taken(k, plan) for k, plan in enumerate(plans)], axis=0)  # type: ignore[no-any-return]

    def keep(self, answers: Sequence[Answer]) -> None:
        """Put plans into the pool."""
        for k, answer in enumerate(answers):
            plan = answer.solution
            assert isinstance(plan, CustomizationPlan)
            key = repr((plan.sends.indices.tobytes(), plan.converts.indices.tobytes(), plan.converts.indptr.tobytes()))
            if key not in self.pool[k]:
                self.pool[k][key] = plan, evaluate(self.instances[k], plan).cost, self.taken(k, plan)

    def chosen(self) -> tuple[float, tuple[CustomizationPlan, ...]] | None:
        """The cheapest choice of one plan per publication out of the pool that keeps the limits."""
        plans = [(k, *entry) for k, entries in enumerate(self.pool) for entry in entries.values()]
        b = Builder()
        index = np.array([[k, p] for p, (k, *_) in enumerate(plans)])
        z = b.columns("z", index, cost=np.array([cost for _, _, cost, _ in plans]))
        one = b.rows("one", [[k] for k in range(len(self.pool))], low=1.0, high=1.0)
        b.entries(one[index[:, 0]], z)
        if len(self.limits):
            high = np.array([widened(limit) for limit in self.limits.tolist()])
            rows = b.rows("limit", [[p] for p in range(len(high))], high=high)
            for column, (*_, taken) in zip(z.tolist(), plans, strict=True):
                b.entries(rows, np.full(len(rows), column), taken)
        outcome = highs.solve(b.program(), time_limit=5.0)
        if outcome.point is None:
            return None
        picked = [plans[p] for p in np.flatnonzero(outcome.point > 0.5).tolist()]
        return float(sum(cost for _, _, cost, _ in picked)), tuple(plan for _, plan, _, _ in picked)


def _result(
    shared: _Shared,
    prices: Vector,
    found: tuple[float, tuple[CustomizationPlan, ...]] | None,
    iterations: int,
    time_limit: float,
    rng: np.random.Generator,
) -> Together:
    """The joint plan, and the certificate of the best prices."""
    parts = []
    for priced in shared.priced(prices):
        answer = exact(priced, rng, run=Run(time_limit=max(1.0, time_limit / 4), certify=True))
        parts.append({name: value for name, value in (answer.certificate or {}).items() if name != "plan"})
    document: dict[str, Any] = {"yardline": 1, "kind": KIND, "prices": prices.tolist(), "parts": parts}
    exact_bound = _total(shared, prices, [rational(part["bound"], "bound") for part in parts])
    document["bound"] = str(exact_bound)
    bound, cost = as_float(exact_bound), None if found is None else found[0]
    named = {"node": dict(zip(shared.capacity.node, prices.tolist(), strict=False))}
    named["link"] = dict(zip(shared.capacity.link, prices.tolist()[len(named["node"]) :], strict=True))  # type: ignore[arg-type]
    return Together(
        plans=None if found is None else found[1],
        cost=cost,
        bound=bound if cost is None else min(bound, cost),
        gap=None if cost is None else relative_gap(cost, min(bound, cost)),
        prices=named,
        certificate=document,
        iterations=iterations,
    )


def _total(shared: _Shared, prices: Vector, bounds: Sequence[Fraction]) -> Fraction:
    """The parts' bounds less what the prices give back, in rationals; limits widened as the rules say."""
    limits = [Fraction(widened(limit)) for limit in shared.limits.tolist()]
    given = sum((Fraction(p) * limit for p, limit in zip(prices.tolist(), limits, strict=True)), Fraction(0))
    return sum(bounds, Fraction(0)) - given


def check_together(
    instances: Sequence[Customization], capacity: Capacity, certificate: Mapping[str, Any]
) -> Fraction | None:
    """The bound that a certificate proves for publications that share capacity, in rationals; None where it does not hold."""
    shared = _Shared(list(instances), capacity)
    fields = checks.Fields(certificate)
    prices = checks.vector(fields.need("prices"), "prices", length=len(shared.limits))
    parts = checks.listing(fields.need("parts"), "parts", length=len(shared.instances))
    claimed = rational(fields.need("bound"), "bound")
    verdicts = [verify(priced, part) for priced, part in zip(shared.priced(prices), parts, strict=True)]
    if not all(verdict.holds and verdict.bound is not None for verdict in verdicts):
        return None
    bound = _total(shared, prices, [verdict.bound for verdict in verdicts if verdict.bound is not None])
    return bound if bound >= claimed else None
