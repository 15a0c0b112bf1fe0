"""Tasks: many independent calls of the worker that can be killed, on this machine or on Spark, with equal answers.

task.py     a task, a result, and what is done with one
local.py    threads of this process, each with a worker of its own
spark.py    the same on Spark
session.py  one Spark session per command; java.py finds the Java for it
"""
