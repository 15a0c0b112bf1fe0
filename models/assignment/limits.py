"""Who may go where, and how many: candidate leaves and load caps, derived once, in floating point.

This belongs to the statement of the problem: judge, methods and programs all take it from here, and it is exact from
then on.

    latency(b, s) = length of publisher -> ... -> b, plus distance b -> s      (measure `last_hop`: the distance alone)
    limit(s)      = shortest(s) * (1 + max_delay), or max_latency[s]           met when latency <= limit * (1 + eps)
    cap(b)        = floor(beta_max * kappa[b] * m + eps)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from yardline.models.assignment.data import Assignment
from yardline.models.assignment.flow import distinct_words, packed
from yardline.models.checks import Indices, Vector, frozen
from yardline.models.numbers import EPS

CHUNK = 2_000_000
"""Entries of a subscribers x leaves table that are held at once."""

_shortest: WeakKeyDictionary[Assignment, Vector] = WeakKeyDictionary()
_offsets: WeakKeyDictionary[Assignment, Vector] = WeakKeyDictionary()


def caps(instance: Assignment, factor: float | None = None) -> Indices:
    """How many subscribers each broker may take (0 at inner ones), at beta_max or another load factor."""
    wanted = (instance.beta_max if factor is None else factor) * instance.kappa * instance.m
    result: Indices = np.floor(np.minimum(wanted + EPS, instance.m)).astype(np.int64)
    return result


def offsets(instance: Assignment) -> Vector:
    """What the way from the publisher to each broker adds to latency; derived once per instance."""
    if instance not in _offsets:
        _offsets[instance] = frozen(_ways(instance))
    return _offsets[instance]


def _ways(instance: Assignment) -> Vector:
    result = np.zeros(instance.n)
    if instance.latency_measure == "last_hop":
        return result
    for b in instance.top_down:
        above = int(instance.parent[b])
        start = instance.publisher if above < 0 else instance.broker_at[above]
        hop = float(_distances(instance.broker_at[b : b + 1], start[None])[0, 0])
        result[b] = hop + (0.0 if above < 0 else result[above])
    return result


def latencies(instance: Assignment, who: slice | Indices) -> Vector:
    """Latency of some subscribers at every leaf: subscribers x leaves."""
    return _distances(instance.at[who], instance.broker_at[instance.leaves]) + offsets(instance)[instance.leaves]


def shortest(instance: Assignment) -> Vector:
    """The least latency of every subscriber over all leaves."""
    if instance not in _shortest:
        result = np.zeros(instance.m)
        for rows in chunks(instance):
            result[rows] = latencies(instance, rows).min(axis=1)
        _shortest[instance] = result
    return _shortest[instance]


def latency_limits(instance: Assignment) -> Vector:
    """The latency that each subscriber accepts, widened."""
    if instance.max_delay is None:
        return np.asarray(instance.max_latency * (1 + EPS))
    return shortest(instance) * (1 + instance.max_delay) * (1 + EPS)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidate leaves: a row of bits per distinct set of leaves, and which of them each subscriber has."""

    sets: NDArray[np.bool_]  # sets x leaves
    of: Indices  # the set of every subscriber

    def table(self) -> NDArray[np.bool_]:
        """Subscribers x leaves, for small instances."""
        return self.sets[self.of]


_candidates: WeakKeyDictionary[Assignment, Candidates] = WeakKeyDictionary()


def candidates(instance: Assignment) -> Candidates:
    """The leaves that meet each subscriber's latency limit; derived once per instance."""
    if instance not in _candidates:
        _candidates[instance] = _near_enough(instance)
    return _candidates[instance]


def _near_enough(instance: Assignment) -> Candidates:
    """Latencies held against limits, portion by portion."""
    words = np.zeros((instance.m, (len(instance.leaves) + 63) // 64), dtype=np.uint64)
    limit = None if instance.max_delay is not None else latency_limits(instance)
    for rows in chunks(instance):
        latency = latencies(instance, rows)
        if instance.max_delay is not None:
            accepted = latency.min(axis=1) * (1 + instance.max_delay) * (1 + EPS)
        else:
            assert limit is not None
            accepted = limit[rows]
        words[rows] = packed(latency <= accepted[:, None])
    return _grouped(words, len(instance.leaves))


def _grouped(words: NDArray[np.uint64], leaves: int) -> Candidates:
    """Rows of bits, each distinct one once."""
    first, code = distinct_words(words)
    bits = np.unpackbits(np.ascontiguousarray(words[first]).view(np.uint8), axis=1, bitorder="little")
    return Candidates(frozen(bits[:, :leaves].astype(bool).reshape(len(first), leaves)), frozen(code))


def chunks(instance: Assignment) -> Iterator[slice]:
    """Subscribers in portions whose latencies fit in little memory."""
    step = max(1, CHUNK // max(1, len(instance.leaves)))
    for start in range(0, instance.m, step):
        yield slice(start, min(instance.m, start + step))


def chosen_latency(instance: Assignment, leaf: Indices) -> Vector:
    """The latency of every subscriber at the broker that a plan chose for it."""
    return _lengths(instance.at - instance.broker_at[leaf]) + offsets(instance)[leaf]


def _distances(here: Vector, there: Vector) -> Vector:
    """Euclidean distances, here x there."""
    total = np.zeros((len(here), len(there)))
    scale = _scale(max(np.abs(here).max(initial=0.0), np.abs(there).max(initial=0.0)))
    for k in range(here.shape[1]):
        difference = (here[:, k] / scale)[:, None] - (there[:, k] / scale)[None, :]
        np.multiply(difference, difference, out=difference)
        total += difference
    return np.sqrt(total, out=total) * scale


def _lengths(vectors: Vector) -> Vector:
    """Euclidean lengths, added up in the same order as distances."""
    scale = _scale(np.abs(vectors).max(initial=0.0))
    total = np.zeros(len(vectors))
    for k in range(vectors.shape[1]):
        total += (vectors[:, k] / scale) ** 2
    return np.sqrt(total) * scale


def _scale(largest: float) -> float:
    """A power of two that keeps squares from overflowing; dividing by it loses nothing."""
    return 1.0 if 1e-100 < largest < 1e100 or not largest else float(2.0 ** np.clip(np.frexp(largest)[1], -1000, 1000))
