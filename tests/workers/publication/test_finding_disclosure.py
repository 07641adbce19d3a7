"""Findings are noted when receipts are made, once, and cost nothing where there are none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.store import FindingState, RunRow, Store, open_store
from publish.findings.identity import find_private_findings
from publish.findings.vendor_report import render_vendor_report
from scoring.engine.assess import assess_dossier
from scoring.rubrics.adaptive_verdict import ADAPTIVE_2
from tests.publish import samples
from tests.publish.capped import fallen
from tests.publish.filled_stores import fill, stored
from tests.publish.findings.test_identity import INJECTION, cards, server
from workers import rescoring
from workers.publication import finding_disclosure

POISONED = server(INJECTION)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path}/hallmark.db")
    opened.migrate()
    fill(opened, [POISONED, *samples.dossiers(3)])
    yield opened
    opened.close()


def rules(store: Store) -> set[str]:
    return {row.finding.rule for row in store.read_findings()}


def test_a_batch_of_receipts_gives_its_findings_once(store: Store) -> None:
    made = [stored(card) for card in cards(POISONED)]
    new = finding_disclosure.record_findings(store, samples.RUN.id, made)
    assert new == len(store.read_findings()) > 0
    assert "text-injects-instructions" in rules(store)
    assert {(row.state, row.first_seen) for row in store.read_findings()} == {
        (FindingState.PRIVATE_TRIAGE, samples.AS_OF)
    }
    assert finding_disclosure.record_findings(store, samples.RUN.id, made) == 0
    assert len(store.read_findings()) == new


def test_receipts_that_name_nothing_private_read_no_evidence(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a dossier was read")

    monkeypatch.setattr(Store, "read_dossiers", refuse)
    assert finding_disclosure.record_findings(store, samples.RUN.id, store.read_scorecards(samples.RUN.id)) == 0


def test_dossiers_that_the_caller_has_are_not_read_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    dossiers = store.read_dossiers(samples.RUN.id, [POISONED.server.id])
    monkeypatch.setattr(Store, "read_dossiers", lambda *_: pytest.fail("a dossier was read"))
    made = [stored(card) for card in cards(POISONED)]
    assert finding_disclosure.record_findings(store, samples.RUN.id, made, dossiers=dossiers) > 0
    found = {one.id for one in find_private_findings(POISONED, cards(POISONED))}
    assert {row.finding.id for row in store.read_findings()} == found


def test_an_unchanged_server_is_the_same_finding_on_the_next_night(store: Store) -> None:
    made = [stored(card) for card in cards(POISONED)]
    finding_disclosure.record_findings(store, samples.RUN.id, made)
    night = replace(samples.RUN, id="run_20260302", as_of=samples.AS_OF + timedelta(days=1))
    fill(store, [POISONED], night)
    assert finding_disclosure.record_findings(store, night.id, made) == 0
    assert {(row.first_seen, row.last_seen) for row in store.read_findings()} == {(samples.AS_OF, night.as_of)}


def test_scoring_an_old_night_again_notes_what_its_own_code_did_not_find(store: Store) -> None:
    assert store.read_findings() == []
    source = store.find_run(samples.RUN.id)
    assert isinstance(source, RunRow)
    done = rescoring.score_run_again(store, source, wall=lambda: samples.AS_OF + timedelta(days=9))
    assert not done.failed
    assert "text-injects-instructions" in rules(store)
    assert {row.last_seen for row in store.read_findings()} == {samples.AS_OF}


def test_a_fall_goes_to_triage_and_its_report_names_the_question_to_the_vendor(store: Store) -> None:
    fill(store, [fallen()])
    card = ADAPTIVE_2.score(assess_dossier(fallen(), [ADAPTIVE_2]))
    assert finding_disclosure.record_findings(store, samples.RUN.id, [stored(card)]) == 1
    [row] = store.read_findings()
    assert (row.finding.rule, row.state) == ("server-fell-over", FindingState.PRIVATE_TRIAGE)
    report = render_vendor_report(fallen().server, [row], deadline=samples.AS_OF)
    assert "after legacy/unknown-method no fresh client was served" in report
    assert "Answer an unexpected request with an error" in report
