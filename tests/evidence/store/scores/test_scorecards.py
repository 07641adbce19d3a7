"""Scorecards: exact, once per rubric version, in a fixed order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evidence.store import Stage, Store, UnknownServer
from tests.evidence.store.build import AS_OF, LATER, body, card, planned, record

RUN = "20261121-1"


@pytest.mark.parametrize("score", ["87.50", "0", "-0.1", "100", "1E+2", "33.333333333333333333333333333", None])
def test_score_is_kept_to_the_digit(store: Store, score: str | None) -> None:
    (one,) = planned(store, 1)
    store.put_scorecards(RUN, [card(one.id, score=score)], at=AS_OF)
    (found,) = store.read_scorecards(RUN)
    assert found == card(one.id, score=score)
    assert str(found.score) == str(score)


def test_cards_are_sorted_and_can_be_selected(store: Store) -> None:
    one, other = (server.id for server in planned(store, 2))
    cards = [card(server, rubric, version) for server in (one, other) for rubric, version in _RUBRICS]
    store.put_scorecards(RUN, list(reversed(cards)), at=AS_OF)
    assert store.read_scorecards(RUN) == cards
    assert store.read_scorecards(RUN, servers=[other, "srv_none"]) == cards[3:]
    assert store.read_scorecards(RUN, servers=[]) == []
    assert store.read_scorecards(RUN, rubric="lint") == [cards[1], cards[2], cards[4], cards[5]]
    assert store.read_scorecards(RUN, rubric="lint", version=2) == [cards[2], cards[5]]
    assert store.read_scorecards(RUN, servers=[one], rubric="adaptive", version=2) == []


_RUBRICS = (("adaptive", 1), ("lint", 1), ("lint", 2))


def test_the_newest_card_of_a_rubric_is_found_without_its_digests(store: Store) -> None:
    one, other = planned(store, 2)
    store.put_records(RUN, [record(one.id, body(1))], at=AS_OF)
    digest = store.read_dossiers(RUN, [one.id])[0].records["listing"].digest
    date = b'{"as_of":"%s"' % AS_OF.isoformat().encode()
    whole = b'%s,"evidence":{"listing":"%s"},"x":1}' % (date, digest.encode())
    newest = replace(card(one.id, "lint", 2), body=whole)
    store.put_scorecards(RUN, [card(one.id, "lint", 1), newest, card(one.id, "adaptive", 3)], at=AS_OF)
    assert store.read_scorecards(RUN, rubric="lint", version=2) == [newest]
    assert store.find_newest_scorecard(RUN, one.id, "lint") == replace(newest, body=date + b',"evidence":{},"x":1}')
    for server, rubric in ((one.id, "enterprise"), (other.id, "lint"), ("srv_none", "lint")):
        assert store.find_newest_scorecard(RUN, server, rubric) is None


def test_first_card_of_a_rubric_version_stays(store: Store) -> None:
    (one,) = planned(store, 1)
    first = card(one.id)
    for at in (AS_OF, LATER):
        store.put_scorecards(RUN, [first, replace(first, body=b"other")], done=[one.id], at=at)
        store.put_scorecards(RUN, [card(one.id, score="1")], done=[one.id], at=at)
    assert store.read_scorecards(RUN) == [first]


def test_scored_server_has_passed_the_score_stage_only(store: Store) -> None:
    one, other = (server.id for server in planned(store, 2))
    store.put_scorecards(RUN, [card(one)], done=[one], at=AS_OF)
    assert store.list_pending_servers(RUN, Stage.SCORE) == [other]
    assert store.list_pending_servers(RUN, Stage.COLLECT) == [one, other]


def test_large_receipt_is_kept(store: Store) -> None:
    (one,) = planned(store, 1)
    large = replace(card(one.id), body=b'{"line":"\xc3\xa9"}' * 100_000)
    store.put_scorecards(RUN, [large], at=AS_OF)
    assert store.read_scorecards(RUN) == [large]
    with pytest.raises(UnknownServer):
        store.put_scorecards(RUN, [card("srv_none")], at=AS_OF)
