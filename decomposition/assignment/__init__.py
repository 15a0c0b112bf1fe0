"""SLP, subscriber assignment by linear programming (paper 002), in its own small pieces.

settings.py     the constants; a part (one broker's children and its subscribers); filters and whom they cover
boxes.py        FilterGen: super-interests and the boxes that the program may choose from
lprelax.py      LPRelax: constraints C1-C4 as arrays, its solution, and rounding; formulation.py: the same in Pyomo
coreset.py      FilterAssign: reweighted sampling until the expanded filters cover everybody
placing.py      the flow that assigns everybody under caps; paths that make room for those who do not fit
sharing.py      down the tree, the brokers of a level as tasks
adjusting.py    filters of at most alpha boxes around what was assigned
completing.py   a valid plan out of all that
methods.py      the methods `slp` (top-down over the tree) and `slp-leaves`
"""
