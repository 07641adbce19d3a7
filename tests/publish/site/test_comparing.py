"""Two servers are chosen by search, without a script, and shown side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from evidence.store import Store
from tests.publish import samples
from tests.publish.site.conftest import SiteOf
from tests.publish.site.listing_stores import night, put, read
from tests.publish.site.plain_backend import PlainBackend

MakeStore = Callable[..., Store]
LEFT, RIGHT, EVIL = samples.dossiers(2)[0], samples.dossiers(2)[1], samples.hostile_dossier()
A, B, C = LEFT.server.id, RIGHT.server.id, EVIL.server.id


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    store = make_store([], run=replace(samples.RUN, id="run_20260201T030000Z_0000"))
    servers = [LEFT, RIGHT, EVIL]
    return put(store, night(0), servers, [card for server in servers for card in samples.cards(server)])


@pytest.fixture
def site(store: Store, site_of: SiteOf) -> TestClient:
    return site_of(store)


def test_one_searches_for_the_first_then_for_the_other(site: TestClient) -> None:
    read(site, "/compare")
    word = LEFT.server.name.rpartition("/")[2]
    assert f"/compare?a={A}" in read(site, f"/compare?q={word}").links
    other = RIGHT.server.name.rpartition("/")[2]
    found = read(site, f"/compare?a={A}&q={other}")
    assert f"/compare?a={A}&b={B}" in found.links
    assert f"/compare?a={A}&b={A}" not in read(site, f"/compare?a={A}&q={word}").links


def test_both_are_shown_with_what_costs_only_one_of_them(site: TestClient) -> None:
    page = read(site, f"/compare?a={A}&b={B}")
    assert {f"/servers/{A}", f"/servers/{B}"} <= set(page.links)
    assert {"of-adaptive", "of-lint"} <= set(page.ids)
    assert "cannot be compared" not in page.text


def test_scores_by_other_rules_are_said_not_to_be_comparable(store: Store, site_of: SiteOf) -> None:
    cards = [*samples.cards(LEFT), *samples.cards(RIGHT)]
    moved = [
        replace(card, versions={**card.versions, "ruleset": "other"}) if card.server == B else card for card in cards
    ]
    put(store, night(1), [LEFT, RIGHT], moved)
    assert "The scores cannot be compared: the ruleset differs" in read(site_of(store), f"/compare?a={A}&b={B}").text


def test_a_hostile_one_stays_text(site: TestClient) -> None:
    for path in (f"/compare?a={C}&b={A}", f"/compare?a={C}", f"/compare?q={samples.SCRIPT}"):
        read(site, path)
        answer = site.get(path)
        assert samples.SCRIPT not in answer.text
        assert "\u202e" not in answer.text


def test_unknown_and_hidden_servers_cannot_be_compared(store: Store, site: TestClient, site_of: SiteOf) -> None:
    assert site.get("/compare?a=srv_00000000000000000000").status_code == 404
    hidden = site_of(store, PlainBackend(hidden={B}))
    answer = hidden.get(f"/compare?a={A}&b={B}")
    assert answer.status_code == 404
    assert RIGHT.server.name not in answer.text
    searched = f"/compare?a={A}&q={RIGHT.server.name.split()[0]}"
    assert B in site.get(searched).text
    assert B not in hidden.get(searched).text
