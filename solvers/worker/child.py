"""The child process: receives calls, sends back what they find. Started as a plain script, so that a user's unguarded
script is never run again (as multiprocessing's spawn would do)."""

import importlib
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from multiprocessing.connection import Connection
from typing import Any


def main() -> None:
    """Serve calls until the parent closes the line."""
    parent = os.getppid()
    _owner.append(os.getpid())
    connection = Connection(int(sys.argv[1]))
    setup = pickle.loads(connection.recv_bytes())
    sys.path[:] = setup["path"]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    os.dup2(2, 1)  # what a method prints must not get into the parent's answer
    _limit_memory(setup["memory"])
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    importlib.import_module(setup["soon"])
    while True:
        try:
            call = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        _serve(connection, call)


def _limit_memory(limit: int) -> None:
    """A method that eats memory gets a MemoryError before the machine suffers."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)  # stays: whoever starts a Java from here lifts the limit for it
    allowed = limit if most == resource.RLIM_INFINITY else min(limit, most)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (allowed, most))
    except (ValueError, OSError) as error:  # some systems do not let a process limit itself: the user should know
        print(f"yardline: no memory limit on this system ({error})", file=sys.stderr)


def _end_with(parent: int) -> None:
    """Stop when the parent is gone, even in the middle of a call."""
    while os.getppid() == parent:
        time.sleep(0.5)
    if os.getpgrp() == os.getpid():  # whatever a method has started goes with it
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


_owner: list[int] = []  # the process that serves: a method may fork
_line = threading.Lock()
_kept: dict[str, Any] = {}
KEPT = 4  # as in pool.py


def _payload(call: dict[str, Any]) -> dict[str, Any]:
    """The payload of a call, with the shared thing that it names; the last few are kept."""
    if call["shared"] is None:
        return dict(call["payload"])
    name, pickled = call["shared"]
    if pickled is not None:
        _kept[name] = pickle.loads(pickled)
        while len(_kept) > KEPT:
            del _kept[next(iter(_kept))]
    return {**call["payload"], "shared": _kept[name]}


def _serve(connection: Connection, call: dict[str, Any]) -> None:
    """One call: findings on the way, then its answer or its failure."""

    def send(kind: str, content: object) -> None:
        if os.getpid() not in _owner:  # a copy that the method forked: nobody waits for its answer
            os._exit(0)
        message = pickle.dumps((call["number"], kind, content), protocol=pickle.HIGHEST_PROTOCOL)
        with _line:  # a method may report from several threads
            connection.send_bytes(message)

    try:
        module, _, name = call["target"].rpartition(":")
        target = getattr(importlib.import_module(module), name)
        importlib.import_module("yardline.models.clock").tell(lambda word: send(word, None))
        send("done", target(_payload(call), send))
    except BaseException as error:  # sys.exit and the like included: it costs this call, not the worker
        send("failed", _failure(error))


def _failure(error: BaseException) -> dict[str, str]:
    words = " ".join(str(error).split())
    return {"type": type(error).__name__, "message": words, "traceback": traceback.format_exc()}


if __name__ == "__main__":
    main()
