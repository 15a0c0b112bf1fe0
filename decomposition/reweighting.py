"""Reweighted sampling: draw by weight, look at what comes of it, double the weight of what came out badly.

    stage g = first, 2 first, 4 first, ...:   weights as they were given
        repeat   chosen <- draw(stage)                  seen <- look(chosen, stage)
                 stop, if seen.done
                 weight of seen.bad, doubled            valid, if those had at most 1/8 of all weight
        until    over(stage)

Two loops stand on it. `sampled` (sampled.py) is given a plan for everybody by each sample; what came out worst is bad, and
a stage is over after some iterations without gain. FilterAssign of paper 002 (assignment/coreset.py) is done when the filters
of a sample cover everybody; those whom they miss are bad, and a stage is over after 4 g ln(m / g) valid iterations.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from yardline.models.checks import Indices, Vector

HEAVY = 1 / 8
"""Of all weight, what the bad ones of a valid iteration have at most."""

Chosen = TypeVar("Chosen")


@dataclass(frozen=True, slots=True)
class Look:
    """What came of a sample: the elements that came out badly, whether all is done, whether it was better than before."""

    bad: NDArray[np.bool_]
    done: bool = False
    gained: bool = False


@dataclass(slots=True)
class Stage:
    """The iterations with one size g: the weights now, and how they went."""

    size: int
    weight: Vector
    iterations: int = 0
    valid: int = 0  # iterations whose bad ones were not heavy
    idle: int = 0  # iterations since the last one that gained

    def drawn(self, count: int, rng: Generator) -> Indices:
        """So many elements by weight, without repetition; all of them where there are no more."""
        return np.arange(len(self.weight)) if count >= len(self.weight) else drawn(self.weight, count, rng)

    def learn(self, seen: Look) -> None:
        """Count the iteration and double the weight of what came out badly."""
        self.iterations += 1
        self.valid += bool(self.weight[seen.bad].sum() <= HEAVY * self.weight.sum())
        self.idle = 0 if seen.gained else self.idle + 1
        self.weight[seen.bad] *= 2.0
        self.weight /= self.weight.max(initial=1.0)  # only ratios count; hundreds of doublings would overflow


def reweighted(
    weight: Vector,
    first: int,
    draw: Callable[[Stage], Chosen],
    look: Callable[[Chosen, Stage], Look],
    over: Callable[[Stage], bool],
) -> None:
    """Stage after stage until a look says that it is done; what was found is the business of `look`."""
    for doublings in itertools.count():
        stage = Stage(first * 2**doublings, weight.astype(np.float64))
        while stage.iterations == 0 or not over(stage):
            seen = look(draw(stage), stage)
            if seen.done:
                return
            stage.learn(seen)


def drawn(weight: Vector, count: int, rng: Generator) -> Indices:
    """So many elements without repetition, each step with probabilities proportional to the weights; in their order."""
    lot = np.log(np.maximum(weight, 1e-300)) + rng.gumbel(size=len(weight))
    return np.sort(np.argpartition(-lot, count - 1)[:count])


def net_size(g: int, c: float) -> int:
    """|Q| of paper 002: c g ln g, at least 1."""
    return max(1, math.ceil(c * g * math.log(g)))


def enough_valid(m: int) -> Callable[[Stage], bool]:
    """The stage rule of paper 002: over after 4 g ln(m / g) valid iterations, at least one."""
    return lambda stage: stage.valid >= max(1.0, 4 * stage.size * math.log(max(1.0, m / stage.size)))


def no_gain(patience: int) -> Callable[[Stage], bool]:
    """The stage rule of `sampled`: over after so many iterations without gain."""
    return lambda stage: stage.idle >= patience
