"""The files for search engines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from xml.etree import ElementTree as ET

import pytest

from evidence.model import Dossier
from evidence.store import Store
from publish.site.pages import sitemap
from tests.evidence.store.listing_samples import make_many, show
from tests.publish.site.conftest import SiteOf
from tests.publish.site.dashboard_numbers import encoded

MakeStore = Callable[[Sequence[Dossier]], Store]
ROWS = make_many(60)


def addresses(text: str) -> list[str]:
    return [found.text or "" for found in ET.fromstring(text).iter() if found.tag.endswith("}loc")]


def test_the_sitemap_has_exactly_the_servers_past_the_gate(make_store: MakeStore, site_of: SiteOf) -> None:
    store = make_store([])
    show(store, ROWS, front=encoded())
    found = addresses(site_of(store).get("/sitemap.xml").text)
    listed = {address.rpartition("/")[2] for address in found if "/servers/" in address}
    assert listed == {row.server.id for row in ROWS if row.gate}
    assert all(address.startswith("https://hallmark.example/") for address in found)
    assert "https://hallmark.example/about" in found


def test_a_sitemap_that_is_too_long_is_split(
    make_store: MakeStore, site_of: SiteOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemap, "MOST", 30)
    store = make_store([])
    show(store, ROWS, front=encoded())
    site = site_of(store)
    files = addresses(site.get("/sitemap.xml").text)
    assert len(files) == 257
    found = [one for file in files for one in addresses(site.get(file.removeprefix("https://hallmark.example")).text)]
    listed = [address.rpartition("/")[2] for address in found if "/servers/" in address]
    assert sorted(listed) == sorted(row.server.id for row in ROWS if row.gate)
    assert site.get("/sitemap-zz.xml").status_code == 404


def test_robots_are_shown_the_sitemap(make_store: MakeStore, site_of: SiteOf) -> None:
    text = site_of(make_store([])).get("/robots.txt").text
    assert re.search(r"^Sitemap: https://hallmark.example/sitemap.xml$", text, re.MULTILINE)


def test_the_about_page_says_who_looks_and_how_to_object(make_store: MakeStore, site_of: SiteOf) -> None:
    page = site_of(make_store([])).get("/about").text
    for said in ("hallmark/test", "https://who.example/crawler", "opt out", "dispute", "Lab Tested", "no cookies"):
        assert said in page, said


@pytest.mark.parametrize("path", ["/retests", "/disputes"])
def test_an_address_without_a_server_leads_to_what_can_be_asked(
    path: str, make_store: MakeStore, site_of: SiteOf
) -> None:
    site = site_of(make_store([]))
    found = site.get(path)
    assert (found.status_code, found.headers["location"]) == (303, "/about#wrong")
    section = site.get("/about").text.partition('id="wrong"')[2].partition("</section>")[0]
    assert "Find your server" in section
