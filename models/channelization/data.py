"""Channelization: the instance and the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array

from yardline.models import checks
from yardline.models.checks import Fields, Indices, Vector
from yardline.models.instance import Instance, Solution

MODES = ("constrained", "unconstrained")


@dataclass(frozen=True, eq=False, kw_only=True)
class Channelization(Instance):
    """n flows with rates, m users with the flows they want, at most K groups.

    constrained: a flow is in at most one group.  hybrid: a pair (flow, user) may also be served by unicast.
    """

    problem: ClassVar[str] = "channelization"

    rates: Vector
    wants: csr_array  # users x flows, 0/1
    groups: int
    mode: str
    hybrid: bool
    receive: float = 1.0
    send: float = 1.0
    unicast: float = 1.0
    unicast_budget: float | None = None
    receive_weight: Any = None  # per user, or users x flows; 1 where not given
    send_weight: Any = None  # per flow; 1 where not given
    name: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("rates", checks.vector(self.rates, "rates"))
        put("wants", checks.index_sets(self.wants, "wants", bound=self.n))
        put("groups", checks.integer(self.groups, "groups"))
        put("mode", checks.choice(self.mode, "mode", MODES))
        put("hybrid", checks.flag(self.hybrid, "hybrid"))
        for weight in ("receive", "send", "unicast"):
            put(weight, checks.number(getattr(self, weight), f"weights.{weight}"))
        if self.unicast_budget is not None:
            put("unicast_budget", checks.number(self.unicast_budget, "unicast_budget"))
        put("receive_weight", _receive_weight(self.receive_weight, self.m, self.n))
        ones = checks.frozen(np.ones(self.n))
        given = self.send_weight
        put("send_weight", ones if given is None else checks.vector(given, "send_weight", length=self.n, of="flows"))

    @property
    def n(self) -> int:
        """Number of flows."""
        return len(self.rates)

    @property
    def m(self) -> int:
        """Number of users."""
        return int(self.wants.shape[0])

    @property
    def unicast_price(self) -> float:
        """Cost of one unit of unicast rate."""
        return self.unicast * (self.receive + self.send)

    @cached_property
    def audience(self) -> csr_array:
        """Who wants each flow: flows x users, 0/1."""
        return csr_array(self.wants.T)

    @cached_property
    def wanted(self) -> Indices:
        """The flows that somebody wants."""
        return np.flatnonzero(np.diff(self.audience.indptr))

    @property
    def weights_per_flow(self) -> bool:
        """Whether receive_weight differs between the flows of a user."""
        return bool(self.receive_weight.ndim == 2)

    @cached_property
    def receive_cost(self) -> Vector:
        """What user j pays for receiving flow i once: users x flows."""
        weight = self.receive_weight if self.weights_per_flow else self.receive_weight[:, None]
        return checks.frozen(self.receive * weight * self.rates)

    @cached_property
    def send_cost(self) -> Vector:
        """What a group pays for carrying flow i."""
        return checks.frozen(self.send * self.send_weight * self.rates)

    @property
    def most_groups(self) -> int:
        """Groups that can be of use: one per wanted flow is as good as any number."""
        return min(self.groups, len(self.wanted))

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """The instance that a JSON document states."""
        fields = Fields(document)
        weights = Fields(fields.take("weights", {}), "weights")
        instance = cls(
            rates=fields.need("rates"),
            wants=fields.need("wants"),
            groups=fields.need("groups"),
            mode=fields.need("mode"),
            hybrid=fields.need("hybrid"),
            receive=weights.take("receive", 1.0),
            send=weights.take("send", 1.0),
            unicast=weights.take("unicast", 1.0),
            unicast_budget=fields.take("unicast_budget"),
            receive_weight=fields.take("receive_weight"),
            send_weight=fields.take("send_weight"),
            name=fields.take("name", ""),
            meta=fields.take("meta", {}),
        )
        weights.done()
        fields.done()
        return instance

    def document(self) -> dict[str, Any]:
        """The JSON document of this instance."""
        document: dict[str, Any] = {
            "rates": self.rates.tolist(),
            "wants": checks.members(self.wants),
            "groups": self.groups,
            "weights": {"receive": self.receive, "send": self.send, "unicast": self.unicast},
            "mode": self.mode,
            "hybrid": self.hybrid,
        }
        if self.unicast_budget is not None:
            document["unicast_budget"] = self.unicast_budget
        if not (self.receive_weight == 1).all():
            document["receive_weight"] = self.receive_weight.tolist()
        if not (self.send_weight == 1).all():
            document["send_weight"] = self.send_weight.tolist()
        return document

    def statement(self) -> dict[str, Any]:
        """What the judge reads."""
        names = ("rates", "wants", "groups", "mode", "hybrid", "receive", "send", "unicast", "unicast_budget")
        return {name: getattr(self, name) for name in (*names, "receive_weight", "send_weight")}


def _receive_weight(given: Any, m: int, n: int) -> Vector:
    """Weights per user where all flows of each user have the same, else per user and flow."""
    if given is None:
        return checks.frozen(np.ones(m))
    rows = checks.listing(given, "receive_weight", length=m, of="users")
    nested = rows.ndim == 2 if isinstance(rows, np.ndarray) else any(isinstance(row, (list, tuple)) for row in rows)
    if not nested:
        return checks.vector(rows, "receive_weight")
    full = checks.matrix(rows, "receive_weight", shape=(m, n))
    if (full == full[:, :1]).all():  # also where there is no flow to weigh
        return checks.frozen(full[:, 0].copy() if n else np.ones(m))
    return full


@dataclass(frozen=True, eq=False, kw_only=True)
class ChannelizationPlan(Solution):
    """The flows of each group, the groups of each user, and the pairs (flow, user) served by unicast."""

    problem: ClassVar[str] = "channelization"

    groups: csr_array  # groups x flows, 0/1
    subscriptions: csr_array  # users x groups, 0/1
    unicast: Indices  # pairs (flow, user), one per row, sorted

    @classmethod
    def of(
        cls, instance: Channelization, *, groups: object, subscriptions: object, unicast: object = ()
    ) -> ChannelizationPlan:
        """A plan from lists of indices, well-formed for the instance."""
        flows = checks.index_sets(groups, "groups", bound=instance.n)
        joined = checks.index_sets(subscriptions, "subscriptions", bound=flows.shape[0], length=instance.m, of="users")
        return cls(groups=flows, subscriptions=joined, unicast=_pairs(unicast, instance))

    @classmethod
    def from_document(cls, document: Mapping[str, Any], instance: Any) -> Self:
        """The plan that a JSON document states."""
        fields = Fields(document)
        plan = cls.of(
            instance,
            groups=fields.need("groups"),
            subscriptions=fields.need("subscriptions"),
            unicast=fields.take("unicast", []),
        )
        fields.done()
        return plan  # type: ignore[return-value]

    def document(self) -> dict[str, Any]:
        """The JSON document of this plan."""
        return {
            "groups": checks.members(self.groups),
            "subscriptions": checks.members(self.subscriptions),
            "unicast": self.unicast.tolist(),
        }


def _pairs(given: object, instance: Channelization) -> Indices:
    """Pairs (flow, user), each once."""
    rows = checks.listing(given, "unicast")
    for r, row in enumerate(rows):
        checks.listing(row, f"unicast[{r}]", length=2, of="entries")
    flows = checks.index_vector([row[0] for row in rows], "unicast flows", bound=instance.n)
    users = checks.index_vector([row[1] for row in rows], "unicast users", bound=instance.m)
    codes = np.unique(users * max(1, instance.n) + flows)
    if len(codes) < len(rows):
        raise ValueError("unicast names a pair twice: expected each pair [flow, user] once")
    pairs = np.stack([codes % max(1, instance.n), codes // max(1, instance.n)], axis=1)
    return checks.frozen(pairs.reshape(-1, 2).astype(np.int64))


INSTANCE, SOLUTION = Channelization, ChannelizationPlan
