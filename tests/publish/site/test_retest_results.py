"""The result of a re-test on one screen: the score before and after, why, and what to do when a line is still wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from evidence.kinds import listing, source
from evidence.model import Dossier, Observed, Trigger
from evidence.store import Retest, RetestState, RunState, Store
from publish.views.comparisons.retest_results import RetestResult, read_retest_result
from tests.publish import samples
from tests.publish.community.retest_backend import RetestBackend
from tests.publish.judged import whole
from tests.publish.site.conftest import SiteOf
from tests.publish.site.listing_stores import judged, night, put, with_tools

MakeStore = Callable[..., Store]
NIGHT = night(0)
AGAIN = replace(night(1), trigger=Trigger.RETEST)
POOR = [{"name": "find", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}}}]
DESCRIBED = [
    {**POOR[0], "description": "Finds notes by their words. Use this when you need a note, for example `milk`."}
]


def served(tools: list[dict[str, object]]) -> Dossier:
    return with_tools(whole(), tools)


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store([], run=replace(samples.RUN, id="run_20260201T030000Z_0000"))


def retested(
    store: Store, before: Dossier, after: Dossier, end: RetestState = RetestState.DONE, why: str | None = None
) -> Retest:
    put(store, NIGHT, [before], judged(before))
    store.retests.request_retest(Retest(id="r1", server=after.server.id, client="anyone:x", asked_at=NIGHT.as_of))
    put(store, AGAIN, [after], judged(after), RunState.DONE)
    store.retests.admit_retest("r1", AGAIN.id, AGAIN.as_of)
    store.retests.finish_retest("r1", end, AGAIN.as_of, why)
    found = store.retests.find_retest("r1")
    assert found is not None
    return found


def result_of(store: Store, before: Dossier, after: Dossier) -> RetestResult:
    found = read_retest_result(store, retested(store, before, after))
    assert found is not None
    return found


def page_of(store: Store, site_of: SiteOf, server: Dossier) -> str:
    answer = site_of(store, RetestBackend(store=store)).get(f"/servers/{server.server.id}/retests")
    assert answer.status_code == 200
    return answer.text


def test_a_repair_names_the_rules_and_what_they_brought(store: Store, site_of: SiteOf) -> None:
    result = result_of(store, served(POOR), served(DESCRIBED))
    repaired = {change.rule: change for change in result.rules if change.outcome == "repaired"}
    assert repaired["tool-description-missing"].gain > 0
    assert result.comparison.points is not None
    assert result.comparison.points > 0
    page = page_of(store, site_of, served(POOR))
    title = repaired["tool-description-missing"].title
    for words in ("→", "With complete evidence", title, "Repaired", "Tools: 1 changed", "<code>find</code>"):
        assert words in page
    for run in (NIGHT.id, AGAIN.id):
        assert f"/receipts/adaptive@2?run={run}" in page
    assert "Nothing changed" not in page


def test_a_rule_that_finds_more_is_new_and_can_be_disputed(store: Store, site_of: SiteOf) -> None:
    result = result_of(store, served(DESCRIBED), served(POOR))
    (new,) = [change for change in result.rules if change.rule == "tool-description-missing"]
    assert (new.outcome, new.gain < 0) == ("new", True)
    site = site_of(store, RetestBackend(store=store))
    page = site.get(f"/servers/{served(POOR).server.id}/retests").text
    links = re.findall(r'href="([^"]*/disputes/new\?[^"]*)"', page)
    assert len(links) >= 2
    for link in links:  # lines of the re-test, which lists do not show yet
        assert "Dispute this line" in site.get(link.replace("&amp;", "&")).text


def test_the_same_evidence_says_that_nothing_changed(store: Store, site_of: SiteOf) -> None:
    result = result_of(store, served(POOR), served(POOR))
    assert result.nothing_changed
    page = page_of(store, site_of, served(POOR))
    assert "Nothing changed" in page
    assert "The evidence is the same" in page
    assert "Evidence that changed" not in page


def test_a_part_that_was_not_measured_this_time_explains_the_lower_score(store: Store, site_of: SiteOf) -> None:
    full = served(DESCRIBED)
    less = replace(full, records={kind: record for kind, record in full.records.items() if kind != source.KIND})
    result = result_of(store, full, less)
    assert not result.nothing_changed
    lost = [part for move in result.dimensions for part in move.unmeasured]
    assert lost
    assert "not measured now: " in page_of(store, site_of, full)


def with_failed_list(dossier: Dossier) -> Dossier:
    record = dossier.records[listing.KIND]
    assert isinstance(record.content, Observed)
    body = json.loads(record.content.body)
    body["lists"]["tools"] = {"declared": True, "end": "failed", "error": "timeout: no answer", "pages": []}
    failed = replace(record, content=Observed(json.dumps(body).encode()))
    return replace(dossier, records={**dossier.records, listing.KIND: failed})


def test_a_rule_that_could_not_be_measured_is_not_called_repaired(store: Store, site_of: SiteOf) -> None:
    result = result_of(store, served(POOR), with_failed_list(served(POOR)))
    (change,) = [change for change in result.rules if change.rule == "tool-description-missing"]
    assert change.outcome == "not fully measured now"
    page = page_of(store, site_of, served(POOR))
    assert "Repaired" not in page
    row = next(row for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL) if change.title in row)
    assert row.startswith('<tr><td class="num none">–</td>')


def test_a_rule_that_was_not_measured_before_is_not_called_new(store: Store) -> None:
    result = result_of(store, with_failed_list(served(POOR)), served(POOR))
    (change,) = [change for change in result.rules if change.rule == "tool-description-missing"]
    assert change.outcome == "not fully measured before"


def test_the_lines_of_a_re_test_are_offered_for_a_dispute(store: Store, site_of: SiteOf) -> None:
    retested(store, served(DESCRIBED), served(POOR))
    site, here = site_of(store, RetestBackend(store=store)), f"/servers/{served(POOR).server.id}"
    offered = site.get(f"{here}/disputes").text
    assert "cites=security" in offered or "cites=documentation" in offered
    assert f"/receipts/adaptive@2?run={AGAIN.id}" in offered
    receipt = site.get(f"{here}/receipts/adaptive@2?run={AGAIN.id}").text
    assert "/disputes/new?rubric=adaptive" in receipt


def test_a_failed_re_test_says_nothing_about_the_server(store: Store, site_of: SiteOf) -> None:
    server = served(POOR)
    retested(store, server, server, RetestState.FAILED, "it did not end in time")
    page = page_of(store, site_of, server)
    assert "The re-test failed: it did not end in time" in page
    assert "no score changed" in page
