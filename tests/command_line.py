"""The command line, in the test's own process or in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from yardline.cli import main

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Said:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


def here(monkeypatch, capsys, *words: object) -> Said:
    """Run `yardline ...` in this process."""
    monkeypatch.setattr(sys, "argv", ["yardline", *map(str, words)])
    capsys.readouterr()
    try:
        main()
    except SystemExit as end:
        captured = capsys.readouterr()
        return Said(int(end.code or 0), captured.out, captured.err)
    raise AssertionError("main() came back")


def environment() -> dict[str, str]:
    """For a process of its own that imports this tree and the helpers of the tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}


def outside(*words: object, cwd: Path = ROOT, timeout: float = 60, **more: Any) -> Said:
    """Run `python -m yardline ...` in a process of its own."""
    command = [sys.executable, "-m", "yardline", *map(str, words)]
    environment = {"env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=timeout, **environment, **more)
    return Said(done.returncode, done.stdout, done.stderr)


def is_one_line(said: Said) -> bool:
    """An error as it should be: nothing on stdout, one line on stderr, no traceback."""
    return said.out == "" and len(said.err.strip().splitlines()) == 1 and "Traceback" not in said.err
