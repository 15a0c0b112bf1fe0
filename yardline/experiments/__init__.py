"""Experiments: tables and figures of the papers, and our own, each one declarative description that runs through `compare`.

description.py  what an experiment is: workloads x parameters x methods x bounds x seeds, what is on which axis, claims
claims.py       ready-made checks of claims
running.py      running one: its runs, the points of its figure, the verdict on each claim
The other files register experiments with `@registry.experiment`.
"""
