"""Subscriber assignment: the instance and the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from yardline.models import checks
from yardline.models.assignment import parts
from yardline.models.checks import Fields, Indices, Vector
from yardline.models.instance import Instance, Solution

MEASURES = ("path", "last_hop")
CONTAINMENTS = ("rectangle", "union")


@dataclass(frozen=True, eq=False, kw_only=True)
class Assignment(Instance):
    """A publisher, a tree of brokers, m subscribers: each goes to a leaf near enough, filters cover interests, nested.

    Points lie in the network space R^t, interests and filters are closed boxes in the event space R^d.
    """

    problem: ClassVar[str] = "assignment"

    publisher: Vector  # t
    broker_at: Vector  # brokers x t
    parent: Indices  # a broker, or -1 for the publisher
    at: Vector  # subscribers x t
    low: Vector  # subscribers x d
    high: Vector  # subscribers x d
    beta: float
    beta_max: float
    max_delay: float | None = None  # this or max_latency
    max_latency: Any = None  # per subscriber
    latency_measure: str = "path"
    alpha: Any = 3  # boxes that a filter may have, for all brokers or for each
    kappa: Any = None  # capacity fraction per broker, 0 at inner ones; equal where not given
    containment: str = "rectangle"
    edges: Any = None  # of the density's grid, per dimension; None: uniform
    mass: Any = None  # of each cell of that grid
    name: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._put("publisher", parts.point(self.publisher, "publisher"))
        self._check_brokers()
        self._check_subscribers()
        self._check_limits()
        self._put("containment", checks.choice(self.containment, "containment", CONTAINMENTS))
        if self.edges is not None:
            self._put("edges", parts.grid_edges(self.edges, self.d))
            self._put("mass", parts.grid_mass(self.mass, tuple(len(e) - 1 for e in self.edges)))

    def _put(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_brokers(self) -> None:
        self._put("broker_at", parts.table(self.broker_at, "brokers.at", (None, self.t)))
        if not len(self.broker_at):
            raise ValueError("brokers.at is empty: expected at least one broker")
        self._put("parent", parts.tree(self.parent, "brokers.parent", len(self.broker_at)))
        self._put("alpha", parts.complexities(self.alpha, self.n))
        self._put("kappa", parts.fractions(self.kappa, self.leaves, self.n))

    def _check_subscribers(self) -> None:
        self._put("at", parts.table(self.at, "subscribers.at", (None, self.t)))
        dimensions = len(checks.listing(self.edges, "density.edges")) if self.edges is not None else None
        self._put("low", parts.table(self.low, "subscribers.low", (self.m, None)))
        if not self.m:
            self._put("low", checks.frozen(np.zeros((0, dimensions or self.low.shape[1] or 1))))
        self._put("high", parts.table(self.high, "subscribers.high", (self.m, self.d)))
        parts.check_boxes(self.low, self.high, "subscribers")

    def _check_limits(self) -> None:
        self._put("latency_measure", checks.choice(self.latency_measure, "latency.measure", MEASURES))
        if (self.max_delay is None) == (self.max_latency is None):
            raise ValueError("latency needs max_delay or max_latency: expected exactly one of them")
        if self.max_delay is not None:
            self._put("max_delay", checks.number(self.max_delay, "latency.max_delay"))
        else:
            limits = checks.vector(self.max_latency, "latency.max_latency", length=self.m, of="subscribers")
            self._put("max_latency", limits)
        self._put("beta", checks.number(self.beta, "load.desired", low=1.0))
        self._put("beta_max", checks.number(self.beta_max, "load.max", low=1.0))
        if self.beta_max < self.beta:
            checks.fail("load.max", self.beta_max, f"at least load.desired, which is {self.beta:g}")

    @property
    def t(self) -> int:
        """Dimensions of the network space."""
        return len(self.publisher)

    @property
    def d(self) -> int:
        """Dimensions of the event space."""
        return int(self.low.shape[1])

    @property
    def n(self) -> int:
        """Number of brokers."""
        return len(self.parent)

    @property
    def m(self) -> int:
        """Number of subscribers."""
        return len(self.at)

    @cached_property
    def leaves(self) -> Indices:
        """The brokers without children."""
        return checks.frozen(np.setdiff1d(np.arange(self.n), self.parent))

    @cached_property
    def level(self) -> Indices:
        """How many brokers stand between each broker and the publisher."""
        return checks.frozen(parts.levels(self.parent))

    @cached_property
    def top_down(self) -> list[int]:
        """All brokers, parents before children."""
        return np.argsort(self.level, kind="stable").tolist()  # type: ignore[no-any-return]

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """The instance that a JSON document states."""
        fields = Fields(document)
        brokers = Fields(fields.need("brokers"), "brokers")
        subscribers = Fields(fields.need("subscribers"), "subscribers")
        latency = Fields(fields.need("latency"), "latency")
        load = Fields(fields.need("load"), "load")
        density = parts.density_fields(fields.take("density"))
        instance = cls(
            publisher=fields.need("publisher"),
            broker_at=brokers.need("at"),
            parent=brokers.need("parent"),
            alpha=brokers.take("filter_complexity", 3),
            kappa=brokers.take("capacity"),
            at=subscribers.need("at"),
            low=subscribers.need("low"),
            high=subscribers.need("high"),
            max_delay=latency.take("max_delay"),
            max_latency=latency.take("max_latency"),
            latency_measure=latency.take("measure", "path"),
            beta=load.need("desired"),
            beta_max=load.need("max"),
            containment=fields.take("containment", "rectangle"),
            edges=density[0],
            mass=density[1],
            name=fields.take("name", ""),
            meta=fields.take("meta", {}),
        )
        for part in (brokers, subscribers, latency, load, fields):
            part.done()
        return instance

    def tables(self) -> dict[str, dict[str, Vector]]:
        """The fields that are large at a million subscribers, as arrays: what may stand beside the JSON as Parquet."""
        return {"subscribers": {"at": self.at, "low": self.low, "high": self.high}}

    def document(self) -> dict[str, Any]:
        """The JSON document of this instance."""
        tables = {
            field: {name: rows.tolist() for name, rows in columns.items()} for field, columns in self.tables().items()
        }
        return {**self.skeleton(), **tables}

    def skeleton(self) -> dict[str, Any]:
        """The JSON document without what `tables` holds."""
        brokers = {"at": self.broker_at.tolist(), "parent": self.parent.tolist()}
        brokers["filter_complexity"] = self.alpha.tolist()
        if not np.array_equal(self.kappa, parts.fractions(None, self.leaves, self.n)):
            brokers["capacity"] = self.kappa.tolist()
        latency: dict[str, Any] = {"measure": self.latency_measure}
        if self.max_delay is not None:
            latency["max_delay"] = self.max_delay
        else:
            latency["max_latency"] = self.max_latency.tolist()
        document: dict[str, Any] = {
            "publisher": self.publisher.tolist(),
            "brokers": brokers,
            "latency": latency,
            "load": {"desired": self.beta, "max": self.beta_max},
            "containment": self.containment,
        }
        if self.edges is not None:
            document["density"] = {"edges": [e.tolist() for e in self.edges], "mass": self.mass.tolist()}
        return document

    def statement(self) -> dict[str, Any]:
        """What the judge reads."""
        names = ("publisher", "broker_at", "parent", "alpha", "kappa", "at", "low", "high", "beta", "beta_max")
        rest = ("max_delay", "max_latency", "latency_measure", "containment", "mass")
        statement = {name: getattr(self, name) for name in (*names, *rest)}
        for k, values in enumerate(self.edges or ()):
            statement[f"edges{k}"] = values
        return statement


@dataclass(frozen=True, eq=False, kw_only=True)
class AssignmentPlan(Solution):
    """The leaf of every subscriber, and the boxes of every broker's filter."""

    problem: ClassVar[str] = "assignment"

    leaf: Indices  # a broker per subscriber
    broker: Indices  # whose box it is, per box, ascending
    low: Vector  # boxes x d
    high: Vector  # boxes x d
    brokers: int

    @classmethod
    def of(cls, instance: Assignment, *, leaf: object, filters: object) -> AssignmentPlan:
        """A plan from lists, well-formed for the instance: a box is {"low": [d], "high": [d]} or a pair."""
        rows = checks.listing(filters, "filters", length=instance.n, of="brokers")
        owner: list[int] = []
        low: list[Any] = []
        high: list[Any] = []
        for b, row in enumerate(rows):
            for r, box in enumerate(checks.listing(row, f"filters[{b}]")):
                ends = parts.box(box, f"filters[{b}][{r}]", instance.d)
                owner.append(b)
                low.append(ends[0])
                high.append(ends[1])
        return cls.from_arrays(instance, leaf=leaf, broker=owner, low=low, high=high)

    @classmethod
    def from_arrays(
        cls, instance: Assignment, *, leaf: object, broker: Sequence[int] | Indices, low: Any, high: Any
    ) -> AssignmentPlan:
        """A plan from arrays: box r belongs to broker[r]."""
        owner = checks.index_vector(broker, "filters' brokers", bound=instance.n)
        order = np.argsort(owner, kind="stable")
        lows, highs = (np.asarray(side, dtype=np.float64).reshape(-1, instance.d)[order] for side in (low, high))
        parts.check_boxes(lows, highs, "filters")
        return cls(
            leaf=checks.index_vector(leaf, "leaf", bound=instance.n, length=instance.m, of="subscribers"),
            broker=checks.frozen(owner[order]),
            low=checks.frozen(lows),
            high=checks.frozen(highs),
            brokers=instance.n,
        )

    def boxes(self, b: int) -> tuple[Vector, Vector]:
        """Lower and upper corners of the boxes of a broker."""
        first, last = np.searchsorted(self.broker, (b, b + 1))
        return self.low[first:last], self.high[first:last]

    @classmethod
    def from_document(cls, document: Mapping[str, Any], instance: Any) -> Self:
        """The plan that a JSON document states."""
        fields = Fields(document)
        plan = cls.of(instance, leaf=fields.need("leaf"), filters=fields.need("filters"))
        fields.done()
        return plan  # type: ignore[return-value]

    def document(self) -> dict[str, Any]:
        """The JSON document of this plan."""
        filters: list[list[dict[str, Any]]] = [[] for _ in range(self.brokers)]
        for b, low, high in zip(self.broker.tolist(), self.low.tolist(), self.high.tolist(), strict=True):
            filters[b].append({"low": low, "high": high})
        return {"leaf": self.leaf.tolist(), "filters": filters}


INSTANCE, SOLUTION = Assignment, AssignmentPlan
