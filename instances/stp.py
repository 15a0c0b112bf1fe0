"""SteinLib files (`.stp`): a Steiner tree problem as a customization instance with one node.

Graph nodes become formats, an edge `E` two conversions, an arc `A` one; the terminals are requested at the one node,
the source is `Root` or else the first terminal. Transmission counts nothing (alpha 0), conversion as given (beta 1).
Files without SECTION lines are read as well: their lines mean the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

READ_SECTIONS = ("", "graph", "terminals")
IGNORED = ("creator", "date", "problem", "remark", "cost", "end", "33d32945")
MOST_NODES = 1_000_000


@dataclass(slots=True)
class _Graph:
    """What has been read so far."""

    name: str = ""
    nodes: int | None = None
    root: int | None = None
    declared: dict[str, tuple[int, int]] = field(
        default_factory=dict
    )  # lines, terminals -> how many, said in which line
    lines: int = 0
    terminals: list[int] = field(default_factory=list)
    costs: dict[tuple[int, int], float] = field(default_factory=dict)


def read(source: str | Path) -> dict[str, Any]:
    """The document of the instance in a file (a path) or a text (a string with more than one line).

    >>> text = "SECTION Graph\\nNodes 3\\nEdges 2\\nE 1 2 4\\nE 2 3 1\\nEND\\nSECTION Terminals\\nT 1\\nT 3\\nEND\\nEOF"
    >>> document = read(text)
    >>> document["requests"], document["source"], len(document["conversions"])
    ([[0, 2]], 0, 4)
    """
    is_text = isinstance(source, str) and "\n" in source
    text = str(source) if is_text else Path(source).read_text(encoding="utf-8", errors="replace")
    graph, section = _Graph(), ""
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        key = words[0].lower()
        if key == "eof":
            break
        if key == "section":
            section = " ".join(words[1:]).lower()
        elif section in READ_SECTIONS or key == "name":
            _take(graph, key, words[1:], number)
    return _document(graph)


def _take(graph: _Graph, key: str, words: list[str], line: int) -> None:
    """One line of the file."""
    if key == "name":
        graph.name = " ".join(words).strip('"')
    elif key == "nodes":
        graph.nodes = _whole(words, line, "Nodes N")
        if graph.nodes > MOST_NODES:
            _refuse(line, words[0], f"at most {MOST_NODES:,} nodes")
    elif key in ("edges", "arcs", "terminals"):
        graph.declared["terminals" if key == "terminals" else "edges"] = _whole(words, line, f"{key} N"), line
    elif key in ("e", "a"):
        _edge(graph, key, words, line)
    elif key in ("t", "root"):
        node = _node(graph, words[:1], line)
        if key == "t":
            graph.terminals.append(node)
        else:
            graph.root = node
    elif key not in IGNORED:
        _refuse(line, " ".join([key, *words]), "a line of a Steiner tree problem (Nodes, Edges, Arcs, E, A, Root, T)")


def _edge(graph: _Graph, key: str, words: list[str], line: int) -> None:
    if len(words) < 3:
        _refuse(line, " ".join([key.upper(), *words]), f"{key.upper()} and two nodes and a cost")
    tail, head, cost = _node(graph, words[:1], line), _node(graph, words[1:2], line), _cost(words[2], line)
    if tail == head:
        _refuse(line, " ".join([key.upper(), *words]), "two different nodes")
    graph.lines += 1
    for pair in ((tail, head), (head, tail)) if key == "e" else ((tail, head),):
        graph.costs[pair] = min(cost, graph.costs.get(pair, math.inf))  # of parallel edges the cheapest counts


def _node(graph: _Graph, words: list[str], line: int) -> int:
    """A node's index from 0; files count from 1."""
    if graph.nodes is None:
        raise ValueError(f"line {line}: a node is named before the number of nodes: expected Nodes N first")
    node = _whole(words, line, "a node")
    if not 1 <= node <= graph.nodes:
        _refuse(line, str(node), f"a node from 1 to {graph.nodes}")
    return node - 1


def _whole(words: list[str], line: int, expected: str) -> int:
    if not words or not words[0].isascii() or not words[0].isdigit() or len(words[0]) > 9:
        _refuse(line, " ".join(words), f"{expected} as a whole number")
    return int(words[0])


def _cost(word: str, line: int) -> float:
    try:
        cost = float(word)
    except ValueError:
        _refuse(line, word, "a cost")
    if not math.isfinite(cost) or cost < 0:
        _refuse(line, word, "a finite cost >= 0")
    return cost


def _refuse(line: int, seen: str, expected: str) -> NoReturn:
    shown = seen if len(seen) <= 60 else seen[:57] + "..."
    raise ValueError(f"line {line} reads {shown!r}: expected {expected}")


def _document(graph: _Graph) -> dict[str, Any]:
    """The whole document, after the checks that need the whole file."""
    if not graph.nodes:
        raise ValueError("there are no nodes: expected a line Nodes N with N >= 1")
    for what, found in (("edges", graph.lines), ("terminals", len(graph.terminals))):
        said, line = graph.declared.get(what, (found, 0))
        if said != found:
            raise ValueError(f"line {line} announces {said} {what}, but {found} follow: expected as many as announced")
    if not graph.terminals:
        raise ValueError("there are no terminals: expected at least one line T node")
    conversions = [{"from": f, "to": g, "cost": cost} for (f, g), cost in sorted(graph.costs.items())]
    return {
        "yardline": 1,
        "problem": "customization",
        "name": graph.name,
        "parent": [None],
        "requests": [sorted(set(graph.terminals))],
        "formats": [{"name": str(node + 1), "transmission": 0.0} for node in range(graph.nodes)],
        "conversions": conversions,
        "source": graph.terminals[0] if graph.root is None else graph.root,
        "alpha": 0.0,
        "beta": 1.0,
    }
