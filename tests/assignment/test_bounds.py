"""Bounds that need no integer program: below the optimum, certified, for both containments, levels and loads."""

import copy
import itertools
import json
import math
from fractions import Fraction

import in_process
import numpy as np
import pytest
from assignment.brute_force import least_cost
from assignment.helpers import read, two_brokers
from assignment.strategies import documents
from hypothesis import given, settings
from hypothesis import strategies as st

import yardline as yl
from yardline.models.assignment.load import caps_of, factor_of
from yardline.solvers.certificates.cells import CODES, asked, packed, shift_of, unpacked
from yardline.solvers.certificates.grid import measured, typed
from yardline.solvers.certificates.verdict import verify

NAMES = ("cells", "forced", "best")


def check_bounds(document):
    instance, best = read(document), least_cost(document)
    for name in NAMES:
        answer = in_process.bound(instance, name)
        assert (answer.infeasible is not None) == (best == math.inf), name
        if best < math.inf:
            check_certified(instance, best, answer)


def check_certified(instance, best, answer):
    assert answer.bound <= best * (1 + 1e-9) + 1e-12
    verdict = verify(instance, json.loads(json.dumps(answer.certificate)))
    assert verdict.holds, verdict.reason
    assert float(verdict.bound) <= best * (1 + 1e-9) + 1e-12
    assert float(verdict.bound) == pytest.approx(answer.bound)


@settings(max_examples=120)
@given(documents())
def test_below_the_optimum_and_certified(document):
    check_bounds(document)


@pytest.mark.slow
@settings(max_examples=10_000)
@given(documents())
def test_below_the_optimum_and_certified_ten_thousand(document):
    check_bounds(document)


@settings(max_examples=60)
@given(documents())
def test_desired_bounds_those_within_it(document):
    """With the cap of `desired` as the instance's own maximum, the bound of `desired` is below that optimum."""
    document["load"]["max"] = 4
    instance = read(document)
    if least_cost(document) == math.inf:
        return
    tightened = copy.deepcopy(document)
    tightened["load"] = {"desired": 1, "max": max(1, factor_of(instance, "desired"))}
    best = least_cost(tightened)
    for name in NAMES:
        answer = in_process.bound(instance, name, load="desired")
        check_certified(instance, best, answer)
        assert "desired" not in answer.valid_because
        assert "least feasible factor" in answer.valid_because


@settings(max_examples=60)
@given(documents(), st.data())
def test_altered_certificates_never_prove_more(document, data):
    instance, best = read(document), least_cost(document)
    if best == math.inf:
        return
    for name in NAMES:
        certificate = json.loads(json.dumps(in_process.bound(instance, name).certificate))
        altered = _altered(certificate, data)
        try:
            verdict = verify(instance, altered)
        except ValueError:
            continue
        assert not verdict.holds or float(verdict.bound) <= best * (1 + 1e-9) + 1e-12


def _altered(certificate, data):
    """One number somewhere changed, or other bids."""
    places = []

    def walk(node, path):
        if isinstance(node, dict):
            for key, value in node.items():
                walk(value, (*path, key))
        elif isinstance(node, list):
            for i, value in enumerate(node):
                walk(value, (*path, i))
        elif isinstance(node, (int, float)) or (isinstance(node, str) and path[-1] in ("bound", "bids", "room")):
            places.append(path)

    walk(certificate, ())
    path = data.draw(st.sampled_from(places))
    node = certificate
    for key in path[:-1]:
        node = node[key]
    old = node[path[-1]]
    if path[-1] in ("bids", "room"):
        count = len(__import__("zlib").decompress(__import__("base64").b64decode(old))) // 2
        codes = data.draw(st.lists(st.integers(0, len(CODES) - 1), min_size=count, max_size=count))
        node[path[-1]] = packed(np.array(codes, dtype=np.uint16))
    elif isinstance(old, str):
        node[path[-1]] = str(Fraction(old) * 3 + 1)
    else:
        node[path[-1]] = data.draw(st.sampled_from([0, 1, old * 10 + 1, old * 1000 + 1, old + 1]))
    return certificate


def test_forced_knows_alpha():
    # One leaf, one box, interests [0, 1] and [3, 5]: 5, where cells see 3. With two boxes 3.
    document = two_brokers(brokers={"at": [[1, 0]], "parent": [-1], "filter_complexity": 1})
    assert in_process.bound(read(document), "forced").bound == pytest.approx(5, rel=1e-6)
    assert in_process.bound(read(document), "best").bound == pytest.approx(5, rel=1e-6)
    assert in_process.bound(read(document), "cells").bound == pytest.approx(3, rel=1e-2)
    document["containment"] = "union"
    assert in_process.bound(read(document), "forced").bound == pytest.approx(3, rel=1e-6)
    document["brokers"]["filter_complexity"] = 2
    assert in_process.bound(read(document), "forced").bound == pytest.approx(3, rel=1e-6)


def test_capacities_count():
    # Four alike subscribers who want [0, 1], four alike leaves that take one each: all four filters are needed.
    document = two_brokers(
        brokers={"at": [[1, 0]] * 4, "parent": [-1] * 4},
        subscribers={"at": [[2, 0]] * 4, "low": [[0]] * 4, "high": [[1]] * 4},
        load={"desired": 1, "max": 1},
    )
    assert in_process.bound(read(document), "cells").bound == pytest.approx(4, rel=1e-2)


def test_inner_brokers_count():
    # Broker 0 above leaves 1 and 2: the filter of the only way is paid for twice.
    document = two_brokers(
        brokers={"at": [[1, 0]] * 3, "parent": [-1, 0, 0]},
        subscribers={"at": [[2, 0]], "low": [[0]], "high": [[1]]},
        load={"desired": 2, "max": 2},
    )
    assert in_process.bound(read(document), "cells").bound == pytest.approx(2, rel=1e-2)


@settings(max_examples=60)
@given(documents(), st.integers(0, 2**32))
def test_what_brokers_ask_is_rounded_down_and_hardly(document, seed):
    """Bids over the whole range: what `asked` says in int64 is just below vol * (a / total + w * m / total / cap)."""
    instance, rng = read(document), np.random.default_rng(seed)
    cuts = [np.unique(np.concatenate([instance.low[:, k], instance.high[:, k], [9.0]])) for k in range(instance.d)]
    cells = measured(instance, cuts)
    types = typed(instance, cells, caps_of(instance, "max"), 1000)
    shift = shift_of(cells, types, 3)
    bids = (2.0 ** rng.uniform(0, 40, len(types.who))).astype(np.int64)
    room = (2.0 ** rng.uniform(0, 40, len(cells.volume))).astype(np.int64)
    for i, b in enumerate(types.order):
        span = slice(types.start[i], types.start[i + 1])
        cap, mine = int(types.caps[b]), types.who[span].tolist()
        wants = [set(_cells_of(types, cells, j)) for j in mine]
        total = [int(m) for m in room]
        for bid, theirs in zip(bids[span].tolist(), wants, strict=True):
            for c in theirs:
                total[c] += bid
        answers = asked(types, cells, i, cells.volume, bids, room, shift)
        for j, bid, theirs, answer in zip(mine, bids[span].tolist(), wants, answers.tolist(), strict=True):
            weight = int(types.weight[j])
            exact = sum(
                (
                    Fraction(int(cells.volume[c]) << shift, total[c]) * (bid + Fraction(weight * int(room[c]), cap))
                    for c in theirs
                ),
                Fraction(0),
            )
            assert answer <= exact
            assert answer >= exact * Fraction(99, 100) - 2**12


def _cells_of(types, cells, j):
    """The cells that a type wants, from its corners in the table of sums."""
    low = np.unravel_index(types.corners[j, 0], types.table)
    high = np.unravel_index(types.corners[j, -1], types.table)
    ranges = [range(a, b) for a, b in zip(low, high, strict=True)]
    return [int(np.ravel_multi_index(c, cells.shape)) for c in itertools.product(*ranges)]


@settings(max_examples=50)
@given(documents())
def test_cell_measures_are_rounded_down(document):
    instance = read(document)
    cuts = [np.unique(np.concatenate([instance.low[:, k], instance.high[:, k], [9.0]])) for k in range(instance.d)]
    cells = measured(instance, cuts)
    from yardline.models.assignment.boxes import union_measure

    whole = union_measure(instance, np.array([[c[0] for c in cuts]]), np.array([[c[-1] for c in cuts]]))
    total = float(int(cells.volume.sum()) * cells.unit)
    assert total <= whole * (1 + 1e-12)
    assert total >= whole * (1 - 1e-5)


def test_codes_survive_packing():
    codes = np.arange(len(CODES), dtype=np.uint16)
    assert unpacked(packed(codes), "bids", len(codes)).tolist() == CODES.tolist()
    for text in ("", "????", packed(codes[:-1])):
        with pytest.raises(ValueError, match="bids"):
            unpacked(text, "bids", len(codes))


def test_cells_come_near_their_relaxation():
    # The relaxation that `cells` ascends, stated with atoms of the grid and solved by HiGHS: 0.92288.
    parameters = {"interest_skew": "H", "broad_interests": "L"}
    instance = yl.generate("assignment-1", seed=4, subscribers=1500, brokers=20, **parameters)
    assert 0.92 * 0.92288 <= in_process.bound(instance, "cells", rounds=200).bound <= 0.92288


def test_large_instances_take_best():
    instance = yl.generate("assignment-3", seed=1, subscribers=400, brokers=10)
    bounded = yl.bound(instance, time_limit=20)
    assert bounded.method == "best"
    assert bounded.certified
    assert yl.verify(instance, bounded.certificate).holds
    assert 0 < bounded.bound <= yl.solve(instance, "greedy-offline", options={"load": "max"}).cost
