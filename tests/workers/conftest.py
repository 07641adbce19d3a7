"""Fixtures of the tests of the workers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture
def all_events() -> Iterator[None]:
    """Log events of every level, also after a test that set a level for this process."""
    before = structlog.get_config()
    structlog.reset_defaults()
    yield
    structlog.configure(**before)
