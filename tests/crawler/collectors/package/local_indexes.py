"""How the tests send the collector to the local indexes."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import urljoin

from crawler.collectors.package import Archive, PackageCollector, PackageLimits
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.resolver import SystemResolver
from crawler.http.tls_context import create_tls_context
from crawler.sandbox.toolchain.package_indexes import NpmIndex, PythonIndex
from evidence.canonical import Json, parse_json
from evidence.model import Absent, Dossier, Observed, Record, Server, Target, TargetType
from tests.servers.indexes import PackageIndex

NOON = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LocalIndexes:
    """The indexes of a user whose tools are configured for the local server."""

    npm_url: str
    python_urls: tuple[str, ...]

    async def npm(self) -> NpmIndex:
        """The npm index."""
        return NpmIndex(self.npm_url)

    async def python(self) -> PythonIndex:
        """The Python indexes, in order."""
        return PythonIndex(self.python_urls[-1], self.python_urls[:-1])


@dataclass(slots=True)
class Bench:
    """A collector and its clock; `slept` are the waits between two tries."""

    index: PackageIndex
    now: datetime = NOON
    slept: list[float] = field(default_factory=list)
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: PackageLimits | None = None
    python: Sequence[str] = ("/simple",)
    npm_at: str = "/npm/"
    guard: AddressGuard = field(default_factory=AddressGuard)

    def collector(self) -> PackageCollector:
        """A new collector, which remembers nothing."""
        engine = HttpEngine(user_agent="hallmark-test", guard=self.guard, resolver=SystemResolver(), tls=_tls())
        indexes = LocalIndexes(
            urljoin(self.index.url, self.npm_at), tuple(self.index.url + path for path in self.python)
        )
        return PackageCollector(engine, indexes, lambda: self.now, self.limits, sleep=self._sleep, **self.options)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def look(self, *targets: Target, earlier: Record | None = None) -> Record:
        """The record of a server with these targets."""
        server = Server(ref="test:one", name="one", targets=targets)
        (record,) = asyncio.run(self.collector().collect(server, dossier(server, earlier)))
        return record

    def archive(self, target: Target) -> Archive | Absent:
        """The archive of a target."""
        return asyncio.run(self.collector().archive(target))

    def later(self, **by: float) -> None:
        """Let time pass."""
        self.now += timedelta(**by)


def dossier(server: Server, record: Record | None = None) -> Dossier:
    """An earlier dossier."""
    return Dossier(server=server, as_of=NOON, records={record.kind: record} if record else {})


def npm(name: str = "one", version: str | None = None) -> Target:
    """An npm target."""
    return Target(type=TargetType.NPM, identifier=name, version=version)


def pypi(name: str = "two", version: str | None = None) -> Target:
    """A PyPI target."""
    return Target(type=TargetType.PYPI, identifier=name, version=version)


def body(record: Record) -> Mapping[str, Any]:
    """The observed body."""
    assert isinstance(record.content, Observed), record.content
    found: Json = parse_json(record.content.body)
    assert isinstance(found, dict)
    return found


def absent(record: Record) -> Absent:
    """The absence."""
    assert isinstance(record.content, Absent), record.content
    return record.content


@cache
def _tls() -> ssl.SSLContext:
    return create_tls_context()
