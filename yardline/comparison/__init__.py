"""Comparisons: every method on every instance with every seed, as tasks on Spark or on this machine, with certified gaps.

sources.py  where the instances come from: files, folders, workload specs, tables, objects
plan.py     which runs and which bounds that makes
fingerprint.py  whether a user's own method is still the same
rows.py     what becomes of one run: a row, costs from the judge
bounds.py   one best bound per instance, for all its methods
store.py    rows on disk: whole at any moment, never twice, gone on with later
progress.py how far it is
summary.py  per method: valid runs, gaps, wins, time
table.py    the same as text
compare.py  all of it together
"""
