"""Servers are found by what they are for: on the page, in the API and by the MCP server."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from evidence.kinds import listing, registration
from evidence.model import Dossier, Observed, Run
from evidence.store import ListingQuery, Store
from evidence.store.listing.values import SortOrder
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
    site = site_of(captured)
    answer = site.get("/api/v1/servers?q=spreadsheets%20excel").json()
    assert answer["servers"][0]["purpose"].startswith("Create, read and edit Excel workbooks")
    assert (answer["next_cursor"], answer["previous_cursor"]) == (None, None)
    assert answer == site.get("/api/v1/servers?q=spreadsheets%20excel&sort=relevance").json()
    several = site.get("/api/v1/servers?q=read%20excel%20files&limit=3").json()
    turned = site.get("/api/v1/servers?q=read%20excel%20files&limit=3&reverse=true").json()
    assert len(several["servers"]) == 3
    assert turned == several | {"servers": several["servers"][::-1]}


def test_the_mcp_server_answers_a_question_with_reasons(captured: Store, site_of: SiteOf) -> None:
    answer = ask(site_of(captured), "a safe, maintained, popular server that reads PostgreSQL")
    assert answer["qualities"] == [
        {"word": "safe", "answered_by": "security"},
        {"word": "maintained", "answered_by": "maintenance"},
        {"word": "popular", "answered_by": "not measured"},
    ]
    assert answer["order"].startswith("relevance times points")
    first, second = (one["reasons"] for one in answer["servers"][:2])
    assert captures()["modelcontextprotocol__server-postgres"].server.id == answer["servers"][0]["id"]
    assert {"word": "postgres", "where": "name", "found": ["postgres"]} in first["matches"]
    assert (first["unmatched"], second["unmatched"]) == ([], ["postgres"])
    assert [one["name"] for one in first["dimensions"]] == ["security", "maintenance"]
    assert "complete evidence gives" in first["score"]
    for part in ("postgres in name", "Score: ", "Security: ", first["security"], "Maintenance: not measured."):
        assert part in first["text"]
    assert first["security"].startswith("not examined: ")
    assert second["caps"]
    assert all(cap.partition(";")[0][1:] in second["text"] for cap in second["caps"])


def test_reasons_name_the_dimension_that_was_asked_for(captured: Store, site_of: SiteOf) -> None:
    answer = ask(site_of(captured), "well-documented browser")
    assert answer["servers"]
    assert all("documentation" in [one["name"] for one in it["reasons"]["dimensions"]] for it in answer["servers"])
    everything = ask(site_of(captured), "")
    assert everything["order"].startswith("points that the evidence guarantees")
    assert {str(one["reasons"]["matches"]) for one in everything["servers"]} == {"[]"}


def test_words_of_a_private_finding_find_nothing_and_the_name_still_finds_the_server(make_store: MakeStore) -> None:
    poisoned, leaking = capped.poisoned(), renamed(capped.leaking(), "leaking")
    store = filled(make_store([], BEFORE), poisoned, leaking, renamed(capped.clean(), "other"))
    words = [word for word in capped.POISON.split() if word.isalpha() and len(word) > 4]
    assert len(words) > 2
    for word in words:
        assert poisoned.server.id not in found(store, word, "relevance") | found(store, word, "rank"), word
    for server in (poisoned.server, leaking.server):
        assert server.id in found(store, server.name, "relevance")
        listed = store.listing.find_server(server.id)
        assert listed is not None and listed.purpose == "", "which of the two is capped must not tell why"
    assert found(store, "identifier", "relevance") == {renamed(capped.clean(), "other").server.id}


def test_a_secret_in_a_text_is_neither_shown_nor_found(make_store: MakeStore) -> None:
    secret = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    server = renamed(capped.clean(), "plain")
    record = server.records[listing.KIND]
    assert isinstance(record.content, Observed)
    body = json.loads(record.content.body)
    body["opening"]["instructions"] = f"Sends notes with {secret} {'and more ' * 20}"
    body["lists"]["tools"]["pages"][0]["tools"][0]["description"] += f" {secret}"
    changed = replace(record, content=Observed(json.dumps(body).encode()))
    without = {kind: one for kind, one in server.records.items() if kind != registration.KIND}
    store = filled(make_store([], BEFORE), replace(server, records={**without, listing.KIND: changed}))
    listed = store.listing.find_server(server.server.id)
    assert listed is not None and "ghp" not in listed.purpose
    assert not any(found(store, word, "rank") for word in ("a1B2c3", secret, "ghp"))


def ask(site: TestClient, q: str) -> dict[str, Any]:
    """The structured answer of the search of the MCP server."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    headers = {"host": "hallmark.example", "accept": "application/json, text/event-stream"}
    params = {"name": "search_servers", "arguments": {"q": q}}
    result = site.post("/mcp", json={**call, "params": params}, headers=headers).json()["result"]
    found: dict[str, Any] = result["structuredContent"]
    return found


def renamed(dossier: Dossier, name: str) -> Dossier:
    server = replace(dossier.server, ref=f"npm:{name}", name=name)
    records = {kind: replace(record, server=server.id) for kind, record in dossier.records.items()}
    return replace(dossier, server=server, records=records)


def found(store: Store, text: str, sort: SortOrder) -> set[str]:
    return {one.server.id for one in store.listing.read_page(ListingQuery(text=text, sort=sort)).servers}


def test_a_search_of_signs_only_says_that_it_leaves_out_no_server(captured: Store, site_of: SiteOf) -> None:
    site = site_of(captured)
    signs, words = (site.get("/servers", params={"q": text}).text for text in ('"&|!(', "read files"))
    assert f"{len(captures())} servers found, ranked by the score" in signs and "relevant servers" not in signs
    assert (notice := "has no letter and no digit") in signs and notice not in words
    assert "relevant servers with a high grade first" in words
