"""Subscribers through candidate leaves into caps: a largest assignment, computed on groups with the same candidates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from yardline.models.checks import Indices


def placed(sets: NDArray[np.bool_], counts: Indices, caps: Indices) -> csr_array:
    """How many of each group go to each leaf in a largest assignment: groups x leaves."""
    groups, leaves = sets.shape
    sink = 1 + groups + leaves
    g, b = np.nonzero(sets)
    tails = np.concatenate([np.zeros(groups, np.int64), 1 + g, 1 + groups + np.arange(leaves)])
    heads = np.concatenate([1 + np.arange(groups), 1 + groups + b, np.full(leaves, sink)])
    amounts = np.concatenate([counts, counts[g], caps]).astype(np.int32)
    graph = csr_array((amounts, (tails, heads)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(graph, 0, sink).flow
    return csr_array(csr_array(flow)[1 : 1 + groups, 1 + groups : sink])


def spread_out(groups: Indices, flow: csr_array) -> Indices:
    """A leaf (by position) for everybody: group by group, as many to each leaf as the flow says; -1: not placed."""
    result = np.full(len(groups), -1, dtype=np.int64)
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(flow.shape[0] + 1))
    for g in range(flow.shape[0]):
        row = slice(flow.indptr[g], flow.indptr[g + 1])
        leaf = np.repeat(flow.indices[row], np.maximum(flow.data[row], 0))
        result[order[starts[g] : starts[g] + len(leaf)]] = leaf
    return result


def distinct(table: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Indices]:
    """Each distinct row of bits once, and which of them each row is."""
    first, code = distinct_words(packed(table))
    return table[first], code


def packed(table: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of bits as words."""
    width = (table.shape[1] + 63) // 64 * 64
    bits = np.zeros((len(table), width), dtype=bool)
    bits[:, : table.shape[1]] = table
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def distinct_words(words: NDArray[np.uint64]) -> tuple[Indices, Indices]:
    """A row for each distinct one, and which of them each row is."""
    code = np.zeros(len(words), dtype=np.int64)
    for column in words.T:
        values, inverse = np.unique(column, return_inverse=True)
        code = np.unique(code * len(values) + inverse, return_inverse=True)[1]
    return np.unique(code, return_index=True)[1], code
