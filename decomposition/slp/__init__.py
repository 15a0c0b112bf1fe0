"""SLP, subscriber assignment by linear programming (paper 002), in its own small pieces.

boxes.py      FilterGen: super-interests and the boxes that the program may choose from
lprelax.py    LPRelax: constraints C1-C4 as arrays, and rounding
coreset.py    FilterAssign: reweighted sampling until the expanded filters cover everybody
placing.py    the flow that assigns everybody under caps, and repair of those who do not fit
adjusting.py  filters of at most alpha boxes around what was assigned
methods.py    the methods `slp` (top-down over the tree) and `slp-leaves`
"""
