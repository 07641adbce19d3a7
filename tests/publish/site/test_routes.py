"""Every page without parameters is in the sitemap, from which the crawl for leaks and the browser tests start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fastapi.routing import APIRoute

from evidence.store import Store
from publish.app import ROUTES
from publish.site.pages.sitemap import PAGES as LISTED_PAGES
from publish.web.context import SiteContext
from tests.publish.leaks.test_nothing_leaks import MACHINES
from tests.publish.site.plain_backend import PlainBackend

ICON = "/favicon.ico"
GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "site.md"


def test_every_page_is_in_the_sitemap_and_in_the_guide(make_store: Callable[..., Store]) -> None:
    context = SiteContext(make_store([]), PlainBackend())
    routes = [route for make in ROUTES for route in make(context).routes if isinstance(route, APIRoute)]
    paths = {route.path for route in routes if "GET" in route.methods and "{" not in route.path}
    pages = paths - set(MACHINES) - {ICON}
    assert len(pages) > 8
    unlisted = {"/compare", "/retests", "/disputes"}  # one needs servers, the others lead to /about
    assert pages - unlisted <= set(LISTED_PAGES), "add it to PAGES in publish/site/pages/sitemap.py"
    guide = GUIDE.read_text(encoding="utf-8")
    assert all(f"`{page}`" in guide for page in pages), "add it to the table of docs/guide/site.md"
