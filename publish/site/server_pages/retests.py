"""Re-tests of one server: what they are for, the form, the requests, and what the newest finished one changed."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Depends, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from evidence.store import RetestState
from publish.community.disputable_lines import list_shown_runs
from publish.site.server_context import find_server_in_run, server_response
from publish.views.comparisons.retest_results import read_retest_result
from publish.views.server_in_run import ServerInRun
from publish.web.backend import RetestAccepted, RetestProgress, RetestRefusal
from publish.web.context import SiteContext
from publish.web.same_origin import require_same_origin

RULES_SHOWN: Final = 5
FACTS_SHOWN: Final = 3
ITEMS_SHOWN: Final = 3
LEFT_SHOWN: Final = 2
"""With these, the result of a re-test fits one screen."""

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
    shown = chosen or next((one for one in known if not one.retest.is_open), None)
    is_done = shown is not None and shown.retest.state is RetestState.DONE
    open_one = next((one for one in known if one.retest.is_open), None)
    values: dict[str, Any] = {
        "retests": known,
        "shown": shown,
        "result": read_retest_result(site.store, shown.retest) if shown is not None and is_done else None,
        "may_dispute": is_done and shown is not None and shown.retest.run in set(list_shown_runs(site.store, seen.id)),
        "open": open_one,
        "refused": refused,
        "refresh": REFRESH_SECONDS if follow and open_one else 0,
        "rules_shown": RULES_SHOWN,
        "facts_shown": FACTS_SHOWN,
        "items_shown": ITEMS_SHOWN,
        "left_shown": LEFT_SHOWN,
        "now": site.backend.now(),
        "waits": site.backend.community.waits,
        "status": status,
        "index": False,
        "keep": False,
    }
    return server_response(site, "server_retests.html.j2", seen, tab="retests", **values)
