"""Every page without parameters is crawled for leaks, opened in a browser, and known to search engines and readers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fastapi.routing import APIRoute

from evidence.store import Store
from publish.app import ROUTES
from publish.site.pages.sitemap import PAGES as LISTED_PAGES
from publish.web.context import SiteContext
from tests.browser.test_pages import PAGES
from tests.publish.leaks.test_nothing_leaks import BEGINNINGS, MACHINES
from tests.publish.site.plain_backend import PlainBackend

ICON = "/favicon.ico"
GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "site.md"


def test_every_page_is_crawled_opened_in_a_browser_listed_and_documented(make_store: Callable[..., Store]) -> None:
    context = SiteContext(make_store([]), PlainBackend())
    routes = [route for make in ROUTES for route in make(context).routes if isinstance(route, APIRoute)]
    paths = {route.path for route in routes if "GET" in route.methods and "{" not in route.path}
    opened = {address.partition("?")[0] for address in PAGES.values()}
    pages = paths - set(MACHINES) - {ICON}
    assert len(pages) > 8
    assert pages <= opened, "add it to PAGES in tests/browser/test_pages.py"
    assert pages <= {*BEGINNINGS, "/compare"}, "add it to BEGINNINGS in tests/publish/leaks/test_nothing_leaks.py"
    assert pages - {"/compare"} <= set(LISTED_PAGES), "add it to PAGES in publish/site/pages/sitemap.py"
    guide = GUIDE.read_text(encoding="utf-8")
    assert all(f"`{page}`" in guide for page in pages), "add it to the table of docs/guide/site.md"
