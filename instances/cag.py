"""Content adaptation graphs of paper 004: what formats there are, what they cost to send and to convert.

The figures that hold the paper's numbers are lost; these keep what the text says of them. The map: PDF becomes JPG and text, text
becomes voice. The video: four containers in four sizes, transmission from 0 to 30, 210 of the 240 conversions, from 0 to 60.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator

from yardline.models.checks import Indices, Vector

MOST_TRANSMISSION, MOST_CONVERSION = 30.0, 60.0
CONTAINERS = ("mpeg4", "avi", "flv", "3gp")
SIZES = ("1080p", "720p", "480p", "240p")
MISSING = 30  # of the 240 conversions between video formats


@dataclass(frozen=True, eq=False, kw_only=True)
class Cag:
    """Formats with their transmission costs, conversions with theirs; the source is format 0."""

    names: Sequence[str]
    tau: Vector
    conversions: Indices
    cost: Vector


def annotated_map() -> Cag:
    """PDF (8), JPG (5), text (1), voice (3); PDF to JPG (6) and text (4), JPG to text (12), text to voice (9).

    >>> cag = annotated_map()
    >>> len(cag.names), len(cag.conversions)
    (4, 4)
    """
    pairs = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    tau, cost = np.array([8.0, 5.0, 1.0, 3.0]), np.array([6.0, 4.0, 12.0, 9.0])
    return Cag(names=("pdf", "jpg", "text", "voice"), tau=tau, conversions=pairs, cost=cost)


def video(rng: Generator, times: str | None = None) -> Cag:
    """Four containers in four sizes, the best first. A conversion decodes one frame size and encodes another.

    times: a file of measured conversions (operation, target, video, segments, mean_ms); a change of container then takes what a
    change of codec took, a change of size what a change of resolution took, of one video drawn per conversion.
    """
    size, container = np.repeat(np.arange(4), 4), np.tile(np.arange(4), 4)
    names = [f"{CONTAINERS[c]}-{SIZES[s]}" for s, c in zip(size.tolist(), container.tolist(), strict=True)]
    weight = np.array([1.0, 0.55, 0.28, 0.08])[size] * np.array([0.9, 1.0, 0.8, 0.6])[container]
    tau = np.round(MOST_TRANSMISSION * weight * rng.uniform(0.8, 1.0, 16), 1)
    pairs = _kept(rng)
    cost = _modelled(rng, pairs, size, container) if times is None else _measured(rng, pairs, size, container, times)
    return Cag(names=names, tau=tau, conversions=pairs, cost=cost)


def _kept(rng: Generator) -> Indices:
    """210 of the 240 pairs; those out of the source all stay, so that everything can be made."""
    pairs = np.argwhere(~np.eye(16, dtype=bool))
    others = np.flatnonzero(pairs[:, 0] != 0)
    return np.delete(pairs, rng.choice(others, MISSING, replace=False), axis=0)


def _modelled(rng: Generator, pairs: Indices, size: Indices, container: Indices) -> Vector:
    pixels = np.array([1.0, 0.45, 0.2, 0.05])
    f, g = pairs.T
    work = 0.35 * pixels[size[f]] + 0.65 * pixels[size[g]]
    work = np.where(size[f] == size[g], np.where(container[f] == container[g], 0.0, 0.5 * work), work)
    return np.round(MOST_CONVERSION * work * rng.uniform(0.6, 1.0, len(pairs)), 1)


def _measured(rng: Generator, pairs: Indices, size: Indices, container: Indices, times: str) -> Vector:
    table = _times(times)
    f, g = pairs.T
    total = np.zeros(len(pairs))
    kinds = (
        (size[f] != size[g], size[g] < size[f], "RESOLUTION"),
        (container[f] != container[g], container[g] == 0, "CODEC"),
    )
    for changes, up, operation in kinds:
        for target in (0, 1):  # 0: to the larger size, or to H.264
            rows = np.flatnonzero(changes & (up == (target == 0)))
            total[rows] += rng.choice(table[operation, target], len(rows))
    scaled: Vector = np.round(MOST_CONVERSION * total / total.max(), 1)
    return scaled


def _times(path: str) -> dict[tuple[str, int], Vector]:
    """Milliseconds per operation and target."""
    found: dict[tuple[str, int], list[float]] = {}
    with Path(path).open(newline="") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            try:
                found.setdefault((row["operation"], int(row["target"])), []).append(float(row["mean_ms"]))
            except (KeyError, TypeError, ValueError):
                raise ValueError(f"{path}, line {line}: expected operation, target and mean_ms") from None
    for operation in ("RESOLUTION", "CODEC"):
        for target in (0, 1):
            if (operation, target) not in found:
                raise ValueError(f"{path} has no times of {operation} with target {target}: expected some")
    return {key: np.array(values) for key, values in found.items()}
