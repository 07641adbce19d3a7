"""Feeds to follow changes: Atom (RFC 4287) and JSON Feed 1.1, of all servers by run, of a category, of one server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import islice, pairwise
from typing import Any, Final
from xml.etree import ElementTree as ET

from fastapi import APIRouter
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from evidence.derive.secret_scrubbing import scrub_text
from evidence.model import Run
from evidence.store import RunRow
from evidence.store.listing.values import HistoryPoint
from publish.site.server_context import find_listed_server
from publish.text.display import make_visible
from publish.text.numbers import format_number
from publish.views.categories import find_category
from publish.views.dashboard import DashboardNumbers
from publish.views.headlines import Turn, find_turn
from publish.views.server_in_run import find_main_rubric
from publish.web.context import CACHE_PUBLIC, SiteContext

MAX_ENTRIES: Final = 30
"""Runs in the feed of all servers, changes in that of one."""

_CHANGES: Final = {
    "up": "rose",
    "down": "fell",
    "lost_score": "lost the score",
    "gained_score": "have a score again",
    "new": "new",
}
_NAME: Final = 120
_SPACE: Final = "http://www.w3.org/2005/Atom"
_ATOM: Final = "application/atom+xml"
_JSON: Final = "application/feed+json"


class FeedEntry(Struct, frozen=True):
    """One change: its id, the address of a page about it, its title, a text, and when the evidence was collected."""

    id: str
    url: str
    title: str
    text: str
    at: datetime


class Feed(Struct, frozen=True):
    """A feed: the address of its page, its title, its entries, newest first, and its date as long as it has none."""

    page: str
    title: str
    entries: Sequence[FeedEntry]
    began: datetime


def routes(site: SiteContext) -> APIRouter:
    """`/feed.atom`, `/feed.json`, and the same below the address of a category and below the page of a server."""
    router = APIRouter()
    headers = {"cache-control": CACHE_PUBLIC, "access-control-allow-origin": "*"}

    @router.get("/feed.atom")
    def all_atom() -> Response:
        return Response(_render_atom(_feed_of_all(site), site.absolute("/feed.atom")), 200, headers, _ATOM)

    @router.get("/feed.json")
    def all_json() -> Response:
        return JSONResponse(_render_json(_feed_of_all(site), site.absolute("/feed.json")), 200, headers, _JSON)

    @router.get("/categories/{name}/feed.atom")
    def category_atom(name: str) -> Response:
        address = site.absolute(f"/categories/{name}/feed.atom")
        return Response(_render_atom(_feed_of_category(site, name), address), 200, headers, _ATOM)

    @router.get("/categories/{name}/feed.json")
    def category_json(name: str) -> Response:
        address = site.absolute(f"/categories/{name}/feed.json")
        return JSONResponse(_render_json(_feed_of_category(site, name), address), 200, headers, _JSON)

    @router.get("/servers/{server}/feed.atom")
    def server_atom(server: str) -> Response:
        address = site.absolute(f"/servers/{server}/feed.atom")
        return Response(_render_atom(_feed_of_server(site, server), address), 200, headers, _ATOM)

    @router.get("/servers/{server}/feed.json")
    def server_json(server: str) -> Response:
        address = site.absolute(f"/servers/{server}/feed.json")
        return JSONResponse(_render_json(_feed_of_server(site, server), address), 200, headers, _JSON)

    return router


def _feed_of_all(site: SiteContext) -> Feed:
    return Feed(site.absolute("/"), "Hallmark: changes of MCP servers", list(_list_runs(site)), _find_newest_run(site))


def _find_newest_run(site: SiteContext) -> datetime:
    """When the evidence of the newest published run was collected; now, if no run was published."""
    return next((row.run.as_of for row in site.store.listing.list_published_runs()), site.backend.now())


def _feed_of_category(site: SiteContext, name: str) -> Feed:
    """The changes in one category by run; raise HTTPException 404 for an unknown category."""
    category = find_category(name)
    if category is None:
        raise HTTPException(404, "There is no such category. The page of categories lists all.")
    page = site.absolute(f"/servers?category={category.id}")
    entries = [
        _describe_category(page, stored.run, one)
        for stored, numbers, _ in _list_compared(site)
        for one in numbers.rows("categories")
        if one["name"] == category.id
    ]
    return Feed(page, f"Hallmark: {category.title}", entries, _find_newest_run(site))


def _describe_category(page: str, run: Run, one: Mapping[str, Any]) -> FeedEntry:
    counts = ", ".join(f"{one[name]} {words}" for name, words in _CHANGES.items() if one[name])
    servers = f"{one['servers']} server{'' if one['servers'] == 1 else 's'}"
    moved = "; ".join(map(_describe_mover, one["moves"])) or "No score that both runs have differs."
    return FeedEntry(f"{page}#{run.id}", page, f"{servers}: {counts or 'no changes'}", moved, run.as_of)


def _list_compared(site: SiteContext) -> Iterator[tuple[RunRow, DashboardNumbers, Mapping[str, Any]]]:
    """The published runs that compare with the one before, newest first, with their numbers and their movers."""
    for stored in islice(site.store.listing.list_published_runs(), MAX_ENTRIES):
        numbers = DashboardNumbers.read(site.store, stored.run.id)
        movers = numbers.values.get("movers")
        if isinstance(movers, Mapping) and movers.get("since"):
            yield stored, numbers, movers


def _list_runs(site: SiteContext) -> Iterator[FeedEntry]:
    """An entry for each published run that compares with the one before: how many moved, and the biggest moves."""
    for stored, numbers, movers in _list_compared(site):
        counts = ", ".join(f"{movers.get(name, 0)} {words}" for name, words in (("up", "rose"), ("down", "fell")))
        moved = "; ".join(map(_describe_mover, movers.get("most", ())))
        home = site.absolute("/")
        yield FeedEntry(
            f"{home}#{stored.run.id}",
            home,
            f"{numbers.servers} servers: {counts}",
            moved or "No score changed.",
            stored.run.as_of,
        )


def _describe_mover(mover: Mapping[str, Any]) -> str:
    name = _clean(mover.get("name") or mover.get("ref") or mover["server"])
    before, after = (None if mover.get(end) is None else Decimal(str(mover[end])) for end in ("before", "after"))
    return f"{name}: {_describe_move(before, after)}"


def _feed_of_server(site: SiteContext, server: str) -> Feed:
    """The changes of the score under the default methodology."""
    listed = find_listed_server(site, server)
    name, page = _clean(listed.server.name or listed.server.ref), site.absolute(f"/servers/{listed.server.id}")
    rubric = find_main_rubric(listed.scores)
    version = max((one.version for one in listed.scores if one.rubric == rubric), default=None)
    history = [one for one in site.store.listing.read_history(listed.server.id, rubric) if one.version == version]
    changes = [
        _describe_change(page, before, after)
        for before, after in pairwise(history)
        if (before.score, before.grade) != (after.score, after.grade)
    ]
    began = history[0].as_of if history else listed.as_of
    return Feed(page, f"Hallmark: {name}", changes[: -MAX_ENTRIES - 1 : -1], began)


def _describe_change(page: str, before: HistoryPoint, after: HistoryPoint) -> FeedEntry:
    title = _describe_move(before.score, after.score)
    if before.grade != after.grade and after.grade:
        title += f", grade {after.grade}" + (f" instead of {before.grade}" if before.grade else "")
    why = "" if before.pins == after.pins else " Rules, rubrics or collectors changed between the two runs."
    url = f"{page}?run={after.run}"
    return FeedEntry(url, url, title, f"Under {after.rubric}@{after.version}.{why}", after.as_of)


def _describe_move(before: Decimal | None, after: Decimal | None) -> str:
    match find_turn(before, after):
        case Turn.LOST_SCORE:
            return "has no score any more"
        case Turn.GAINED_SCORE:
            return f"has a score again: {format_number(after or Decimal(0))}"
    return f"{format_number(before or Decimal(0))} → {format_number(after or Decimal(0))}"


def _clean(name: str) -> str:
    """A name of a stranger without control characters, which XML cannot hold, and without secrets."""
    return make_visible(scrub_text(name), limit=_NAME)


def _render_atom(feed: Feed, address: str) -> bytes:
    root = ET.Element("feed", xmlns=_SPACE)
    updated = feed.entries[0].at if feed.entries else feed.began
    _add_texts(root, id=address, title=feed.title, updated=updated.isoformat())
    ET.SubElement(root, "link", rel="self", type=_ATOM, href=address)
    ET.SubElement(root, "link", rel="alternate", type="text/html", href=feed.page)
    _add_texts(ET.SubElement(root, "author"), name="Hallmark")
    for entry in feed.entries:
        found = ET.SubElement(root, "entry")
        _add_texts(found, id=entry.id, title=entry.title, updated=entry.at.isoformat(), summary=entry.text)
        ET.SubElement(found, "link", rel="alternate", type="text/html", href=entry.url)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text


def _add_texts(parent: ET.Element, **texts: str) -> None:
    for name, text in texts.items():
        ET.SubElement(parent, name).text = text


def _render_json(feed: Feed, address: str) -> dict[str, Any]:
    items = [
        {
            "id": entry.id,
            "url": entry.url,
            "title": entry.title,
            "content_text": entry.text,
            "date_published": entry.at.isoformat(),
        }
        for entry in feed.entries
    ]
    version = "https://jsonfeed.org/version/1.1"
    return {"version": version, "title": feed.title, "home_page_url": feed.page, "feed_url": address, "items": items}
