"""Feeds say what changed, in valid Atom and JSON Feed, and nothing about servers that opted out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from fastapi.testclient import TestClient
from msgspec.structs import replace

from evidence.model import Dossier
from evidence.store import Store, open_store
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from tests.publish import samples
from tests.publish.site.conftest import SiteOf
from tests.publish.site.listing_stores import night, put
from tests.publish.site.plain_backend import NOW

ATOM = "{http://www.w3.org/2005/Atom}"
BEFORE = replace(samples.RUN, id="run_20260201T030000Z_0000")


def cards(dossier: Dossier, points: int, grade: str) -> list[Scorecard]:
    found = samples.cards(dossier)
    return [replace(one, score=Decimal(points), floor=Decimal(points), grade=grade) for one in found]


@pytest.fixture
def moved(make_store: Callable[..., Store]) -> Store:
    """Two servers in three runs: one rises, then stays; the other, whose name is hostile, falls twice."""
    store = make_store([], BEFORE)
    quiet, hostile = samples.dossiers(1)[0], samples.hostile_dossier()
    for number, (up, down) in enumerate(((60, 90), (72, 80), (72, 70))):
        put(store, night(number), [quiet, hostile], [*cards(quiet, up, "C"), *cards(hostile, down, "B")])
    return store


def entries(text: str) -> list[dict[str, str | None]]:
    root = ET.fromstring(text)
    assert root.tag == f"{ATOM}feed"
    for name in ("id", "title", "updated"):
        assert root.findtext(f"{ATOM}{name}")
    return [{part.tag.removeprefix(ATOM): part.text for part in entry} for entry in root.iter(f"{ATOM}entry")]


def test_the_feed_of_a_server_has_an_entry_for_each_change(moved: Store, site_of: SiteOf) -> None:
    site, quiet = site_of(moved), samples.dossiers(1)[0].server.id
    (entry,) = entries(site.get(f"/servers/{quiet}/feed.atom").text)
    assert entry["title"] == "60 → 72"
    assert entry["id"] == f"https://hallmark.example/servers/{quiet}?run={night(1).id}"
    fallen = site.get(f"/servers/{samples.hostile_dossier().server.id}/feed.json").json()
    assert [item["title"] for item in fallen["items"]] == ["80 → 70", "90 → 80"]
    assert fallen["version"] == "https://jsonfeed.org/version/1.1"
    assert fallen["feed_url"].endswith("/feed.json")


def test_versions_of_a_methodology_are_not_taken_for_changes(make_store: Callable[..., Store], site_of: SiteOf) -> None:
    store, quiet = make_store([], BEFORE), samples.dossiers(1)[0]
    for number in range(2):
        newer = [replace(one, version=2) for one in cards(quiet, 40, "D")]
        put(store, night(number), [quiet], [*cards(quiet, 60, "C"), *newer])
    assert entries(site_of(store).get(f"/servers/{quiet.server.id}/feed.atom").text) == []


def test_the_feed_of_all_servers_has_an_entry_for_each_run(moved: Store, site_of: SiteOf) -> None:
    site = site_of(moved)
    newest, before, first = entries(site.get("/feed.atom").text)
    assert newest["title"] == "2 servers: 0 rose, 1 fell"
    assert before["title"] == "2 servers: 1 rose, 1 fell"
    assert "60 → 72" in str(before["summary"]) and "90 → 80" in str(before["summary"])
    assert first["title"] == "2 servers: 0 rose, 0 fell"
    answer = site.get("/feed.json")
    assert [item["title"] for item in answer.json()["items"]] == [one["title"] for one in (newest, before, first)]
    assert answer.headers["content-type"] == "application/feed+json"
    assert site.get("/feed.atom").headers["content-type"].startswith("application/atom+xml")


def test_a_hostile_name_is_only_a_text(moved: Store, site_of: SiteOf) -> None:
    text = site_of(moved).get("/feed.atom").text
    assert samples.SCRIPT not in text and "&lt;script&gt;" in text
    assert not any(ord(character) < 32 and character != "\n" for character in text)


def test_pages_link_their_feeds_and_unknown_servers_have_none(moved: Store, site_of: SiteOf) -> None:
    site, quiet = site_of(moved), samples.dossiers(1)[0].server.id
    page = site.get(f"/servers/{quiet}").text
    assert f'href="/servers/{quiet}/feed.atom"' in page and 'href="/feed.atom"' in site.get("/").text
    assert 'href="/feed.json"' in site.get("/").text
    assert site.get("/servers/srv_00000000000000000000/feed.atom").status_code == 404


def test_the_list_of_a_category_links_the_feed_of_the_category(moved: Store, site_of: SiteOf) -> None:
    site = site_of(moved)
    for form in ("atom", "json"):
        assert f'href="/categories/databases/feed.{form}"' in site.get("/servers?category=databases").text
    assert 'href="/categories/' not in site.get("/servers").text
    assert 'href="/categories/' not in site.get("/servers?category=nonsense").text


def test_the_feed_of_a_category_names_its_changes_only(make_store: Callable[..., Store], site_of: SiteOf) -> None:
    store = make_store([], BEFORE)
    quiet, hostile = samples.dossiers(1)[0], samples.hostile_dossier()
    mail = replace(quiet, server=replace(quiet.server, name="com.example/mail"))
    for number, (points, other) in enumerate(((60, 90), (72, 80))):
        put(store, night(number), [mail, hostile], [*cards(mail, points, "C"), *cards(hostile, other, "B")])
    site = site_of(store)
    entry, first = entries(site.get("/categories/messages/feed.atom").text)
    assert first["title"] == "1 server: 1 new"
    assert entry["title"] == "1 server: 1 rose"
    assert entry["summary"] == "com.example/mail: 60 → 72"
    assert site.get("/categories/messages/feed.json").json()["items"][0]["content_text"] == entry["summary"]
    assert site.get("/categories/finance/feed.json").json()["items"] == []
    assert site.get("/categories/nothing/feed.atom").status_code == 404


def test_the_feed_of_a_category_says_that_a_server_lost_its_score(
    make_store: Callable[..., Store], site_of: SiteOf
) -> None:
    store, quiet = make_store([], BEFORE), samples.dossiers(1)[0]
    mail = replace(quiet, server=replace(quiet.server, name="com.example/mail"))
    put(store, night(0), [mail], cards(mail, 60, "C"))
    lost = [replace(one, score=NotMeasured("timeout", ""), grade=None) for one in samples.cards(mail)]
    put(store, night(1), [mail], lost)
    site = site_of(store)
    entry, _ = entries(site.get("/categories/messages/feed.atom").text)
    assert entry["title"] == "1 server: 1 lost the score"
    assert "1 lost their score" in site.get("/").text


def read_update(site: TestClient, path: str) -> datetime:
    found = ET.fromstring(site.get(path).text).findtext(f"{ATOM}updated")
    return datetime.fromisoformat(str(found))


def test_a_feed_without_entries_has_the_date_from_which_on_nothing_changed(
    make_store: Callable[..., Store], site_of: SiteOf
) -> None:
    store, quiet = make_store([], BEFORE), samples.dossiers(1)[0]
    for number in range(2):
        put(store, night(number), [quiet], cards(quiet, 60, "C"))
    site = site_of(store)
    assert read_update(site, f"/servers/{quiet.server.id}/feed.atom") == night(0).as_of
    assert entries(site.get("/categories/finance/feed.atom").text) == []
    assert read_update(site, "/categories/finance/feed.atom") == night(1).as_of


def test_without_a_published_run_a_feed_is_of_now(tmp_path: Path, sqlite_template: Path, site_of: SiteOf) -> None:
    with closing(open_store(f"sqlite:///{shutil.copy(sqlite_template, tmp_path / 'empty.db')}")) as store:
        assert read_update(site_of(store), "/feed.atom") == NOW
