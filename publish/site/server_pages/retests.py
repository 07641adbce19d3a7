"""Re-tests of one server: the form, the requests, and the changes of the newest one."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Depends, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from publish.community.limits import CommunityLimits
from publish.site.server_context import find_server_in_run, server_response
from publish.views.server_in_run import ServerInRun
from publish.web.backend import RetestAccepted, RetestProgress, RetestRefusal
from publish.web.context import SiteContext
from publish.web.same_origin import require_same_origin

LINES_SHOWN: Final = 60

_STATUS: Final = {RetestRefusal.UNKNOWN_SERVER: 404, RetestRefusal.OPTED_OUT: 409, RetestRefusal.TOO_MANY: 429}
AGAIN_SECONDS: Final = 3600
REFRESH_SECONDS: Final = 5


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()

    @router.get("/servers/{server}/retests")
    def retests(server: str, follow: bool = False) -> Response:
        return _page(site, find_server_in_run(site, server), follow=follow)

    @router.get("/servers/{server}/retests/{retest}")
    def one_retest(server: str, retest: str) -> Response:
        seen, found = find_server_in_run(site, server), site.backend.retest(retest)
        if found is None or found.retest.server != server:
            raise HTTPException(404, "There is no re-test with this id of this server.")
        return _page(site, seen, chosen=found)

    @router.post("/servers/{server}/retests", dependencies=[Depends(require_same_origin)])
    def ask(request: Request, server: str) -> Response:
        seen = find_server_in_run(site, server)
        asked = site.backend.ask_retest(server, site.client(request))
        if isinstance(asked, RetestAccepted):
            return RedirectResponse(f"/servers/{seen.id}/retests", 303)
        answer = _page(site, seen, refused=asked.message, status=_STATUS[asked.why])
        if asked.why is RetestRefusal.TOO_MANY:
            answer.headers["retry-after"] = str(AGAIN_SECONDS)
        return answer

    return router


def _minutes(limits: CommunityLimits) -> tuple[int, int]:
    return round(limits.cooldown.total_seconds() / 60), round(limits.owner_cooldown.total_seconds() / 60)


def _page(
    site: SiteContext,
    seen: ServerInRun,
    *,
    chosen: RetestProgress | None = None,
    refused: str = "",
    status: int = 200,
    follow: bool = False,
) -> Response:
    """The page reloads by itself only with `follow`, since automatic reloads are a barrier (WCAG 2.2.1)."""
    known = site.backend.retests(seen.id)
    shown = chosen or (site.backend.retest(known[0].retest.id) if known else None)
    is_open = any(one.retest.is_open for one in known)
    values: dict[str, Any] = {
        "retests": known,
        "shown": shown,
        "open": is_open,
        "refused": refused,
        "refresh": REFRESH_SECONDS if follow and is_open else 0,
        "lines_shown": LINES_SHOWN,
        "now": site.backend.now(),
        "waits": _minutes(site.backend.community),
        "status": status,
        "index": False,
        "keep": False,
    }
    return server_response(site, "server_retests.html.j2", seen, tab="retests", **values)
