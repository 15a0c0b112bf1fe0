"""The worker that can be killed: whole methods run in a process of their own, so that a time limit holds when a method or
a solver ignores it, a crash costs one run, and what was found before is kept.

    pool.py     the parent's side: start, call, watch the clock, kill
    child.py    the child's side: a script that knows nothing but how to receive a call
    running.py  what a call does: look up a registered function, run it, send findings back
"""
