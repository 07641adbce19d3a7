"""Export, API and refresher of a local OSV, on the guarded transport that product code uses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx

from crawler.advisories.http_client import API_LIMITS, EXPORT_LIMITS, AdvisoryClient
from crawler.advisories.mirror import Mirror
from crawler.advisories.mirror_refresh import Refresher, RefreshResult
from crawler.advisories.osv_api import OsvApi
from crawler.advisories.osv_export import WebExport
from crawler.advisories.version_order import OsvOrder
from crawler.http.adapters import GuardedTransport
from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine
from evidence.advisories.package_matching import Package, match_packages

NOW = datetime(2026, 6, 1, tzinfo=UTC)


class Waits(list[float]):
    """Remembers waits instead of waiting."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@asynccontextmanager
async def asking(limits: Limits, waits: Waits | None = None) -> AsyncIterator[AdvisoryClient]:
    engine = HttpEngine(user_agent="hallmark/test", guard=AddressGuard(allow_private=True), limits=limits)
    async with httpx.AsyncClient(transport=GuardedTransport(engine, limits=limits), trust_env=False) as client:
        yield AdvisoryClient(lambda: client, what="OSV", sleep=waits if waits is not None else Waits())


def refresh(
    base: str,
    path: Path,
    ecosystems: Sequence[str] = ("PyPI",),
    *,
    now: datetime = NOW,
    anew: bool = False,
    waits: Waits | None = None,
) -> list[RefreshResult]:
    """Refresh a mirror once."""

    async def run() -> list[RefreshResult]:
        async with asking(EXPORT_LIMITS, waits) as asker:
            return await Refresher(WebExport(asker, base), path, lambda: now).refresh(ecosystems, anew=anew)

    return asyncio.run(run())


@asynccontextmanager
async def api(base: str, waits: Waits | None = None) -> AsyncIterator[OsvApi]:
    async with asking(API_LIMITS, waits) as asker:
        yield OsvApi(asker, base)


def affecting(path: Path, ecosystem: str, name: str, version: str) -> list[str]:
    """The ids by which a mirror says that a version is affected."""
    with Mirror(path).snapshot() as snapshot:
        assert snapshot is not None
        package = Package(ecosystem=ecosystem, name=name, version=version)
        hits = match_packages([package], snapshot.ecosystems, snapshot.candidates, OsvOrder()).hits
        return sorted(hit.id for hit in hits)
