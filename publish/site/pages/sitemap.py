"""For search engines: `/robots.txt`, and `/sitemap.xml` with the servers that pass the quality gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final
from xml.sax.saxutils import escape

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from publish.views.dashboard import DashboardNumbers
from publish.web.context import CACHE_PUBLIC, SiteContext

MOST: Final = 50_000
"""Addresses in one file: https://www.sitemaps.org/protocol.html"""

_PARTS: Final = tuple(f"{number:02x}" for number in range(256))
"""The first two digits of ids: a file for each holds its share of twelve million servers."""

PAGES: Final = (
    "/",
    "/servers",
    "/categories",
    "/methods",
    "/rules",
    "/datasets",
    "/status",
    "/api",
    "/about",
    "/glossary",
)
"""Pages without parameters. Search engines may list them; tests crawl them and open them in a browser."""

_SPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
_TYPE: Final = "application/xml"

_ROBOTS: Final = """User-agent: *
Disallow: /api/v1/
Disallow: /compare
Disallow: /servers?
Disallow: /servers/*/compare
Disallow: /servers/*/disputes/new

Sitemap: {sitemap}
"""


def routes(site: SiteContext) -> APIRouter:
    """Both; with more servers than fit a file, the sitemap is an index with a file for each two first digits of ids."""
    router = APIRouter()
    headers = {"cache-control": CACHE_PUBLIC}

    @router.get("/robots.txt")
    def robots() -> Response:
        return PlainTextResponse(_ROBOTS.format(sitemap=site.absolute("/sitemap.xml")), headers=headers)

    @router.get("/sitemap.xml")
    def sitemap() -> Response:
        # No more servers than those published pass the gate.
        if DashboardNumbers.read(site.store).servers > MOST - len(PAGES):
            files = [
                site.absolute("/sitemap-pages.xml"),
                *(site.absolute(f"/sitemap-{digits}.xml") for digits in _PARTS),
            ]
            return Response(_document("sitemapindex", map(_sitemap, files)), headers=headers, media_type=_TYPE)
        found = (*_of_pages(site), *_of_servers(site))
        return Response(_document("urlset", found), headers=headers, media_type=_TYPE)

    @router.get("/sitemap-{part}.xml")
    def part_of_sitemap(part: str) -> Response:
        if part != "pages" and part not in _PARTS:
            raise HTTPException(404)
        found = _of_pages(site) if part == "pages" else _of_servers(site, part)
        return Response(_document("urlset", found), headers=headers, media_type=_TYPE)

    return router


def _of_pages(site: SiteContext) -> Iterator[str]:
    return (_url(site.absolute(path)) for path in PAGES)


def _of_servers(site: SiteContext, digits: str = "") -> Iterator[str]:
    """The pages of servers past the gate, or of those whose id begins with these digits."""
    found = site.store.listing.list_indexable(f"srv_{digits}")
    return (_url(site.absolute(f"/servers/{server}"), as_of) for server, as_of in found)


def _url(address: str, changed: datetime | None = None) -> str:
    date = f"<lastmod>{changed:%Y-%m-%d}</lastmod>" if changed else ""
    return f"<url><loc>{escape(address)}</loc>{date}</url>"


def _sitemap(address: str) -> str:
    return f"<sitemap><loc>{escape(address)}</loc></sitemap>"


def _document(root: str, parts: Iterable[str]) -> str:
    lines = "\n".join(parts)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{_SPACE}">\n{lines}\n</{root}>\n'
