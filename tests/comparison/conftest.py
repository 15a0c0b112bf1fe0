"""One Spark session for all tests here."""

from __future__ import annotations

import json

import pytest

from yardline.decomposition.tasks.session import session


@pytest.fixture(scope="session")
def spark():
    """Two cores of this machine."""
    started = session("local[2]")
    yield started
    started.stop()


@pytest.fixture
def files(tmp_path):
    """Three tiny instances as files."""
    made = []
    for k in range(3):
        document = {
            "yardline": 1,
            "problem": "channelization",
            "name": f"tiny-{k}",
            "rates": [1, 2, 3 + k],
            "wants": [[0], [1], [0, 2]],
            "groups": 2,
            "mode": "constrained",
            "hybrid": False,
        }
        made.append(tmp_path / f"tiny-{k}.json")
        made[-1].write_text(json.dumps(document))
    return made
