"""Refreshes the advisory mirror of an installation."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence

import httpx

from crawler.advisories.http_client import EXPORT_LIMITS, AdvisoryClient
from crawler.advisories.mirror import EcosystemState, Mirror
from crawler.advisories.mirror_database import MirrorUnreadable
from crawler.advisories.mirror_refresh import Refresher, RefreshInProgress, RefreshMode, RefreshResult
from crawler.advisories.osv_export import WebExport
from crawler.http.adapters import GuardedTransport
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from workers.clock import Clock
from workers.log import get_log
from workers.settings.environment import ALL_SOURCES, Settings


async def refresh_advisories(
    settings: Settings,
    clock: Clock,
    *,
    anew: bool = False,
    ecosystems: Sequence[str] = (),
    progress: Callable[[RefreshResult], object] | None = None,
) -> list[RefreshResult]:
    """Refresh the advisory mirror, all ecosystems of the settings or the given ones.

    Raises RefreshInProgress, MirrorUnreadable, and sqlite3.Error or OSError when the disk fails.
    """
    # The address comes from the operator, so it may be on a private network.
    guard = AddressGuard(allow_private=True)
    engine = HttpEngine(user_agent=settings.user_agent, guard=guard, limits=EXPORT_LIMITS)
    transport = GuardedTransport(engine, guard=guard, limits=EXPORT_LIMITS)
    async with httpx.AsyncClient(transport=transport, trust_env=False) as client:
        export = WebExport(AdvisoryClient(lambda: client, what="the export of OSV"), settings.osv_export)
        refresher = Refresher(export, settings.advisories_file, clock.wall)
        return await refresher.refresh(ecosystems or settings.ecosystems, anew=anew, progress=progress)


async def refresh_when_due(settings: Settings, clock: Clock) -> bool:
    """Refresh the mirror of this machine when that is due; False while another process creates it.

    Failures are logged and not raised: an old mirror is still useful, and evidence records that there is none.
    """
    if not {"advisories", ALL_SOURCES} & set(settings.sources) or not settings.advisories_every:
        return True
    known: Sequence[EcosystemState] = ()
    try:
        known = await asyncio.to_thread(Mirror(settings.advisories_file).states)
        if _is_due(settings, known, clock):
            for one in await refresh_advisories(settings, clock):
                failed = one.how is RefreshMode.FAILED
                write = get_log().error if failed else get_log().info
                write("advisories_refreshed", ecosystem=one.ecosystem, how=one.how, written=one.written, why=one.why)
    except RefreshInProgress:
        return bool(known)
    except (MirrorUnreadable, sqlite3.Error, OSError) as error:
        get_log().error("advisories_not_refreshed", error=str(error))
    return True


def _is_due(settings: Settings, known: Sequence[EcosystemState], clock: Clock) -> bool:
    now = clock.wall()
    fresh = {state.name for state in known if not state.is_stale(now, settings.advisories_every)}
    return not fresh.issuperset(settings.ecosystems)
