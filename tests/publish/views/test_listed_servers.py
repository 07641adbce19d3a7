"""What publication puts in the lists: what is counted plainly from the same receipts, and nothing that is private."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.store import ListingQuery, Store
from publish.badges import requirements
from publish.disclosure import WITHHELD, ReviewedFindings, private_rule_ids, redact_receipt
from publish.publication import listing_writer
from publish.publication.receipt_counts import ReceiptCounts
from publish.publication.server_tallies import ServerTallies
from publish.views.listed_servers import count_server, make_listing_row
from publish.views.public_servers import PublicServer, read_public_servers, read_servers_to_count
from scoring import receipt
from scoring.engine.rule import discover_rules
from scoring.results.scorecard import Scorecard
from tests.dossiers import captures
from tests.publish import capped, samples
from tests.publish.filled_stores import fill, stored
from tests.publish.judged import published, receipts, whole
from tests.publish.plain_counts import Overview, histogram
from tests.publish.test_public_receipts import card_of, findings, poisoned
from workers.stages.scorecards import score_dossier

SERVERS = 130
MakeStore = Callable[..., Store]


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store([*samples.dossiers(SERVERS), samples.hostile_dossier(), samples.unsandboxed_dossier()])


def front(store: Store) -> dict[str, Any]:
    found = store.listing.read_dashboard()
    assert found is not None
    return found[1]


def overview_of(store: Store) -> Overview:
    found = Overview()
    for server in read_public_servers(store, samples.RUN.id):
        found.add(server.dossier, [receipt.decode_scorecard(card.body) for card in server.cards])
    return found


def test_every_server_that_may_be_shown_is_listed_with_its_scores(store: Store) -> None:
    listing_writer.write_listing(store, samples.RUN)
    rows = {row.id: row for row in overview_of(store).rows}
    page = store.listing.read_page(ListingQuery(), limit=200)
    assert page.total == len(rows) == SERVERS + 1
    for one in page.servers:
        row = rows[one.server.id]
        assert (one.state, one.reason, one.tools) == (row.state.value.replace(" ", "_"), row.reason, row.tools)
        assert {(it.rubric, it.version): (it.score, it.grade, it.thin) for it in one.scores} == {
            (it.rubric, it.version): (it.score, it.grade, it.thin) for it in row.marks
        }
    assert store.listing.find_server(samples.unsandboxed_dossier().server.id) is None


def test_the_front_counts_what_the_receipts_say(store: Store) -> None:
    listing_writer.write_listing(store, samples.RUN)
    overview, dashboard = overview_of(store), front(store)
    assert dashboard["servers"] == len(overview.rows)
    assert list(dashboard["states"].values()) == list(overview.states.values())
    assert [(one["reason"], one["servers"]) for one in dashboard["reasons"]] == overview.reasons
    assert dashboard["rubrics"]
    for one in dashboard["rubrics"]:
        name = (one["rubric"], one["version"])
        scores = overview.scores(*name)
        assert one["scored"] == len(scores)
        assert one["bins"] == histogram(scores)
        assert one["thin"] == overview.thin(*name)
        assert [(it["grade"], it["servers"]) for it in one["grades"]] == overview.grades(*name)
        assert sum(one["coverage"]) == one["scored"] + one["thin"] + one["unscored"]
        for part, counts in zip(one["dimensions"], overview.dimensions(*name), strict=True):
            assert part == {"name": counts[0], "measured": 0, "partial": 0, "not_testable": 0} | counts[1]
    assert sum(one["servers"] for one in dashboard["ecosystems"]) == dashboard["servers"]


def test_the_front_repeats_no_words_of_servers_beside_their_names(make_store: MakeStore) -> None:
    hostile = samples.hostile_dossier()
    hostile = replace(hostile, server=replace(hostile.server, seen_in=("starter",)))
    store = make_store([hostile])
    listing_writer.write_listing(store, samples.RUN)
    assert front(store)["rubrics"][0]["failures"]
    named = json.dumps(front(store))
    assert "best" in named
    assert "long long" not in named, "the description of its tool"
    markup = json.dumps(hostile.server.name)[1:-1]
    assert markup[:20] in named


def test_the_lists_say_the_same_whatever_is_decided_about_findings() -> None:
    cards = [card_of(name) for name in ("lint@1", "adaptive@1", "enterprise@1")]
    assert any(findings(card) for card in cards)
    disclosed = frozenset((line.rule or "", line.at, line.why) for card in cards for line in findings(card))
    summaries = []
    for reviewed in (ReviewedFindings(), ReviewedFindings(disclosed=disclosed), ReviewedFindings(dismissed=disclosed)):
        shown = [stored(redact_receipt(card, reviewed)) for card in cards]
        one = count_server(PublicServer(poisoned(), shown), "run")
        tallies = ServerTallies()
        tallies.receipts.add(one.newest)
        summaries.append(f"{one.listed} {tallies.as_json()}")
    assert summaries[0] == summaries[1] == summaries[2]
    assert not any(rule in summaries[1] for rule in private_rule_ids())
    assert WITHHELD not in summaries[0]


def test_movers_are_those_whose_score_differs_from_the_run_before(make_store: MakeStore) -> None:
    dossiers = samples.dossiers(40)
    store = make_store(dossiers)
    listing_writer.write_listing(store, samples.RUN)
    assert front(store)["movers"]["since"] is None
    later = replace(samples.RUN, id=f"{samples.RUN.id}-later", pins={**samples.RUN.pins, "ruleset": "another"})
    fill(store, dossiers[1:], later)
    listing_writer.write_listing(store, later)
    movers = front(store)["movers"]
    assert (movers["since"], movers["gone"], movers["new"], movers["up"], movers["down"]) == (
        samples.RUN.id,
        1,
        0,
        0,
        0,
    )
    assert movers["why"] == ["ruleset"]
    assert movers["compared"] + movers["unscored"] == 39
    assert movers["most"] == []


def test_the_list_has_the_gate_and_the_badges_of_the_full_judgement() -> None:
    servers = [PublicServer(dossier, score_dossier(dossier)) for dossier in captures().values()]
    remote, package = published(whole("https://example.com/mcp")), published(whole())
    servers += [published(capped.clean()), published(capped.leaking())]
    servers += [remote, package, published(whole(), [_forged(card) for card in receipts(whole())])]
    assert {_count_met(one) for one in servers} >= {0, 1 + len(requirements.BADGES)}
    for one in servers:
        for controlled in (False, True):
            judged = requirements.judge_server(one, controlled=controlled)
            row = make_listing_row(one, "run", controlled=controlled)
            assert (row.gate, row.badges) == (judged.indexed, judged.earned)


def test_what_is_counted_is_what_is_public_whatever_was_reviewed(make_store: MakeStore) -> None:
    store = make_store([*samples.dossiers(SERVERS), samples.hostile_dossier(), poisoned(), capped.leaking()])
    planned = store.list_planned_servers(samples.RUN.id)
    counted = read_servers_to_count(store, samples.RUN.id, planned)
    for one, public in zip(counted, read_public_servers(store, samples.RUN.id), strict=True):
        assert list(one.scorecards) == public.scorecards
        assert one.dossier == public.dossier
        assert one.suspect_places == public.suspect_places


def test_what_is_counted_of_real_receipts_leaves_out_suspect_places_and_lines_without_points(
    make_store: MakeStore,
) -> None:
    store, run = make_store([]), replace(samples.RUN, id="real")
    dossiers = [poisoned(), capped.leaking(), capped.clean()]
    fill(store, dossiers, run, score=score_dossier)
    counted = list(read_servers_to_count(store, run.id, store.list_planned_servers(run.id)))
    shown = list(read_public_servers(store, run.id))
    assert [one.suspect_places for one in counted] == [one.suspect_places for one in shown]
    assert any(one.suspect_places for one in counted)
    counts = ReceiptCounts()
    for one in counted:
        counts.add(one.scorecards)
    assert counts.failures.all()
    assert all(each.points < 0 for each in counts.failures.all())


def test_every_rule_about_texts_is_private() -> None:
    """So a receipt without private lines has no suspect places."""
    assert {rule for rule in discover_rules() if rule.startswith("text-")} <= private_rule_ids()


def _count_met(one: PublicServer) -> int:
    judged = requirements.judge_server(one)
    return judged.indexed + len(judged.earned)


def _forged(card: Scorecard) -> Scorecard:
    return replace(card, score=Decimal(1))


def test_a_row_has_the_date_of_the_listing_and_where_the_server_comes_from(store: Store) -> None:
    rows = [make_listing_row(one, samples.RUN.id) for one in read_public_servers(store, samples.RUN.id)]
    assert {row.run for row in rows} == {samples.RUN.id}
    for one, row in zip(read_public_servers(store, samples.RUN.id), rows, strict=True):
        assert row.as_of == one.dossier.records["listing"].observed_at
        targets = one.dossier.server.targets
        kind = targets[0].type if targets else "unknown"
        assert row.ecosystem == ("remote" if targets and targets[0].type.is_remote else kind)
        assert row.registries == tuple(sorted(one.dossier.server.seen_in))
    assert {type(score.floor) for row in rows for score in row.scores} == {Decimal}
