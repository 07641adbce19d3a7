"""No output has an empty reason: whatever is absent, each says why in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.kinds import listing, registration, trials
from evidence.kinds.trials import SkipReason
from evidence.model import Absent, Dossier, Observed, Reason
from publish.datasets.rows import server_rows
from publish.formats.run_files import describe_server
from publish.scan_reports import junit, sarif
from publish.scan_reports.document import make_scan_document
from publish.scan_reports.gate import Gate, decide_gate
from publish.views.evidence.check_verdicts import judge_checks
from publish.views.evidence.observations import view_trials
from publish.views.evidence.server import view_record
from publish.views.server_summary import summarize_server
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.receipt import describe_scorecard
from scoring.results.outcome import Level, NotMeasured
from tests.publish import samples
from tests.sampling import some
from tests.scoring.rich import well_kept
from workers.cli.display.server_page import show_server

REASON_MEMBERS = {"reason": "detail", "not_measured": "detail"}
EMPTY = re.compile(r"\(\s*\)|[:,]\s*\)|\(\s*[:,]|[:,] *$", re.MULTILINE)


def empty_reasons(value: Any, path: str = "") -> Iterator[str]:
    """Where an object has a reason and an empty detail."""
    if isinstance(value, Mapping):
        for member, detail in REASON_MEMBERS.items():
            if value.get(member) and detail in value and not str(value[detail] or "").strip():
                yield path
        for name, inner in value.items():
            yield from empty_reasons(inner, f"{path}/{name}")
    elif isinstance(value, list | tuple):
        for at, inner in enumerate(value):
            yield from empty_reasons(inner, f"{path}/{at}")


def bare(reason: Reason, *, listed: bool) -> Dossier:
    """A server of which everything is absent for this reason, without a detail; `listed`: all but its listing."""
    dossier = well_kept() if listed else samples.dossiers(1)[0]
    kept = {registration.KIND, listing.KIND} if listed else {registration.KIND}
    records = {
        kind: record if kind in kept else replace(record, content=Absent(reason))
        for kind, record in dossier.records.items()
    }
    return replace(dossier, records=records)


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("reason", some(Reason, 9))
def test_no_output_has_an_empty_reason(
    reason: Reason, listed: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")  # a wrapped line may end in a comma
    dossier = bare(reason, listed=listed)
    newest = list({rubric.id: rubric for rubric in catalogue.list_rubrics()}.values())
    assessment = assess_dossier(dossier, newest)
    cards = [rubric.score(assessment) for rubric in newest]
    checks = judge_checks(assessment)
    decision = decide_gate(Gate(minimum=50, levels=frozenset({Level.MUST})), dossier, cards, checks)
    documents = {
        "scan": make_scan_document(dossier, cards, checks, decision),
        "sarif": sarif.render_sarif(dossier, cards, decision, code="0", location=""),
        "run file": describe_server(dossier),
        "dataset": server_rows.make_receipt_columns(map(describe_scorecard, cards), "r", "npm")
        | {"server": [server_rows.make_server_row(dossier)]},
    }
    show_server(dossier, cards, evidence=True)
    texts = {
        "terminal": capsys.readouterr().out,
        "junit": junit.render_junit(checks, decision, "x").decode(),
        "sarif": "\n".join(one["message"]["text"] for one in notifications(documents["sarif"])),
    }

    assert [(name, where) for name, document in documents.items() for where in empty_reasons(document)] == []
    assert [(name, found) for name, text in texts.items() for found in EMPTY.findall(text)] == []
    assert listed or summarize_server(dossier, cards).detail == Absent(reason).detail != ""
    assert all(view_record(record).detail for record in dossier.records.values() if isinstance(record.content, Absent))


def notifications(document: Mapping[str, Any]) -> list[Any]:
    return [
        one for run in document["runs"] for call in run["invocations"] for one in call["toolExecutionNotifications"]
    ]


@pytest.mark.parametrize("reason", SkipReason)
def test_a_tool_that_was_not_called_has_a_reason(reason: SkipReason, capsys: pytest.CaptureFixture[str]) -> None:
    skipped = {
        "tool": "x",
        "index": 0,
        "class": "unknown",
        "basis": "nothing",
        "why": "",
        "reason": reason,
        "detail": "",
    }
    body = {"policy": "annotated", "trials": [], "skipped": [skipped], "unlisted": 0}
    [dossier] = samples.dossiers(1)
    record = replace(dossier.records[listing.KIND], kind=trials.KIND, content=Observed(json.dumps(body).encode()))
    dossier = replace(dossier, records={**dossier.records, trials.KIND: record})

    show_server(dossier, [], evidence=True)
    out = capsys.readouterr().out
    seen = view_trials(dossier)

    assert "not called  x  " in out
    assert EMPTY.findall(out) == []
    assert seen
    assert seen.skipped[0].reason


@pytest.mark.parametrize("detail", ["", " ", "\n"])
def test_an_absence_without_words_has_those_of_its_reason(detail: str) -> None:
    assert len({Absent(reason, detail).detail for reason in Reason}) == len(Reason)
    assert Absent(Reason.TIMEOUT, detail) == Absent(Reason.TIMEOUT, "no complete answer came in time")
    assert NotMeasured("timeout", detail).detail == "no complete answer came in time"
    assert NotMeasured("nothing_measured", detail).detail == "nothing measured"
