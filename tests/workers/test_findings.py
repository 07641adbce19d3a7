"""Findings are noted when receipts are made, once, and cost nothing where there are none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from evidence.store import FindingState, RunRow, Store, open_store
from tests.publish import samples
from tests.publish.shelf import fill, stored
from tests.publish.test_findings import INJECTION, cards, server
from workers import findings, rescoring

POISONED = server(INJECTION)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path}/hallmark.db")
    opened.migrate()
    fill(opened, [POISONED, *samples.dossiers(3)])
    yield opened
    opened.close()


def rules(store: Store) -> set[str]:
    return {row.finding.rule for row in store.findings()}


def test_a_batch_of_receipts_gives_its_findings_once(store: Store) -> None:
    made = [stored(card) for card in cards(POISONED)]
    new = findings.note(store, samples.RUN.id, made)
    assert new == len(store.findings()) > 0
    assert "text-injects-instructions" in rules(store)
    assert {(row.state, row.first_seen) for row in store.findings()} == {(FindingState.PRIVATE_TRIAGE, samples.AS_OF)}
    assert findings.note(store, samples.RUN.id, made) == 0
    assert len(store.findings()) == new


def test_receipts_that_name_nothing_private_read_no_evidence(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a dossier was read")

    monkeypatch.setattr(Store, "dossiers", refuse)
    assert findings.note(store, samples.RUN.id, store.scorecards(samples.RUN.id)) == 0


def test_an_unchanged_server_is_the_same_finding_on_the_next_night(store: Store) -> None:
    made = [stored(card) for card in cards(POISONED)]
    findings.note(store, samples.RUN.id, made)
    night = replace(samples.RUN, id="run_20260302", as_of=samples.AS_OF + timedelta(days=1))
    fill(store, [POISONED], night)
    assert findings.note(store, night.id, made) == 0
    assert {(row.first_seen, row.last_seen) for row in store.findings()} == {(samples.AS_OF, night.as_of)}


def test_scoring_an_old_night_again_notes_what_its_own_code_did_not_find(store: Store) -> None:
    assert store.findings() == []
    source = store.run(samples.RUN.id)
    assert isinstance(source, RunRow)
    done = rescoring.rescore(store, source, wall=lambda: samples.AS_OF + timedelta(days=9))
    assert not done.failed
    assert "text-injects-instructions" in rules(store)
    assert {row.last_seen for row in store.findings()} == {samples.AS_OF}
