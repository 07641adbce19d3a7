"""Two to four servers are chosen by search or in a list, without a script, and shown side by side."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace
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
    assert "Chosen:" in read(site, f"/compare?server={A}").text
    word = LEFT.server.name.rpartition("/")[2]
    assert f"/compare?server={A}" in read(site, f"/compare?q={word}").links
    other = RIGHT.server.name.rpartition("/")[2]
    found = read(site, f"/compare?server={A}&q={other}")
    assert f"/compare?server={A}&server={B}" in found.links
    assert f"/compare?server={A}&server={A}" not in read(site, f"/compare?server={A}&q={word}").links


def test_both_are_shown_with_what_costs_only_one_of_them(site: TestClient) -> None:
    page = read(site, f"/compare?server={A}&server={B}")
    assert {f"/servers/{A}", f"/servers/{B}"} <= set(page.links)
    assert {"of-adaptive", "of-lint"} <= set(page.ids)
    assert "cannot be compared" not in page.text
    assert f"/compare?server={A}&server={B}&more=1" in page.links


def test_up_to_four_are_compared_and_each_can_be_taken_away(store: Store, site_of: SiteOf) -> None:
    four = samples.dossiers(4)
    put(store, night(1), four, [card for server in four for card in samples.cards(server)])
    site = site_of(store)
    ids = [one.server.id for one in four]
    asked = "&".join(f"server={one}" for one in ids)
    page = read(site, f"/compare?{asked}")
    assert {f"/servers/{one}" for one in ids} <= set(page.links)
    assert f"/compare?{asked.removeprefix(f'server={ids[0]}&')}" in page.links
    assert not any("more=1" in link for link in page.links), "there is no place for a fifth"
    more = site.get(f"/compare?{asked}&server={C}")
    assert more.status_code == 400
    assert "4 servers are compared at most" in more.text


def test_a_server_that_was_chosen_twice_is_one(site: TestClient) -> None:
    assert "Search for another one" in read(site, f"/compare?server={A}&server={A}").text


def test_the_comparison_says_what_one_decides_by(site: TestClient) -> None:
    table = site.get(f"/compare?server={A}&server={B}").text.partition("</table>")[0]
    cells = {
        head: re.findall(r"<td>(.*?)</td>", row, re.DOTALL)
        for head, row in re.findall(r'<tr><th scope="row">([^<]+)</th>(.*?)</tr>', table, re.DOTALL)
    }
    assert {"Purpose", "Security findings", "Advisories", "Access", "Transport", "Category", "Connect"} <= cells.keys()
    assert all(len(values) == 2 for values in cells.values())
    found = [site.get(f"/servers/{one}").text for one in (A, B)]
    for value, page in zip(cells["Score"], found, strict=True):
        points = re.search(r"<b>(\d+)", value)
        assert points
        assert f"<b>{points[1]}</b> of 100" in page
    assert [int(re.sub("<.*", "", value)) for value in cells["Tools"]] == [
        int(tools) for page in found for tools in re.findall(r"(\d+) tools?, ", page)[:1]
    ]


def test_a_server_without_a_receipt_has_no_count_of_shared_faults(store: Store, site_of: SiteOf) -> None:
    put(store, night(1), [LEFT, RIGHT], samples.cards(LEFT))
    page = read(site_of(store), f"/compare?server={A}&server={B}").text
    assert "one of them has no receipt" in page
    assert "all of them points" not in page


def test_scores_by_other_rules_are_said_not_to_be_comparable(store: Store, site_of: SiteOf) -> None:
    cards = [*samples.cards(LEFT), *samples.cards(RIGHT)]
    moved = [
        replace(card, versions={**card.versions, "ruleset": "other"}) if card.server == B else card for card in cards
    ]
    put(store, night(1), [LEFT, RIGHT], moved)
    assert (
        "The scores cannot be compared: the ruleset differs"
        in read(site_of(store), f"/compare?server={A}&server={B}").text
    )


def test_a_hostile_one_stays_text(site: TestClient) -> None:
    for path in (f"/compare?server={C}&server={A}", f"/compare?server={C}", f"/compare?q={samples.SCRIPT}"):
        read(site, path)
        answer = site.get(path)
        assert samples.SCRIPT not in answer.text
        assert "\u202e" not in answer.text


def test_unknown_and_hidden_servers_cannot_be_compared(store: Store, site: TestClient, site_of: SiteOf) -> None:
    assert site.get("/compare?server=srv_00000000000000000000").status_code == 404
    hidden = site_of(store, PlainBackend(hidden={B}))
    answer = hidden.get(f"/compare?server={A}&server={B}")
    assert answer.status_code == 404
    assert RIGHT.server.name not in answer.text
    searched = f"/compare?server={A}&q={RIGHT.server.name.split()[0]}"
    assert B in site.get(searched).text
    assert B not in hidden.get(searched).text
