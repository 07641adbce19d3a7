"""The mirror of advisories of an installation: where it is, and bringing it up to date."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import httpx

from crawler.advisories.asking import EXPORT_LIMITS, Asker
from crawler.advisories.export import WebExport
from crawler.advisories.refreshing import Refreshed, Refresher
from crawler.wire.adapters import GuardedTransport
from crawler.wire.guard import Guard
from crawler.wire.http import Engine
from workers.clock import Clock
from workers.settings import Settings


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
