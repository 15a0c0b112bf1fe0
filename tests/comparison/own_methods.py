"""Methods that misbehave, each in its own way, and some that behave: what a user might bring."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np

import yardline as yl

PROBLEM = "channelization"


def one_group(instance):
    """Everything to everybody: a valid plan."""
    return {"groups": [list(range(instance.n))], "subscriptions": [[0]] * instance.m}


def good(instance, rng):
    return one_group(instance)


def drawn(instance, rng):
    """Random groups: equal only where the seed is."""
    group = rng.integers(0, instance.groups, size=instance.n)
    groups = [[i for i in range(instance.n) if group[i] == g] for g in range(instance.groups)]
    wants = instance.document()["wants"]
    return {"groups": groups, "subscriptions": [sorted({int(group[i]) for i in wanted}) for wanted in wants]}


def raises(instance, rng):
    raise ZeroDivisionError("what was I thinking")


def kills_itself(instance, rng):
    os.kill(os.getpid(), signal.SIGKILL)


def kills_its_parent(instance, rng):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(5)


def eats_memory(instance, rng):
    held = []
    while True:
        held.append(np.zeros(2**27))  # a gigabyte, which counts before it is touched


def prints(instance, rng):
    print("{not json")
    os.write(1, b"nor this\n")
    return one_group(instance)


def forks(instance, rng):
    """Both copies return; one answer counts."""
    if os.fork() == 0:
        time.sleep(0.3)
        return {"groups": [], "subscriptions": [[]] * instance.m}
    return one_group(instance)


def exits(instance, rng):
    sys.exit(3)


def loops(instance, rng):
    while True:
        pass


def returns_garbage(instance, rng):
    return object


def returns_half(instance, rng):
    return {"groups": [[0]]}


def breaks_a_rule(instance, rng):
    return {"groups": [], "subscriptions": [[]] * instance.m}


def boasts(instance, rng):
    """A valid plan with a bound below its own cost, but above what others pay."""
    plan = yl.ChannelizationPlan.from_document(one_group(instance), instance)
    cost = yl.evaluate(instance, plan).cost
    return yl.Answer(solution=plan, bound=0.99 * cost, valid_because="I say so")


def sleeps(instance, rng):
    time.sleep(1.0)
    return one_group(instance)


def register(*functions):
    """Each under its own name, with dashes."""
    for function in functions:
        yl.method(PROBLEM, function.__name__.replace("_", "-"))(function)
    return [function.__name__.replace("_", "-") for function in functions]
