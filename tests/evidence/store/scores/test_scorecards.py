"""Scorecards: exact, once per rubric version, in a fixed order."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest
from msgspec.structs import replace
from sqlalchemy import delete

from evidence.model import Server, ServerId
from evidence.store import KeptReceipts, RunState, Stage, Store, StoredScorecard, UnknownServer
from evidence.store.listing.score_history import ScorecardWithScores
from evidence.store.sql.row_keys import find_server_keys
from evidence.store.tables.evidence import SCORING
from tests.evidence.store.build import AS_OF, LATER, body, card, planned, record, ref, run

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
    assert store.listing.find_newest_scorecard(RUN, one.id, "lint", 12) is None, "the run is not public"
    store.set_run_state(RUN, RunState.PUBLISHED, AS_OF)
    assert store.listing.find_newest_scorecard(RUN, one.id, "lint", 12) == ScorecardWithScores(
        replace(newest, body=date + b',"evidence":{},"x":1}'), (newest.score,)
    )
    for server, rubric in ((one.id, "enterprise"), (other.id, "lint"), ("srv_none", "lint")):
        assert store.listing.find_newest_scorecard(RUN, server, rubric, 12) is None


def test_the_newest_card_comes_with_the_scores_of_the_newest_runs(store: Store) -> None:
    (one,) = servers = planned(store, 1)
    store.put_scorecards(RUN, [card(one.id, "lint", 2, "61")], at=AS_OF)
    later = later_run(store, servers)
    newest = [card(one.id, "lint", version, f"7{version}") for version in (1, 2)]
    store.put_scorecards(later, newest, at=LATER)
    for run_id in (RUN, later):
        store.set_run_state(run_id, RunState.PUBLISHED, LATER)
    found = store.listing.find_newest_scorecard(later, one.id, "lint", 12)
    assert found == ScorecardWithScores(newest[1], (Decimal(61), Decimal(72)))
    assert store.listing.find_newest_scorecard(RUN, one.id, "lint", 1) is None, "a newer run is read only"


def later_run(store: Store, servers: list[Server]) -> str:
    later = replace(run("20261122-1"), as_of=LATER)
    store.add_run(later)
    store.put_registry_page(
        later.id, "starter", [(one, ref(one)) for one in servers], cursor=None, done=True, at=later.as_of
    )
    store.plan_run(later.id, [one.id for one in servers], later.as_of)
    return later.id


def templates(server: ServerId, as_of: datetime) -> list[StoredScorecard]:
    """Cards that differ between runs in their date only."""
    date = as_of.isoformat().encode()
    bodies = {rubric: b'{"as_of":"%s","evidence":{},"x":"%s"}' % (date, rubric.encode()) for rubric in ("a", "b", "c")}
    return [replace(card(server, rubric), body=body) for rubric, body in bodies.items()]


def test_kept_receipts_have_the_date_of_the_run_that_keeps_them(store: Store) -> None:
    one, other = servers = planned(store, 2)
    store.put_scorecards(RUN, [*templates(one.id, AS_OF), card(other.id, "a")], at=AS_OF)
    assert store.list_receipt_versions(RUN, [one.id, other.id, "srv_none"]) == {
        one.id: {("a", 1): True, ("b", 1): True, ("c", 1): True},
        other.id: {("a", 1): False},
    }
    later, expected = later_run(store, servers), templates(one.id, LATER)
    kept = {one.id: KeptReceipts(run=RUN, versions=frozenset({("a", 1), ("b", 1), ("z", 1)}))}
    store.put_scorecards(later, [expected[2]], done=[one.id], kept=kept, at=LATER)
    assert store.read_scorecards(later) == expected
    assert store.list_pending_servers(later, Stage.SCORE) == [other.id]


def test_kept_receipts_replace_none_that_the_run_has(store: Store) -> None:
    (one,) = servers = planned(store, 1)
    store.put_scorecards(RUN, templates(one.id, AS_OF), at=AS_OF)
    later, others = later_run(store, servers), templates(one.id, LATER)
    first = replace(others[1], grade="F")
    store.put_scorecards(later, [first], at=LATER)
    kept = {one.id: KeptReceipts(run=RUN, versions=frozenset({("a", 1), ("b", 1)}))}
    for _ in range(2):
        store.put_scorecards(later, [others[2]], kept=kept, at=LATER)
        assert store.read_scorecards(later) == [others[0], first, others[2]]


def test_a_server_whose_kept_receipts_are_gone_is_not_scored(store: Store) -> None:
    one, other = servers = planned(store, 2)
    for server in servers:
        store.put_scorecards(RUN, templates(server.id, AS_OF), at=AS_OF)
    later, expected = later_run(store, servers), templates(other.id, LATER)
    with store._database.writing() as connection:  # as reopening the earlier run does
        keys = find_server_keys(connection, [one.id])
        connection.execute(delete(SCORING).where(SCORING.c.server_key == keys[one.id]))
    kept = {each.id: KeptReceipts(run=RUN, versions=frozenset({("a", 1), ("b", 1)})) for each in servers}
    cards = [templates(one.id, LATER)[2], expected[2]]
    assert store.put_scorecards(later, cards, done=list(kept), kept=kept, at=LATER) == {one.id}
    assert store.read_scorecards(later) == expected
    assert store.list_pending_servers(later, Stage.SCORE) == [one.id]


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
