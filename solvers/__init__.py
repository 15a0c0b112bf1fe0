"""HOW one program or one instance is solved.

Programs (arrays, models/program.py) and solvers:
    catalog.py    the solvers by name; highs.py and cbc.py put each behind one contract: Program -> Outcome (outcome.py)
    compiled.py   Pyomo models as programs;  mps.py, lpfile.py  programs as files
    branching.py  branch and bound over relaxations that keeps its tree
    programs.py   a program to optimality: the solver first, then the tree

Proofs:
    certificates/ what is proved, checked in exact arithmetic: no solver in there
    certify.py    writes them

Methods and bounds of every problem, built on those:
    exact.py, relaxation.py (bounds lp and tree), portfolio.py, automatic.py (what `auto` stands for)
    heuristics/   by problem

    worker/       the process that can be killed, in which all of them run
"""
