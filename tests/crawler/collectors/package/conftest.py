"""Fixtures of the package collector's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crawler.collectors.package.looking import Bench
from tests.servers.indexes import PackageIndex


@pytest.fixture
def index() -> Iterator[PackageIndex]:
    """Package indexes on loopback."""
    with PackageIndex() as server:
        yield server


@pytest.fixture
def bench(index: PackageIndex) -> Bench:
    """A collector of a user whose tools are configured for them."""
    return Bench(index)
