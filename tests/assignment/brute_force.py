"""The least cost of tiny instances: every leaf for every subscriber, every filter for every broker.

Written from the statement of the problem alone. The event space is a set of sample points: per axis all edges and the
middles between them. A box is the set of points in it, so "inside the union" is a subset, and the measure of a set of
points is that of its middles (a middle stands for its open interval).
"""

import functools
import itertools
import math

EPS = 1e-9


def least_cost(document: dict) -> float:
    """The cost of the best valid plan, or infinity."""
    return _Search(document).run()


class _Search:
    def __init__(self, document: dict) -> None:
        brokers, subscribers = document["brokers"], document["subscribers"]
        self.parent = brokers["parent"]
        self.leaves = [b for b in range(len(self.parent)) if b not in self.parent]
        alpha = brokers.get("filter_complexity", 3)
        self.alpha = alpha if isinstance(alpha, list) else [alpha] * len(self.parent)
        self.boxes_of = list(zip(subscribers["low"], subscribers["high"], strict=True))
        self.union = document.get("containment") == "union"
        self.candidates = candidates(document)
        self.caps = caps(document, self.leaves)
        self.space = Space(document, self.boxes_of)
        self.boxes = self._boxes()

    def run(self) -> float:
        best = math.inf
        for choice in itertools.product(*self.candidates):
            if all(choice.count(b) <= self.caps[b] for b in self.leaves):
                roots = [b for b in range(len(self.parent)) if self.parent[b] == -1]
                best = min(best, sum(self.cheapest(b, None, choice) for b in roots))
        return best

    def _boxes(self) -> list[tuple]:
        """Boxes that filters may need: between all coordinates, or (rectangles in the plane) hulls of interests."""
        if self.union or self.space.d == 1:
            sides = [list(itertools.combinations_with_replacement(axis, 2)) for axis in self.space.edges]
            return [tuple(zip(*ends, strict=True)) for ends in itertools.product(*sides)]
        hulls = set()
        for size in range(1, len(self.boxes_of) + 1):
            for group in itertools.combinations(self.boxes_of, size):
                low = tuple(min(b[0][k] for b in group) for k in range(self.space.d))
                hulls.add((low, tuple(max(b[1][k] for b in group) for k in range(self.space.d))))
        return sorted(hulls)

    @functools.cached_property
    def filters(self) -> dict[int, list[tuple]]:
        """Per number of boxes allowed, all filters as (measure, points, boxes); `union`: each set of points once."""
        result = {}
        points = {box: self.space.points(box) for box in self.boxes}
        for most in set(self.alpha):
            found = {}
            for size in range(min(most, len(self.boxes)) + 1):
                for group in itertools.combinations(self.boxes, size):
                    mask = functools.reduce(int.__or__, (points[box] for box in group), 0)
                    found.setdefault(mask if self.union else group, (self.space.measure(mask), mask, group))
            result[most] = sorted(found.values())
        return result

    def cheapest(self, b: int, outer: tuple | None, choice: tuple) -> float:
        """The least cost of broker b and all below it, inside its parent's filter."""
        members = tuple(s for s, leaf in enumerate(choice) if self._under(leaf, b))
        return self._cheapest(b, outer, members, tuple(choice[s] for s in members)) if members else 0.0

    @functools.cache  # noqa: B019
    def _cheapest(self, b: int, outer: tuple | None, members: tuple, leaves: tuple) -> float:
        best = math.inf
        for filter in self.filters[self.alpha[b]]:
            if filter[0] >= best:
                break
            if outer is not None and not self._nested(filter, outer):
                continue
            if not all(self._holds(filter, s) for s in members):
                continue
            cost = filter[0]
            for child in (c for c, above in enumerate(self.parent) if above == b):
                own = [i for i, leaf in enumerate(leaves) if self._under(leaf, child)]
                if own:
                    cost += self._cheapest(child, filter, tuple(members[i] for i in own), tuple(leaves[i] for i in own))
            best = min(best, cost)
        return best

    def _under(self, leaf: int, b: int) -> bool:
        while leaf not in (-1, b):
            leaf = self.parent[leaf]
        return leaf == b

    def _holds(self, filter: tuple, s: int) -> bool:
        if self.union:
            return self.space.points(self.boxes_of[s]) & ~filter[1] == 0
        return any(within(self.boxes_of[s], box) for box in filter[2])

    def _nested(self, filter: tuple, outer: tuple) -> bool:
        if self.union:
            return filter[1] & ~outer[1] == 0
        return all(any(within(box, around) for around in outer[2]) for box in filter[2])


class Space:
    """Sample points of the event space."""

    def __init__(self, document: dict, boxes: list) -> None:
        self.d = len(boxes[0][0])
        self.density = document.get("density")
        self.edges = []
        for k in range(self.d):
            values = {end[k] for box in boxes for end in box}
            if self.density:
                values |= set(self.density["edges"][k])
            self.edges.append(sorted(values))
        axes = [sorted({*e, *((a + b) / 2 for a, b in itertools.pairwise(e))}) for e in self.edges]
        self.all = list(itertools.product(*axes))
        self.weights = [self._weight(point) for point in self.all]
        self._known: dict[tuple, int] = {}

    def points(self, box: tuple) -> int:
        """The points in a box, as bits."""
        key = tuple(map(tuple, box))
        if key not in self._known:
            self._known[key] = self._points(key)
        return self._known[key]

    def _points(self, box: tuple) -> int:
        inside = (all(a <= x <= b for a, x, b in zip(box[0], p, box[1], strict=True)) for p in self.all)
        return sum(1 << i for i, yes in enumerate(inside) if yes)

    def measure(self, mask: int) -> float:
        return sum(w for i, w in enumerate(self.weights) if mask >> i & 1)

    def _weight(self, point: tuple) -> float:
        """The measure of the cell around a middle; nothing at edges."""
        weight, place = 1.0, []
        for k, x in enumerate(point):
            if x in self.edges[k]:
                return 0.0
            width = min(e for e in self.edges[k] if e > x) - max(e for e in self.edges[k] if e < x)
            if self.density:
                grid = self.density["edges"][k]
                if not grid[0] < x < grid[-1]:
                    return 0.0
                place.append(sum(e < x for e in grid) - 1)
                width /= grid[place[-1] + 1] - grid[place[-1]]
            weight *= width
        mass = self.density["mass"] if self.density else 1.0
        for q in place:
            mass = mass[q]
        return weight * mass


def within(box: tuple, outer: tuple) -> bool:
    low, high = box
    return all(a <= x for a, x in zip(outer[0], low, strict=True)) and all(
        x <= b for x, b in zip(high, outer[1], strict=True)
    )


def candidates(document: dict) -> list[list[int]]:
    """The leaves that meet each subscriber's latency limit."""
    at, parent, latency = document["brokers"]["at"], document["brokers"]["parent"], document["latency"]
    leaves = [b for b in range(len(parent)) if b not in parent]

    def way(b: int) -> float:
        above = document["publisher"] if parent[b] == -1 else at[parent[b]]
        return math.dist(at[b], above) + (0 if parent[b] == -1 else way(parent[b]))

    result = []
    for s, place in enumerate(document["subscribers"]["at"]):
        path = latency.get("measure", "path") == "path"
        length = {b: math.dist(at[b], place) + (way(b) if path else 0) for b in leaves}
        delay = latency.get("max_delay")
        limit = latency["max_latency"][s] if delay is None else min(length.values()) * (1 + delay)
        result.append([b for b in leaves if length[b] <= limit * (1 + EPS)])
    return result


def caps(document: dict, leaves: list[int]) -> dict[int, int]:
    """How many subscribers each leaf may take."""
    kappa, m = document["brokers"].get("capacity"), len(document["subscribers"]["at"])
    return {b: math.floor(document["load"]["max"] * (kappa[b] if kappa else 1 / len(leaves)) * m + EPS) for b in leaves}
