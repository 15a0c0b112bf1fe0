"""Steiner trees against SteinerPy: `python benchmarks/steiner.py PYTHON FOLDER [SECONDS]`.

PYTHON is the interpreter of an environment of its own with `pip install steinerpy`; FOLDER has SteinLib's `.stp` files,
undirected. Both prove optima in turns, file by file, on one thread, in processes that are started, imported and compiled before
the clock starts; reading a file does not count. The last line has the
geometric means of both times, shifted by a tenth of a second.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from pathlib import Path

import yardline as yl
from yardline.instances.stp import read

SHIFT = 0.1
THEIRS = """
import contextlib, io, json, logging, sys, time
logging.disable()
import networkx as nx
from steinerpy import SteinerProblem
for line in sys.stdin:
    edges, terminals, limit = json.loads(line)
    graph = nx.Graph()
    graph.add_weighted_edges_from(edges)
    with contextlib.redirect_stdout(io.StringIO()):
        begun = time.perf_counter()
        solution = SteinerProblem(graph, [terminals]).get_solution(time_limit=limit)
        seconds = time.perf_counter() - begun
    print(json.dumps([float(solution.objective), float(solution.gap), seconds]), flush=True)
"""


def theirs(python: str) -> subprocess.Popen[str]:
    """A process of SteinerPy: a line with edges, terminals and limit goes in, one with value, gap and seconds comes out."""
    return subprocess.Popen([python, "-c", THEIRS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def asked(process: subprocess.Popen[str], path: Path, limit: float) -> tuple[float, float, float]:
    document = read(path)
    edges = [(c["from"], c["to"], c["cost"]) for c in document["conversions"] if c["from"] < c["to"]]
    terminals = sorted({*document["requests"][0], document["source"]})
    process.stdin.write(json.dumps([edges, terminals, limit]) + "\n")
    process.stdin.flush()
    value, gap, seconds = json.loads(process.stdout.readline())
    return value, gap, seconds


def ours(path: Path, limit: float) -> tuple[float, float, float]:
    instance = yl.load(path)
    begun = time.perf_counter()
    solved = yl.solve(instance, "exact", time_limit=limit)
    return solved.cost, solved.gap, time.perf_counter() - begun


def mean(times: list[float]) -> float:
    return math.exp(sum(math.log(t + SHIFT) for t in times) / len(times)) - SHIFT


def main(python: str, folder: str, limit: float = 60.0) -> None:
    paths = sorted(Path(folder).glob("*.stp"))
    process, rows = theirs(python), []
    for path in paths[:2]:  # compiled and imported
        ours(path, limit), asked(process, path, limit)
    for path in paths:
        rows.append((ours(path, limit), asked(process, path, limit)))
        (a, gap, mine), (b, other, time_of_theirs) = rows[-1]
        print(
            f"{path.stem}: ours {a:g} gap {gap:g} {mine:.2f} s, SteinerPy {b:g} gap {other:g} {time_of_theirs:.2f} s",
            flush=True,
        )
    means = [mean([row[side][2] for row in rows]) for side in (0, 1)]
    print(f"{len(rows)} graphs, shifted geometric mean: ours {means[0]:.3f} s, SteinerPy {means[1]:.3f} s")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(float, sys.argv[3:4]))
