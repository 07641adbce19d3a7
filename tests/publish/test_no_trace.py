"""One marker in every private kind and in every private finding; it must be in no product that anybody may read."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.kinds import falls, listing, secrets
from evidence.model import Dossier, Observed
from evidence.store import Store
from publish.disclosure import (
    PRIVATE_KINDS,
    PublicRecords,
    disclose_dossier,
    private_rule_ids,
    redact_receipt,
    redact_receipt_body,
)
from publish.findings.identity import find_private_findings
from publish.formats.run_files import FileFormat
from publish.publication import manifest, run_export
from publish.scan_reports import junit, sarif
from publish.scan_reports.document import make_scan_document
from publish.scan_reports.gate import Gate, decide_gate
from publish.views.comparisons.receipts import compare_receipts, comparison_as_json
from publish.views.evidence.check_verdicts import judge_checks
from scoring import receipt
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.engine.rule import discover_rules
from scoring.explain import explain_scorecard
from scoring.results.outcome import Level, Severity
from scoring.results.scorecard import Line, Scorecard
from scoring.rubrics.sdk_tier import SDK_TIER_1
from tests.publish import projects, samples
from tests.publish.filled_stores import stored
from tests.publish.reports import report_of
from workers.cli.measure.scan_file import decode_dossier, encode_dossier

MARKER = "zzmarkerzz"
TRACES = (
    MARKER,
    "index.internal",
    *(f'"{kind}":' for kind in sorted(PRIVATE_KINDS)),
    *(f'"{kind}/' for kind in sorted(PRIVATE_KINDS)),
)
Make = Callable[..., Store]


def marked() -> Dossier:
    """A server whose private kinds all hold the marker; its public ones do not."""
    return projects.with_project(samples.dossiers(1)[0], private=MARKER)


def marked_cards(dossier: Dossier) -> list[Scorecard]:
    """Receipts with a marked line of every private rule, at every level, and with what repeats such a line."""
    lines = tuple(_line(dossier, rule) for rule in sorted(private_rule_ids()))
    return [
        replace(
            card,
            lines=(*card.lines, *lines),
            dimensions=tuple(
                replace(part, lines=lines, components=tuple(replace(one, lines=lines) for one in part.components))
                for part in card.dimensions
            ),
            caveats=(*card.caveats, lines[0].why),
            facts={**card.facts, "worst": lines[-1].why},
        )
        for card in samples.cards(dossier)
    ]


def read_secrets(dossier: Dossier) -> secrets.Secrets:
    content = dossier.records[secrets.KIND].content
    assert isinstance(content, Observed)
    return secrets.Secrets.parse(content.body)


def _line(dossier: Dossier, rule: str) -> Line:
    points = samples.cards(dossier)[0].coverage
    where, why = f"tools/{MARKER}", f"{MARKER} {rule}"
    return Line(cites="x", points=points, why=why, rule=rule, at=where, severity="error", evidence="e" * 64)


@pytest.fixture
def store(make_store: Make) -> Store:
    dossier = marked()
    made = make_store([dossier])
    cards = [replace(card, version=card.version + 90) for card in marked_cards(dossier)]
    made.put_scorecards(samples.RUN.id, [stored(card) for card in cards], at=samples.AS_OF)
    made.put_findings(find_private_findings(dossier, cards), samples.AS_OF)
    return made


def traces(text: str) -> list[str]:
    return [trace for trace in TRACES if trace in text]


def test_the_marker_is_where_the_operator_looks(store: Store) -> None:
    """The tests below can fail."""
    dossier = store.read_dossiers(samples.RUN.id, [marked().server.id])[0]
    assert all(MARKER.encode() in dossier.records[kind].content.body for kind in PRIVATE_KINDS)  # type: ignore[union-attr]
    charging = [rule for rule in private_rule_ids() if discover_rules()[rule].severity is not Severity.INFO]
    assert {row.finding.rule for row in store.read_findings()} >= set(charging)
    assert traces(json.dumps(run_export.server_as_json(dossier, store.read_scorecards(samples.RUN.id))))


def test_no_page_has_a_trace(store: Store, tmp_path: Path) -> None:
    folder = report_of(store, tmp_path / "r")
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 4
    assert not [(path.name, found) for path in files if (found := traces(path.read_text("utf-8")))]
    page = (folder / "servers" / f"{marked().server.id}.html").read_text("utf-8")
    assert not [kind for kind in ("Secrets", "Drift", "Alerts", "alerts") if kind in page]


@pytest.mark.parametrize("comparable", [False, True])
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_no_dataset_has_a_trace(store: Store, form: FileFormat, comparable: bool) -> None:
    out = io.BytesIO()
    run_export.export_run(store, samples.RUN.id, out, format=form, comparable=comparable)
    assert out.getvalue()
    assert traces(out.getvalue().decode()) == []


def test_no_manifest_has_a_trace(store: Store) -> None:
    assert traces(manifest.make_manifest(store, samples.RUN.id).decode()) == []


def test_no_file_of_the_folder_has_a_trace(store: Store, tmp_path: Path) -> None:
    """All files in one pass."""
    assert manifest.write_run_files(store, samples.RUN.id, tmp_path / "dataset") == 1
    files = sorted((tmp_path / "dataset").iterdir())
    assert {path.name for path in files} >= set(manifest.RUN_FILES)
    assert [(path.name, found) for path in files if (found := traces(path.read_text("utf-8")))] == []


def test_no_comparison_has_a_trace() -> None:
    """Before and after a repair, and before and after a fault: neither says what was found."""
    marked_ones = marked_cards(marked())
    plain = samples.cards(marked())
    for before, after in ((marked_ones, plain), (plain, marked_ones), (marked_ones, marked_ones)):
        comparisons = compare_receipts(
            [redact_receipt(card) for card in before], [redact_receipt(card) for card in after]
        )
        assert traces(json.dumps([comparison_as_json(one) for one in comparisons])) == []
        assert not {rule for one in comparisons for rule in one.rules} & private_rule_ids()
    raw = compare_receipts(marked_ones, plain)
    assert any(MARKER in line.why for one in raw for line in one.gone), "the operator sees it"


def test_what_is_made_of_the_public_forms_has_no_trace() -> None:
    """SARIF, JUnit, the document of a scan and explanations tell what they are given, and nothing more."""
    dossier = marked()
    shown = disclose_dossier(dossier)
    assert isinstance(shown, PublicRecords)
    public = replace(dossier, records=shown.records)
    cards = [redact_receipt(card) for card in marked_cards(dossier)]
    checked = judge_checks(assess_dossier(public, [SDK_TIER_1]))
    decision = decide_gate(Gate(minimum=Decimal(101), levels=frozenset({Level.MUST})), public, cards, checked)
    products = [
        json.dumps(sarif.render_sarif(public, cards, decision, code="1")),
        junit.render_junit(checked, decision, public.server.ref).decode(),
        json.dumps(make_scan_document(public, cards, checked, decision)),
        *(receipt.encode_scorecard(card).decode() for card in cards),
        *(repr(explain_scorecard(card)) for card in cards),
    ]
    assert [traces(product) for product in products] == [[]] * len(products)


def test_the_real_receipts_over_private_evidence_have_no_trace() -> None:
    dossier = marked()
    assessment = assess_dossier(dossier)
    cards = [rubric.score(assessment) for rubric in catalogue.list_rubrics()]
    assert any(MARKER in repr(card.dimensions) for card in cards)
    for card in cards:
        body = redact_receipt_body(receipt.encode_scorecard(card)).decode()
        assert traces(body) == []
        assert body == receipt.encode_scorecard(redact_receipt(card)).decode()
        assert traces(repr(explain_scorecard(redact_receipt(card)))) == []


def test_a_saved_dossier_has_no_trace_and_can_be_judged_again() -> None:
    """Of secrets only the names of their patterns stay, and of falls no questions, so that the verdict is the same."""
    kept = encode_dossier(marked())
    left_in = (f"{MARKER}-pattern", '"falls":')  # the latter is the member of the body, which the kind is named for
    assert traces(reduce(lambda text, word: text.replace(word, ""), left_in, kept.decode())) == []
    left = decode_dossier(kept, samples.AS_OF)
    assert set(left.records) == set(marked().records) - (PRIVATE_KINDS - {secrets.KIND, falls.KIND})
    fallen = left.parsed(falls.KIND, falls.Falls.parse)
    assert fallen is not None
    assert [(one.question, one.signs) for one in fallen.falls] == [("legacy/question-1", ("unknown",))]
    counted = [tuple(one.counts for one in read_secrets(dossier).findings) for dossier in (marked(), left)]
    assert counted[0] == counted[1]
    assert listing.KIND in decode_dossier(kept, samples.AS_OF).records
