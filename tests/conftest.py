"""Settings that all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from yardline.models import registry

settings.register_profile(
    "calm",
    deadline=None,
    derandomize=bool(
        os.environ.get("CI")
    ),  # what lands is judged by the same draws each time; everybody else draws anew
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.load_profile("calm")


@pytest.fixture
def clean_registry():
    """What a test registers is gone after it."""
    registry.load()
    before = dict(registry._entries)
    yield
    registry._entries.clear()
    registry._entries.update(before)
