"""The user's own indexes, as they are today; run by `make live`."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from crawler.collectors.package import Archive, PackageCollector, index_transport
from crawler.http.engine import HttpEngine
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from evidence.kinds.package import Repository
from evidence.model import Absent, Reason, Server, Target
from tests.crawler.collectors.package.local_indexes import NOON, body, dossier, npm, pypi
from workers.settings.environment import read_settings

pytestmark = pytest.mark.live


def collector() -> PackageCollector:
    """A collector of this user."""
    engine = HttpEngine(user_agent="hallmark-test")
    return PackageCollector(engine, ConfiguredIndexes(os.environ, read_settings().cache), lambda: datetime.now(UTC))


def look(target: Target) -> dict[str, Any]:
    """The body of a package's record."""
    server = Server(ref="test:live", name="live", targets=(target,))
    (record,) = asyncio.run(collector().collect(server, dossier(server)))
    return dict(body(record))


@pytest.mark.parametrize(
    ("target", "name", "directory"),
    [
        (npm("@modelcontextprotocol/server-everything"), "io.github.modelcontextprotocol/server-everything", None),
        (pypi("mcp-server-time"), "io.github.modelcontextprotocol/server-time", "src/time"),
    ],
)
def test_an_official_server_is_what_it_is_known_to_be(target: Target, name: str, directory: str | None) -> None:
    found = look(target)
    assert (found["exists"], found["version_exists"], found["version"] == found["latest"]) == (True, True, True)
    assert found["mcp_name"] == name
    assert Repository(**found["repository"]).url == "https://github.com/modelcontextprotocol/servers"
    assert directory in {None, found["repository"]["directory"]}
    assert found["install_scripts"] == []
    assert found["versions"] >= 10
    assert found["deprecated"] is None
    assert found["published"] is not None
    assert found["licence"]


@pytest.mark.parametrize(
    ("target", "version"),
    [
        (npm("@modelcontextprotocol/server-everything", "2025.7.29"), "2025.7.29"),
        (pypi("mcp-server-time", "2025.7.1"), "2025.7.1"),
    ],
)
def test_an_old_version_is_recorded_as_old(target: Target, version: str) -> None:
    found = look(target)
    assert (found["version"], found["version_exists"]) == (version, True)
    assert found["latest"] != version
    assert found["published"] < found["latest_published"]


@pytest.mark.parametrize("make", [npm, pypi])
def test_a_package_that_is_not_there_is_observed_as_missing(make: Any) -> None:
    found = look(make("hallmark-test-there-is-no-such-package"))
    assert (found["exists"], found["version"], found["versions"]) == (False, None, None)


@pytest.mark.parametrize(
    "target", [npm("@modelcontextprotocol/server-everything", "99.99.99"), pypi("mcp-server-time", "99.99.99")]
)
def test_a_version_that_is_not_there_is_observed_as_missing(target: Target) -> None:
    found = look(target)
    assert (found["exists"], found["version_exists"], found["version"]) == (True, False, None)


def test_the_largest_packument_is_read() -> None:
    found = look(npm("typescript", "5.0.2"))
    assert (found["version"], found["licence"]) == ("5.0.2", "Apache-2.0")
    assert found["versions"] > 3000


@pytest.mark.parametrize("target", [npm("@modelcontextprotocol/server-everything"), pypi("mcp-server-time")])
def test_the_archive_is_where_the_index_says(target: Target) -> None:
    async def first_bytes() -> bytes:
        engine, indexes = HttpEngine(user_agent="hallmark-test"), ConfiguredIndexes(os.environ, read_settings().cache)
        found = await PackageCollector(engine, indexes, lambda: NOON).archive(target)
        assert isinstance(found, Archive), found
        assert found.digest is not None
        index = await (indexes.npm() if found.ecosystem == "npm" else indexes.python())
        transport = await index_transport(engine, index, most_bytes=8 << 20)
        async with httpx.AsyncClient(transport=transport, trust_env=False) as client:
            return (await client.get(found.address)).raise_for_status().content

    assert asyncio.run(first_bytes()).startswith(b"\x1f\x8b")


def test_no_file_of_a_missing_package_is_named() -> None:
    found = asyncio.run(collector().archive(npm("hallmark-test-there-is-no-such-package")))
    assert isinstance(found, Absent)
    assert found.reason is Reason.NO_PACKAGE
