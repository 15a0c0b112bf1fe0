"""Customization: the instance and the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from yardline.models import checks
from yardline.models.checks import Fields, Indices, Vector
from yardline.models.customization import tree
from yardline.models.instance import Instance, Solution


@dataclass(frozen=True, eq=False, kw_only=True)
class Customization(Instance):
    """A dissemination tree (root 0), formats requested at its nodes, and conversions between formats.

    The content starts at the root in the format `source`. A link pays for every format that it carries, a node for
    every conversion that it does.
    """

    problem: ClassVar[str] = "customization"

    parent: Indices  # of each node; -1 for the root, which is node 0
    requests: csr_array  # nodes x formats, 0/1
    tau: Vector  # transmission cost per format
    conversions: Indices  # rows (from, to), sorted
    conversion_cost: Vector  # in the same order
    source: int
    alpha: float = 1.0  # weight of transmission
    beta: float = 1.0  # weight of conversion
    link_weight: Any = None  # of the link into each node (the root's entry is ignored); 1 where not given
    node_weight: Any = None  # 1 where not given
    format_names: Sequence[str] = ()
    name: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("parent", tree.parents(self.parent))
        put("tau", checks.vector(self.tau, "transmission"))
        put("requests", checks.index_sets(self.requests, "requests", bound=self.m, length=self.n, of="nodes"))
        pairs, costs = _conversions(self.conversions, self.conversion_cost, self.m)
        put("conversions", pairs)
        put("conversion_cost", costs)
        put("source", _format(self.source, "source", self.m))
        put("alpha", checks.number(self.alpha, "alpha"))
        put("beta", checks.number(self.beta, "beta"))
        put("link_weight", _weights(_without_root(self.link_weight), "link_weight", self.n))
        put("node_weight", _weights(self.node_weight, "node_weight", self.n))
        names = self.format_names if len(self.format_names) else [f"f{f}" for f in range(self.m)]
        put("format_names", tuple(checks.listing(names, "formats", length=self.m, of="names")))

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.parent)

    @property
    def m(self) -> int:
        """Number of formats."""
        return len(self.tau)

    @cached_property
    def top_down(self) -> tuple[Indices, ...]:
        """The nodes of each level, the root's first."""
        return tree.levels(self.parent)

    @cached_property
    def requested_below(self) -> NDArray[np.bool_]:
        """Which formats are requested in the subtree of each node: nodes x formats."""
        own = self.requests.toarray().astype(bool)
        return checks.frozen(tree.gathered(own, self.parent, self.top_down))

    @cached_property
    def awaiting(self) -> NDArray[np.bool_]:
        """The nodes with a request in their subtree: only links into those may carry anything."""
        own = np.diff(self.requests.indptr)[:, None] > 0
        return checks.frozen(tree.gathered(own, self.parent, self.top_down)[:, 0])

    @cached_property
    def send_cost(self) -> Vector:
        """What the link into v pays for carrying format f: nodes x formats."""
        return checks.frozen(self.alpha * self.link_weight[:, None] * self.tau)

    @cached_property
    def convert_cost(self) -> Vector:
        """What node v pays for each conversion: nodes x conversions."""
        return checks.frozen(self.beta * self.node_weight[:, None] * self.conversion_cost)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """The instance that a JSON document states."""
        fields = Fields(document)
        formats = _table(fields.need("formats"), "formats", ("name", "transmission"))
        conversions = _table(fields.need("conversions"), "conversions", ("from", "to", "cost"))
        instance = cls(
            parent=fields.need("parent"),
            requests=fields.need("requests"),
            tau=_costs(formats["transmission"], "formats[{}].transmission"),
            conversions=_pairs(conversions, len(formats["name"])),
            conversion_cost=_costs(conversions["cost"], "conversions[{}].cost"),
            source=fields.need("source"),
            alpha=fields.take("alpha", 1.0),
            beta=fields.take("beta", 1.0),
            link_weight=fields.take("link_weight"),
            node_weight=fields.take("node_weight"),
            format_names=[checks.text(name, f"formats[{f}].name") for f, name in enumerate(formats["name"])],
            name=fields.take("name", ""),
            meta=fields.take("meta", {}),
        )
        fields.done()
        return instance

    def document(self) -> dict[str, Any]:
        """The JSON document of this instance."""
        formats = zip(self.format_names, self.tau.tolist(), strict=True)
        conversions = zip(self.conversions.tolist(), self.conversion_cost.tolist(), strict=True)
        document: dict[str, Any] = {
            "parent": [None, *self.parent[1:].tolist()],
            "requests": checks.members(self.requests),
            "formats": [{"name": name, "transmission": tau} for name, tau in formats],
            "conversions": [{"from": f, "to": g, "cost": cost} for (f, g), cost in conversions],
            "source": self.source,
            "alpha": self.alpha,
            "beta": self.beta,
        }
        for weight in ("link_weight", "node_weight"):
            if not (getattr(self, weight) == 1).all():
                document[weight] = getattr(self, weight).tolist()
        return document

    def statement(self) -> dict[str, Any]:
        """What the judge reads."""
        names = ("parent", "requests", "tau", "conversions", "conversion_cost", "source", "alpha", "beta")
        return {name: getattr(self, name) for name in (*names, "link_weight", "node_weight")}


def _table(given: object, name: str, columns: Sequence[str]) -> dict[str, Sequence[Any]]:
    """The columns of a list of objects, or of a table that already comes as columns (Parquet)."""
    if isinstance(given, Mapping):
        fields = Fields(given, name)
        table = {column: checks.listing(fields.need(column), f"{name}.{column}") for column in columns}
        fields.done()
        for column in columns[1:]:
            checks.listing(table[column], f"{name}.{column}", length=len(table[columns[0]]))
        return table
    result: dict[str, list[Any]] = {column: [] for column in columns}
    for row, entry in enumerate(checks.listing(given, name)):
        fields = Fields(entry, f"{name}[{row}]")
        for column in columns:
            result[column].append(fields.need(column))
        fields.done()
    return dict(result)


def _costs(values: Sequence[Any], field: str) -> Vector:
    return np.array([checks.number(value, field.format(row)) for row, value in enumerate(values)], dtype=np.float64)


def _pairs(table: Mapping[str, Sequence[Any]], m: int) -> Indices:
    pairs = [
        (_format(f, f"conversions[{row}].from", m), _format(g, f"conversions[{row}].to", m))
        for row, (f, g) in enumerate(zip(table["from"], table["to"], strict=True))
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _format(value: object, field: str, m: int) -> int:
    if m == 0:
        raise ValueError("formats is empty: expected at least the source format")
    return checks.integer(value, field, high=m - 1)


def _conversions(given: object, costs: object, m: int) -> tuple[Indices, Vector]:
    """Pairs (from, to) in sorted order, each once, with their costs."""
    rows = checks.listing(given, "conversions")
    pairs = np.array([checks.index_vector(row, f"conversions[{r}]", bound=m, length=2) for r, row in enumerate(rows)])
    pairs = pairs.reshape(-1, 2).astype(np.int64)
    for row in np.flatnonzero(pairs[:, 0] == pairs[:, 1])[:1]:
        raise ValueError(f"conversions[{row}] turns format {pairs[row, 0]} into itself: expected two different formats")
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    ordered = pairs[order]
    for position in np.flatnonzero((ordered[1:] == ordered[:-1]).all(axis=1))[:1]:
        (f, g), row = ordered[position].tolist(), int(order[position + 1])
        raise ValueError(
            f"conversions[{row}] turns format {f} into {g}, as does an earlier one: expected each pair once"
        )
    price = checks.vector(costs, "conversions cost", length=len(rows))
    return checks.frozen(ordered), checks.frozen(price[order])


def _without_root(given: Any) -> Any:
    """Link weights without what was given for the root, which has no link."""
    if given is None:
        return None
    rows = checks.listing(given, "link_weight")
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "iuf" and len(rows):
        return np.concatenate([[1.0], rows[1:].astype(np.float64)])
    return [1.0, *rows[1:]] if len(rows) else rows


def _weights(given: Any, field: str, n: int) -> Vector:
    if given is None:
        return checks.frozen(np.ones(n))
    return checks.vector(given, field, length=n, of="nodes")


@dataclass(frozen=True, eq=False, kw_only=True)
class CustomizationPlan(Solution):
    """The formats on the link into each node, and the conversions done at each node."""

    problem: ClassVar[str] = "customization"

    sends: csr_array  # nodes x formats, 0/1
    converts: csr_array  # nodes x conversions (in the instance's order), 0/1
    conversions: Indices  # the instance's pairs (from, to)

    @classmethod
    def of(cls, instance: Customization, *, sends: object, converts: object) -> CustomizationPlan:
        """A plan from format indices and conversion indices per node, well-formed for the instance."""
        links = checks.index_sets(sends, "sends", bound=instance.m, length=instance.n, of="nodes")
        done = checks.index_sets(converts, "converts", bound=len(instance.conversions), length=instance.n, of="nodes")
        return cls(sends=links, converts=done, conversions=instance.conversions)

    @classmethod
    def from_document(cls, document: Mapping[str, Any], instance: Any) -> Self:
        """The plan that a JSON document states: conversions are pairs [from, to]."""
        fields = Fields(document)
        position = {(f, g): p for p, (f, g) in enumerate(instance.conversions.tolist())}
        nodes = checks.listing(fields.need("converts"), "converts", length=instance.n, of="nodes")
        converts = [_known(done, f"converts[{v}]", position) for v, done in enumerate(nodes)]
        plan = cls.of(instance, sends=fields.need("sends"), converts=converts)
        fields.done()
        return plan  # type: ignore[return-value]

    def document(self) -> dict[str, Any]:
        """The JSON document of this plan."""
        pairs = self.conversions.tolist()
        converts = [[pairs[p] for p in done] for done in checks.members(self.converts)]
        return {"sends": checks.members(self.sends), "converts": converts}


def _known(done: object, field: str, position: Mapping[tuple[int, int], int]) -> list[int]:
    """The indices of conversions given as pairs [from, to]."""
    result: list[int] = []
    for p, pair in enumerate(checks.listing(done, field)):
        ends = checks.listing(pair, f"{field}[{p}]", length=2, of="formats")
        key = (checks.integer(ends[0], f"{field}[{p}][0]"), checks.integer(ends[1], f"{field}[{p}][1]"))
        if key not in position:
            checks.fail(f"{field}[{p}]", list(key), "a conversion [from, to] of the instance")
        if position[key] in result:
            raise ValueError(f"{field} names {list(key)} twice: expected each conversion once")
        result.append(position[key])
    return result


INSTANCE, SOLUTION = Customization, CustomizationPlan
