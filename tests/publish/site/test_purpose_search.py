"""Servers are found by what they are for: on the page, in the API and by the MCP server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from evidence.model import Dossier, Run
from evidence.store import ListingQuery, Store
from tests.dossiers import captures
from tests.publish import capped, samples
from tests.publish.purpose_questions import QUESTIONS
from tests.publish.site.conftest import SiteOf
from tests.publish.site.listing_stores import judged, night, put

RECALL = 0.9
BEFORE = replace(samples.RUN, id="run_20260201T030000Z_0000")
MakeStore = Callable[[Sequence[Dossier], Run], Store]


def filled(store: Store, *dossiers: Dossier) -> Store:
    return put(store, night(0), dossiers, [card for dossier in dossiers for card in judged(dossier)])


@pytest.fixture
def captured(make_store: MakeStore) -> Store:
    return filled(make_store([], BEFORE), *captures().values())


def test_nine_of_ten_expected_servers_are_among_the_first_five(captured: Store) -> None:
    names = {dossier.server.id: name for name, dossier in captures().items()}
    found = wanted = 0
    missed = []
    for question, expected in QUESTIONS:
        page = captured.listing.read_page(ListingQuery(text=question, sort="relevance"), limit=5)
        first = {names[one.server.id] for one in page.servers}
        found += len(expected & first)
        wanted += len(expected)
        missed += [(question, sorted(expected - first), sorted(first))] if expected - first else []
    assert len(QUESTIONS) >= 60
    assert found / wanted >= RECALL, missed


def test_the_page_shows_purposes_and_the_most_relevant_first(captured: Store, site_of: SiteOf) -> None:
    text = site_of(captured).get("/servers?q=read+excel+files").text
    assert "Create, read and edit Excel workbooks without Microsoft Excel." in text
    shown = [captures()[name].server.id for name in ("excel-mcp-server", "wonderwhy-er__desktop-commander")]
    assert [text.index(server) for server in shown] == sorted(text.index(server) for server in shown)
    assert 'aria-sort="' not in text


def test_the_api_finds_by_purpose_and_says_it(captured: Store, site_of: SiteOf) -> None:
    answer = site_of(captured).get("/api/v1/servers?text=spreadsheets%20excel&sort=relevance").json()
    assert answer["servers"][0]["purpose"].startswith("Create, read and edit Excel workbooks")
    assert (answer["next"], answer["previous"]) == (None, None)


def test_words_of_a_private_finding_find_nothing(make_store: MakeStore) -> None:
    other = replace(capped.clean(), server=replace(capped.clean().server, ref="npm:other", name="other"))
    records = {kind: replace(record, server=other.server.id) for kind, record in other.records.items()}
    poisoned = capped.poisoned()
    store = filled(make_store([], BEFORE), poisoned, replace(other, records=records))
    words = [word for word in capped.POISON.split() if word.isalpha() and len(word) > 4]
    assert len(words) > 2
    for word in words:
        for sort in ("relevance", "rank"):
            page = store.listing.read_page(ListingQuery(text=word, sort=sort))
            assert poisoned.server.id not in {one.server.id for one in page.servers}, word
