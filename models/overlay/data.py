"""Overlay: the instance and the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from yardline.models import checks
from yardline.models.checks import Fields, Indices, Vector
from yardline.models.instance import Instance, Solution
from yardline.models.numbers import widened
from yardline.models.overlay import fields as read
from yardline.models.overlay.fields import Trees

TOPOLOGIES = ("mesh", "tree")


@dataclass(frozen=True, eq=False, kw_only=True)
class Overlay(Instance):
    """Users publish and subscribe on channels; each connects to one broker; brokers forward along trees.

    mesh: each source broker and channel has its own tree.  tree: one spanning tree of brokers carries all.
    """

    problem: ClassVar[str] = "overlay"

    generate: Vector  # users x channels: the rate that a user publishes on a channel
    subscribes: csr_array  # users x channels, 0/1
    access_cost: Vector  # users x brokers; infinite where the broker is not open to the user
    core_cost: Vector  # brokers x brokers, symmetric, zero diagonal
    capacity: Vector  # per broker; infinite where unlimited
    topology: str
    metric: bool = False  # whether core_cost is claimed to obey the triangle inequality
    name: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("generate", checks.matrix(read.stacked(self.generate), "generate"))
        put("core_cost", read.core_cost(self.core_cost))
        put("subscribes", read.subscriptions(self.subscribes, self.U, self.T))
        shape = (self.U, self.B)
        put("access_cost", read.matrix_with_gaps(self.access_cost, "access_cost", shape, "null where not open"))
        put("capacity", read.vector_with_gaps(self.capacity, "capacity", self.B, "null where unlimited"))
        put("topology", checks.choice(self.topology, "topology", TOPOLOGIES))
        put("metric", checks.flag(self.metric, "metric"))
        if self.metric:
            read.check_triangles(self.core_cost)

    @property
    def U(self) -> int:
        """Number of users."""
        return len(self.generate)

    @property
    def B(self) -> int:
        """Number of brokers."""
        return len(self.core_cost)

    @property
    def T(self) -> int:
        """Number of channels."""
        return int(self.generate.shape[1])

    @cached_property
    def rates(self) -> Vector:
        """What of `generate` counts: users x channels, 0 where no other user subscribes."""
        others = np.asarray(self.subscribes.sum(axis=0)).reshape(1, -1) - self.subscribes.toarray()
        return checks.frozen(np.where(others > 0, self.generate, 0.0))

    @cached_property
    def traffic(self) -> Vector:
        """in + out of each user: what its access link carries and its broker must have room for."""
        from_others = self.subscribes.multiply(self.rates.sum(axis=0) - self.rates)
        received = np.asarray(from_others.sum(axis=1)).reshape(-1)
        return checks.frozen(np.maximum(received, 0.0) + self.rates.sum(axis=1))

    @cached_property
    def limit(self) -> Vector:
        """The widened capacity of each broker, which loads are held against."""
        return checks.frozen(widened(self.capacity))  # type: ignore[arg-type]

    @cached_property
    def open(self) -> NDArray[np.bool_]:
        """Which broker is open to which user: users x brokers."""
        return checks.frozen(np.isfinite(self.access_cost))

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Open, and with room for the user alone: users x brokers."""
        return checks.frozen(self.open & (self.traffic[:, None] <= self.limit))

    @cached_property
    def price(self) -> Vector:
        """What a user pays at a broker for its access link: users x brokers, 0 where not open."""
        cost = np.where(self.open, self.access_cost, 0.0)
        return checks.frozen(self.traffic[:, None] * cost)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """The instance that a JSON document states."""
        fields = Fields(document)
        instance = cls(
            generate=fields.need("generate"),
            subscribes=fields.need("subscribes"),
            access_cost=fields.need("access_cost"),
            core_cost=fields.need("core_cost"),
            capacity=fields.need("capacity"),
            topology=fields.need("topology"),
            metric=fields.take("metric", False),
            name=fields.take("name", ""),
            meta=fields.take("meta", {}),
        )
        fields.done()
        return instance

    def document(self) -> dict[str, Any]:
        """The JSON document of this instance."""
        document: dict[str, Any] = {
            "generate": self.generate.tolist(),
            "subscribes": checks.members(self.subscribes),
            "access_cost": [read.with_nulls(row) for row in self.access_cost],
            "core_cost": self.core_cost.tolist(),
            "capacity": read.with_nulls(self.capacity),
            "topology": self.topology,
        }
        if self.metric:
            document["metric"] = True
        return document

    def statement(self) -> dict[str, Any]:
        """What the judge reads: not `metric`, which claims something about core_cost and changes no cost."""
        names = ("generate", "subscribes", "access_cost", "core_cost", "capacity", "topology")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False, kw_only=True)
class OverlayPlan(Solution):
    """The broker of each user; mesh: a tree per source broker and channel (or none: the judge takes minimum
    spanning trees); tree: the links of the one spanning tree."""

    problem: ClassVar[str] = "overlay"

    broker: Indices
    trees: Trees | None = None
    links: Indices | None = None  # one row per link, lower broker first, sorted

    @classmethod
    def of(cls, instance: Overlay, *, broker: object, trees: object = None, links: object = None) -> OverlayPlan:
        """A plan from lists, well-formed for the instance; `trees` holds (source, channel, links) or objects."""
        mesh = instance.topology == "mesh"
        if mesh and links is not None:
            checks.fail("links", links, "nothing: topology is mesh, which takes trees")
        if not mesh and trees is not None:
            checks.fail("trees", trees, "nothing: topology is tree, which takes links")
        if not mesh and links is None:
            raise ValueError("links is missing: topology is tree, which takes the links of its spanning tree")
        return cls(
            broker=checks.index_vector(broker, "broker", bound=instance.B, length=instance.U, of="users"),
            trees=None if trees is None else read.trees(trees, instance.B, instance.T),
            links=None if links is None else read.links(links, "links", instance.B),
        )

    @classmethod
    def from_document(cls, document: Mapping[str, Any], instance: Any) -> Self:
        """The plan that a JSON document states."""
        fields = Fields(document)
        broker, trees, links = fields.need("broker"), fields.take("trees"), fields.take("links")
        fields.done()
        return cls.of(instance, broker=broker, trees=trees, links=links)  # type: ignore[return-value]

    def document(self) -> dict[str, Any]:
        """The JSON document of this plan."""
        document: dict[str, Any] = {"broker": self.broker.tolist()}
        if self.trees is not None:
            document["trees"] = [
                {"source": source, "channel": channel, "links": links.tolist()} for source, channel, links in self.trees
            ]
        if self.links is not None:
            document["links"] = self.links.tolist()
        return document


INSTANCE, SOLUTION = Overlay, OverlayPlan
