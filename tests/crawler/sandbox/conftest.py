"""Fixtures of the sandbox tests, and the rule for machines that cannot have one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.sandbox import Rootfs, build_rootfs, check_bubblewrap
from tests.crawler.sandbox.index_server import IndexServer

HERE = Path(__file__).parent
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip sandbox tests, by name and with the reason, where there is no sandbox; fail them if one is required."""
    ours = [i for i in items if i.path.is_relative_to(HERE) and i.get_closest_marker("sandbox")]
    state = check_bubblewrap() if ours else None
    if state is None or state.ok or "sandbox" in os.environ.get("HALLMARK_REQUIRE", "").split(","):
        return
    for item in ours:
        item.add_marker(pytest.mark.skip(reason=f"no sandbox here: {state.why}; {state.fix}"))


@pytest.fixture(scope="session")
def shared_cache() -> Path:
    """The cache in which `hallmark sandbox build` made the root file system."""
    named = os.environ.get("HALLMARK_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hallmark"
    return (Path(named) if named else base).resolve()


@pytest.fixture(scope="session")
def rootfs(shared_cache: Path) -> Rootfs:
    """The built root file system."""
    state = check_bubblewrap()
    assert state.ok, f"{state.why}; {state.fix}"
    return asyncio.run(build_rootfs(shared_cache, environ=os.environ))


@pytest.fixture
def cache(tmp_path: Path, shared_cache: Path, rootfs: Rootfs) -> Path:
    """A cache with the root file system and without any package."""
    folder = tmp_path / "cache"
    folder.mkdir()
    for part in ("rootfs", "tools"):
        (folder / part).symlink_to(shared_cache / part)
    return folder


@pytest.fixture
def index() -> Iterator[IndexServer]:
    """A package index for npm and Python on loopback."""
    with IndexServer() as server:
        yield server
