"""The pages of re-tests, disputes and control: plain forms, from this site only, hostile words as text."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from evidence.store.community.claim_values import ClaimState
from evidence.store.community.dispute_values import DisputeState
from publish.community import disputes
from publish.community.disputes import DisputeDecider, Verdict
from tests.publish import samples
from tests.publish.community.conftest import House

HOSTILE = f"{samples.HOSTILE} and these are more than twenty characters"
OP = DisputeDecider("op")


def test_a_re_test_is_asked_for_by_a_form_and_followed_without_a_script(house: House) -> None:
    server = house.server()
    page = house.client.get(f"/servers/{server}/retests")
    assert "<form" in page.text
    assert 'http-equiv="refresh"' not in page.text
    asked = house.client.post(f"/servers/{server}/retests", headers={"Sec-Fetch-Site": "same-origin"})
    assert (asked.status_code, asked.headers["location"]) == (303, f"/servers/{server}/retests")
    followed = house.client.get(asked.headers["location"])
    assert "Load the page again" in followed.text
    assert 'http-equiv="refresh"' not in followed.text  # a page that moves by itself shuts people out
    moving = house.client.get(f"/servers/{server}/retests?follow=true")
    assert '<meta http-equiv="refresh" content="5">' in moving.text
    assert followed.headers["cache-control"] == "no-store"
    assert "waiting" in followed.text
    assert "<script" not in followed.text


EXPLAINED = ("What it is for", "What you need", "What happens", "How long it takes")


@pytest.mark.parametrize("tail", ["retests", "disputes", "disputes/new", "disputes/new?rubric=lint", "control"])
def test_the_bare_address_of_a_form_explains_itself(house: House, tail: str) -> None:
    answer = house.client.get(f"/servers/{house.server()}/{tail}", follow_redirects=True)
    assert answer.status_code == 200
    assert [words for words in EXPLAINED if words not in answer.text] == []


def test_the_page_of_disputes_offers_lines_to_choose(house: House) -> None:
    server = house.server()
    chosen = re.findall(
        r'href="(/servers/[^"]*/disputes/new\?[^"]*)"', house.client.get(f"/servers/{server}/disputes").text
    )
    assert chosen
    for link in chosen:
        assert "Dispute this line" in house.client.get(link.replace("&amp;", "&")).text


def test_a_line_that_is_gone_is_answered_with_the_lines_that_are_left(house: House) -> None:
    server = house.server()
    gone = house.client.get(f"/servers/{server}/disputes/new", params={"rubric": "lint", "cites": "no-such-line"})
    assert gone.status_code == 404
    assert "have no such line" in gone.text
    assert f"/servers/{server}/disputes/new?rubric=" in gone.text


def test_a_form_of_another_site_is_refused(house: House) -> None:
    server = house.server()
    for path in (f"/servers/{server}/retests", f"/servers/{server}/control"):
        for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
            assert house.client.post(path, headers=headers, data={"way": "server"}).status_code == 403
    assert house.store.retests.list_unfinished_retests() == []
    assert house.store.claims.list_claims() == []


def test_a_client_over_the_limit_sees_when_to_retry(house: House) -> None:
    house.backend.most = 0
    refused = house.client.post(f"/servers/{house.server()}/retests")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "3600")
    assert "at most 3 re-tests" in refused.text


def test_who_opted_out_has_no_pages(house: House) -> None:
    server = house.server()
    house.backend.hidden.add(server)
    for tail in ("retests", "disputes", "control"):
        assert house.client.get(f"/servers/{server}/{tail}").status_code == 404
    assert house.client.post(f"/servers/{server}/retests").status_code == 404


@pytest.mark.parametrize("name", ["", "hostile"])
def test_a_line_is_disputed_by_a_form_and_the_words_wait_for_an_operator(house: House, name: str) -> None:
    server = house.server(name)
    line = house.line(server)
    where = {"rubric": "lint", "cites": line.cites, "at": line.at}
    form = house.client.get(f"/servers/{server}/disputes/new", params=where)
    action = re.search(r'action="(/servers/[^"]*disputes\?[^"]*)"', form.text)
    assert action is not None
    url = action[1].replace("&amp;", "&")
    sent = house.client.post(url, data={"reason": HOSTILE, "contact": "me@example.com"})
    assert sent.status_code == 303
    (known,) = house.store.disputes.list_disputes()
    assert (known.line.at, known.contact) == (line.at, "me@example.com")
    unread = house.client.get(f"/servers/{server}/disputes")
    assert known.id in unread.text
    assert "more than twenty characters" not in unread.text
    disputes.decide_dispute(
        house.store, known, Verdict.REJECT, OP, at=house.backend.now(), answer=f"no: {samples.HOSTILE}"
    )
    house.backend.pass_time(timedelta(seconds=2))  # decided in another process, and copies are at most a second old
    read = house.client.get(f"/servers/{server}/disputes")
    assert "more than twenty characters" in read.text
    for text in (form.text, unread.text, read.text):
        assert "<script>alert" not in text
        assert "onerror=alert" not in re.sub(r"&#34;|&lt;[^<]*", "", text)
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "me@example.com" not in text


def test_a_dispute_without_a_reason_shows_the_missing_field_and_keeps_the_text(house: House) -> None:
    server = house.server()
    line = house.line(server)
    where = {"rubric": "lint", "cites": line.cites, "at": line.at}
    for reason, status in (("short", 422), ("x" * 2001, 422)):
        answer = house.client.post(f"/servers/{server}/disputes", params=where, data={"reason": reason})
        assert answer.status_code == status
        assert ">Expected a reason of 20 to 2000 characters" in answer.text
        assert reason[:100] in answer.text
    unknown = house.client.post(
        f"/servers/{server}/disputes", params=where | {"at": "elsewhere"}, data={"reason": "x" * 30}
    )
    assert unknown.status_code == 404
    assert house.store.disputes.list_disputes() == []


def test_control_is_claimed_by_a_form_and_the_token_is_shown_once(house: House) -> None:
    server = house.server("hostile")
    page = house.client.get(f"/servers/{server}/control")
    assert 'value="well-known"' in page.text
    claimed = house.client.post(f"/servers/{server}/control", data={"way": "server"})
    assert claimed.status_code == 201
    token = re.search(r"hmk_[0-9a-f]{12}_[\w-]{43}", claimed.text)
    assert token is not None
    (claim,) = house.store.claims.list_claims()
    assert claim.challenge in claimed.text
    again = house.client.get(f"/servers/{server}/control/{claim.id}")
    assert claim.challenge in again.text
    assert token[0] not in again.text
    assert "See the state" in again.text
    house.backend.pass_time(timedelta(minutes=3))
    assert house.client.post(f"/servers/{server}/control/{claim.id}").status_code == 303
    assert house.client.get(f"/servers/{house.server()}/control/{claim.id}").status_code == 404
    assert claim.state is ClaimState.WAITING


def test_what_is_dropped_is_nowhere(house: House) -> None:
    server = house.server()
    line = house.line(server)
    where = {"rubric": "lint", "cites": line.cites, "at": line.at}
    house.client.post(f"/servers/{server}/disputes", params=where, data={"reason": "buy my watches, very cheap ones"})
    (known,) = house.store.disputes.list_disputes()
    disputes.decide_dispute(house.store, known, Verdict.DROP, OP, at=house.backend.now())
    assert house.store.disputes.list_disputes()[0].state is DisputeState.DROPPED
    house.backend.pass_time(timedelta(seconds=2))
    assert known.id not in house.client.get(f"/servers/{server}/disputes").text
