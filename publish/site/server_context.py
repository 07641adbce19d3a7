"""Finds the server that a page is about, or answers 404; and renders pages with the values that all of them show."""

from __future__ import annotations

from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import Response

from evidence.model import ServerId
from evidence.store.listing.shown_server import ShownServer
from evidence.store.listing.values import ListedServer
from publish.community.disputable_lines import list_shown_runs
from publish.site.list_rows import ACCESS
from publish.views.absence_advice import advise_on_absence
from publish.views.public_servers import read_server_outline
from publish.views.server_in_run import (
    ServerInRun,
    find_main_rubric,
    list_public_runs,
    methodology_titles,
    read_server_in_run,
)
from publish.web.context import SiteContext

OPTED_OUT: Final = "The operator of this server opted out. Nothing about it is shown."
UNKNOWN: Final = "No published server has this address. Search for it by its name, or by the reference in its registry."
NOT_IN_RUN: Final = (
    "The server was not in this run, or the run is not published. Its history lists the runs that tested it."
)


PARTS: Final = {
    "Findings": (("/fixes", "fixes", "How to fix"), ("/disputes", "disputes", "Disputes")),
    "Evidence": (
        ("/evidence", "evidence", "Records"),
        ("/observations", "observations", "Observations"),
        ("/transcript", "transcript", "Transcript"),
        ("/project", "project", "Project"),
    ),
    "History": (
        ("/history", "history", "Scores"),
        ("/changes", "changes", "Changes"),
        ("/retests", "retests", "Re-tests"),
    ),
}
"""The pages of a tab, each with its path, its name and its title; the first one opens with the tab."""

TABS: Final = {"overview": "Overview", "tools": "Tools"} | {
    name: title for title, pages in PARTS.items() for _, name, _ in pages
}
"""The tab of each page, by the name of the page."""


def server_response(site: SiteContext, template: str, seen: ServerInRun, *, tab: str, **values: Any) -> Response:
    """A page that shows evidence or receipts of a server; `tab` is the selected tab. `values` override the defaults."""
    absent = seen.absent
    reasons = {
        "reason": absent.reason if absent else None,
        "detail": absent.detail if absent else "",
        "advice": advise_on_absence(absent.reason) if absent else None,
    }
    return history_response(site, template, seen, tab=tab, **{**reasons, **values})


def history_response(site: SiteContext, template: str, seen: ServerInRun, *, tab: str, **values: Any) -> Response:
    """A page about all runs of a server; its evidence is not read."""
    top = {
        "here": "servers",
        "index": seen.newest and seen.listed.gate,
        "server": seen.listed.server,
        "listed": seen.listed,
        "run": seen.run.run,
        "is_newest": seen.newest,
        "state": seen.state,
        "dropped": seen.dropped,
        "titles": methodology_titles().rubrics,
        "access_words": ACCESS,
        "asked": "" if seen.newest else f"?run={seen.run.run.id}",
        "receipt_page": lambda card: f"/servers/{seen.id}/receipts/{card.rubric}@{card.version}",
        "server_tabs": TABS,
        "server_tab_parts": PARTS,
        "server_actions": _list_actions(seen.id),
        "disputes_page": f"/servers/{seen.id}/disputes",
        "dispute_form": f"/servers/{seen.id}/disputes/new" if _has_newest_receipts(site, seen) else "",
    }
    return site.page(template, **{**top, "tab": tab, **values})


def _list_actions(server: ServerId) -> tuple[tuple[str, str, str], ...]:
    """What a visitor can do about a server: the path of the page, its name and the words of the link."""
    here = f"/servers/{server}"
    return (
        (f"{here}/retests", "retests", "Re-test"),
        (f"{here}/disputes", "disputes", "Dispute"),
        (f"{here}/badges", "badges", "Badge"),
        (f"/compare?server={server}", "compare", "Compare"),
        (f"{here}/badges#follow", "follow", "Follow"),
    )


def _has_newest_receipts(site: SiteContext, seen: ServerInRun) -> bool:
    """Whether lines of the run can be disputed."""
    return seen.newest or seen.run.run.id in list_shown_runs(site.store, seen.id)


def find_server_in_run(site: SiteContext, server: ServerId, run: str | None = None) -> ServerInRun:
    """What is public of a server in a run, by default in that of the lists; raise HTTPException 404 if nothing is."""
    with site.store.read_transaction():
        shown = _find_shown_server(site, server)
        if run not in {None, shown.listed.run} and run not in list_public_runs(site.store, server):
            raise HTTPException(404, NOT_IN_RUN)
        row = shown.run if run is None else site.store.find_run(run)
        found = read_server_in_run(site.store, shown.listed, row) if row else None
        if found is None:
            raise HTTPException(404, NOT_IN_RUN if run else UNKNOWN)
        return found


def find_server_outline(site: SiteContext, server: ServerId) -> ServerInRun:
    """A server in the run that lists show, with its main receipt only, unless its page needs more."""
    shown = _find_shown_server(site, server)
    listed = shown.listed
    outline = read_server_outline(site.store, shown, find_main_rubric(listed.scores))
    if outline is None:
        return find_server_in_run(site, server)
    return ServerInRun(listed, shown.run, lambda: find_server_in_run(site, server, listed.run).public, outline=outline)


def find_listed_server_in_run(site: SiteContext, server: ServerId) -> ServerInRun:
    """A server in the run that lists show, without reading its evidence, unless the run's records were dropped."""
    shown = _find_shown_server(site, server)
    if shown.flags.dropped:
        return find_server_in_run(site, server)
    listed = shown.listed
    return ServerInRun(listed, shown.run, lambda: find_server_in_run(site, server, listed.run).public)


def find_listed_server(site: SiteContext, server: ServerId) -> ListedServer:
    """A server as lists show it; raise HTTPException 404 if it is unknown, not published, or opted out."""
    return _find_shown_server(site, server).listed


def _find_shown_server(site: SiteContext, server: ServerId) -> ShownServer:
    shown = site.store.listing.find_shown(server)
    if shown is None:
        known = site.store.find_server(server)
        raise HTTPException(404, OPTED_OUT if known is not None and site.is_hidden(known) else UNKNOWN)
    if site.is_hidden(shown.listed.server):
        raise HTTPException(404, OPTED_OUT)
    return shown
