"""The mirror of advisories of an installation: where it is, and bringing it up to date."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence

import httpx

from crawler.advisories.asking import EXPORT_LIMITS, Asker
from crawler.advisories.export import WebExport
from crawler.advisories.mirror import EcosystemState, Mirror
from crawler.advisories.refreshing import AnotherRefresh, How, Refreshed, Refresher
from crawler.advisories.tables import MirrorUnreadable
from crawler.wire.adapters import GuardedTransport
from crawler.wire.guard import Guard
from crawler.wire.http import Engine
from workers.clock import Clock
from workers.log import get_log
from workers.settings import ALL_SOURCES, Settings


async def refresh_advisories(
    settings: Settings,
    clock: Clock,
    *,
    anew: bool = False,
    ecosystems: Sequence[str] = (),
    progress: Callable[[Refreshed], object] | None = None,
) -> list[Refreshed]:
    """Bring the mirror of the settings up to date, all of its ecosystems or these.

    Raises AnotherRefresh, MirrorUnreadable, and sqlite3.Error or OSError when our own disk fails.
    """
    # The operator named the address, so it may be on a private network.
    guard = Guard(allow_private=True)
    engine = Engine(user_agent=settings.user_agent, guard=guard, limits=EXPORT_LIMITS)
    transport = GuardedTransport(engine, guard=guard, limits=EXPORT_LIMITS)
    async with httpx.AsyncClient(transport=transport, trust_env=False) as client:
        export = WebExport(Asker(client, what="the export of OSV"), settings.osv_export)
        refresher = Refresher(export, settings.advisories_file, clock.wall)
        return await refresher.refresh(ecosystems or settings.ecosystems, anew=anew, progress=progress)


async def keep_fresh(settings: Settings, clock: Clock) -> bool:
    """Refresh the mirror of this machine when it is due; False while another process makes the first one.

    What fails is logged: an old mirror is better than none, and without any the evidence says so.
    """
    if not {"advisories", ALL_SOURCES} & set(settings.sources) or not settings.advisories_every:
        return True
    known: Sequence[EcosystemState] = ()
    try:
        known = await asyncio.to_thread(Mirror(settings.advisories_file).states)
        if _is_due(settings, known, clock):
            for one in await refresh_advisories(settings, clock):
                failed = one.how is How.FAILED
                write = get_log().error if failed else get_log().info
                write("advisories_refreshed", ecosystem=one.ecosystem, how=one.how, written=one.written, why=one.why)
    except AnotherRefresh:
        return bool(known)
    except (MirrorUnreadable, sqlite3.Error, OSError) as error:
        get_log().error("advisories_not_refreshed", error=str(error))
    return True


def _is_due(settings: Settings, known: Sequence[EcosystemState], clock: Clock) -> bool:
    now = clock.wall()
    fresh = {state.name for state in known if not state.is_stale(now, settings.advisories_every)}
    return not fresh.issuperset(settings.ecosystems)
