"""Fixtures of the package collector's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crawler.collectors.package.local_indexes import Bench
from tests.servers.indexes import PackageIndex


@pytest.fixture(scope="session")
def served() -> Iterator[PackageIndex]:
    """Package indexes on loopback, one for all tests of a process."""
    with PackageIndex() as server:
        yield server


@pytest.fixture
def index(served: PackageIndex) -> Iterator[PackageIndex]:
    """Package indexes without packages."""
    served.forget()
    yield served
    served.forget()


@pytest.fixture
def bench(index: PackageIndex) -> Bench:
    """A collector of a user whose tools are configured for them."""
    return Bench(index)
