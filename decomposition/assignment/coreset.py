"""FilterAssign: preliminary filters by iterative reweighted sampling, on the loop of decomposition/reweighting.py.

Stage g = first, 2 first, 4 first, ...: all weights 1. An iteration draws Q by weight, |Q| = max(1, ceil(c g ln g)), all
of S once that reaches m, and S_b; LPRelax on S_a = Q + S_b gives filters Phi. Done when Phi, expanded by eps, covers
everybody. Otherwise the weight of those whom Phi itself does not cover is doubled; the iteration is valid if they had
at most 1/8 of all weight; a stage has at most 4 g ln(m / g) valid iterations. S_b is drawn again where the program is
infeasible, with caps rising towards beta_max.

`sample=paper` draws S_b at random, as printed. `strata` (ours) draws it spread evenly over candidate sets and
interests, each one standing for a counted number of others, so that C3 adds up to all of S; and those whom a flow
through the filters cannot place at beta_max (the near side of its least cut) are bad too, and the filters are not done
before there are none. Out of time, or after `iterations` programs, the filters that leave the fewest out are taken, and
the others are left to repair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from yardline.decomposition.assignment.boxes import MOST_BOXES, MOST_PAIRS, filter_gen
from yardline.decomposition.assignment.lprelax import Sample, choices, fits, program_of, relaxed, rounded
from yardline.decomposition.assignment.placing import left_out
from yardline.decomposition.assignment.settings import Filters, Part, Settings, covered
from yardline.decomposition.reweighting import Look, Stage, enough_valid, net_size, reweighted
from yardline.models.checks import Indices, Vector
from yardline.models.method import Run

RAISED = 1.1
"""By this factor caps rise beyond beta_max where a sample fits under none of the draws."""

MOST_COLUMNS = 1_000_000
"""Of x in a program: with thousands of brokers S_b is smaller than asked for."""


@dataclass(slots=True)
class FilterAssign:
    """The iterations of one part, and the best filters so far."""

    part: Part
    settings: Settings
    rng: Generator
    run: Run
    until: float  # seconds to be left at the end
    best: Filters | None = None
    fewest: float = math.inf
    programs: int = 0
    longest: float = 0.0  # seconds that an iteration took

    def solved(self) -> Filters | None:
        """Preliminary filters for the children of the part; None where no program could be solved in time."""
        m = len(self.part.who)
        reweighted(np.ones(m), self.settings.first, self._drawn, self._seen, enough_valid(m))
        return self.best

    def _drawn(self, stage: Stage) -> Indices:
        return stage.drawn(net_size(stage.size, self.settings.c), self.rng)

    def _seen(self, q: Indices, stage: Stage) -> Look:
        """One program, and whom its filters leave out."""
        begun = self.run.seconds()
        filters = self._phi(q)
        nobody = np.zeros(len(self.part.who), dtype=bool)
        if filters is None:
            return Look(nobody, done=True)
        self.programs += 1
        missed = np.asarray(~covered(self.part, filters).any(axis=1))
        grown = filters.expanded(self.settings.eps)
        table = covered(self.part, grown)
        out = ~table.any(axis=1)
        if self.settings.sample == "strata":
            out |= left_out(table, self.part.caps(self.part.instance.beta_max))
            missed |= out
        self._keep(grown, int(out.sum()))
        self.longest = max(self.longest, self.run.seconds() - begun)
        return Look(missed, done=not out.any() or self._enough())

    def _keep(self, filters: Filters, out: int) -> None:
        if out < self.fewest:
            self.best, self.fewest = filters, out

    def _enough(self) -> bool:
        """So many programs, or no time for another one."""
        most = self.settings.iterations
        return bool(most and self.programs >= most) or self.run.left() <= self.until + self.longest

    def _phi(self, q: Indices) -> Filters | None:
        """LPRelax on Q and S_b, rounded until it covers them."""
        part, settings, rng = self.part, self.settings, self.rng
        who, sample = self._sample(q)
        supers = max(1, int(settings.supers * len(part.children)))
        boxes = max(1, min(MOST_BOXES, MOST_PAIRS // len(part.children)))
        low, high = filter_gen(
            *(rng, part.instance.at[who], sample.low, sample.high),
            supers=min(supers, boxes),
            overlap=settings.overlap,
            most=boxes,
        )
        choice = choices(rng, part.instance, sample, low, high)
        y = relaxed(program_of(sample, choice), sample, choice, settings, self.run, self.until)
        if y is None:
            return None
        taken = rounded(rng, sample, choice, y, settings.tries)
        indicator = float(choice.measure @ y)
        low, high = choice.low[taken], choice.high[taken]
        return Filters(child=choice.broker[taken], low=low, high=high, y=y[taken], indicator=indicator)

    def _sample(self, q: Indices) -> tuple[Indices, Sample]:
        """S_a, with an S_b that fits; equal ones (candidate set and interest) are one."""
        factor, last = self.part.beta, self.part.instance.beta_max
        attempt = 0
        while True:
            b, standing = _balanced(self.part, self.settings, self.rng)
            who, sample = self._merged(q, b, standing, self.part.caps(factor))
            if fits(sample):
                return who, sample
            attempt += 1
            if attempt <= self.settings.redraws:
                factor = self.part.beta + (last - self.part.beta) * attempt / self.settings.redraws
            else:
                factor *= RAISED

    def _merged(self, q: Indices, b: Indices, standing: Vector, caps: Indices) -> tuple[Indices, Sample]:
        part, instance = self.part, self.part.instance
        chosen, weight = np.concatenate([q, b]), np.concatenate([np.zeros(len(q)), standing])
        sets, of = part.candidates()
        who = part.who[chosen]
        key = np.column_stack([of[chosen], instance.low[who], instance.high[who]])
        _, first, kind = np.unique(key, axis=0, return_index=True, return_inverse=True)
        who = who[first]
        return who, Sample(
            low=instance.low[who],
            high=instance.high[who],
            weight=np.bincount(kind.ravel(), weights=weight, minlength=len(first)).astype(np.float64),
            may=sets[of[chosen[first]]],
            below=part.below,
            alpha=instance.alpha[part.children],
            cap=caps.astype(np.float64),
        )


def _balanced(part: Part, settings: Settings, rng: Generator) -> tuple[Indices, Vector]:
    """S_b and how many each stands for: at random, or one of each run of equal length in the order of set and interest."""
    m, inner = len(part.who), len(part.leaves) > len(part.children)
    factor = settings.inner_factor if inner else settings.sample_factor
    sets, of = part.candidates()
    choices = float(sets.sum(axis=1)[of].mean())  # leaves per subscriber: so many columns x each
    count = max(1, min(m, int(factor * len(part.children)), int(MOST_COLUMNS / max(1.0, choices))))
    if settings.sample == "paper":
        return rng.choice(m, size=count, replace=False), np.full(count, m / count)
    low, high = part.instance.low[part.who], part.instance.high[part.who]
    order = np.lexsort((*high.T, *low.T, of))
    ends = np.arange(count + 1) * m // count
    places = ends[:-1] + (rng.random(count) * np.diff(ends)).astype(np.int64)
    return order[places], np.diff(ends).astype(np.float64)
