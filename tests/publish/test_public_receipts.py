"""Findings of our own scans are on no page and in no dataset before disclosure to the vendor."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.kinds import listing
from evidence.kinds.listing import Item
from evidence.model import Dossier
from evidence.store import Store
from publish.disclosure import (
    NOT_DISCLOSED,
    WITHHELD,
    find_suspect_places,
    may_name_private,
    private_rule_ids,
    redact_receipt,
    redact_receipt_body,
)
from publish.publication import run_export
from publish.remarks import REMARK
from publish.views.server_summary import receipt_lines
from scoring import receipt
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.engine.rule import discover_rules
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Line, Scorecard
from scoring.scopes.base import Said, Scope, Tool
from tests.publish import samples
from tests.publish.filled_stores import stored
from tests.publish.plain_counts import Overview
from tests.publish.reports import report_of
from tests.publish.views.test_server_summary import capture

Make = Callable[..., Store]
NAMES = [rubric.name for rubric in catalogue.list_rubrics()]


@cache
def poisoned() -> Dossier:
    """A server that sins against every private rule, in tools whose names a finding would repeat.

    Orders about other tools name them, so these tools keep their names.
    """
    tools = [
        {
            **item.raw,
            "name": item.name if rule == "text-commands-other-tools" else f"zz-{rule[5:]}-{number}-{item.name}",
        }
        for rule in sorted(private_rule_ids())
        for number, bad in enumerate(discover_rules()[rule].bad)
        for item in _items(bad)
        if isinstance(item.raw, Mapping)
    ]
    return capture(tools, {})


@cache
def card_of(rubric: str) -> Scorecard:
    chosen = catalogue.get_rubric(rubric)
    return chosen.score(assess_dossier(poisoned(), [chosen]))


def findings(card: Scorecard) -> list[Line]:
    return [line for line in receipt_lines(card) if line.rule in private_rule_ids()]


def weighing_lines(card: Scorecard) -> list[Line]:
    """The lines of a receipt that change its value: all but those of components without weight."""
    gates = [part.lines for dimension in card.dimensions for part in dimension.components if not part.base_weight]
    weightless = Counter(line for lines in gates for line in lines)
    return list((Counter(receipt_lines(card)) - weightless).elements())


@pytest.fixture
def store(make_store: Make) -> Store:
    """A run whose receipts were made by the real rubrics."""
    made = make_store([poisoned(), *samples.dossiers(3)])
    real = [replace(card_of(name), version=card_of(name).version + 90) for name in NAMES]
    made.put_scorecards(samples.RUN.id, [stored(card) for card in real], at=samples.AS_OF)
    return made


def test_the_server_has_findings_to_withhold() -> None:
    said = {rule for rule in private_rule_ids() if discover_rules()[rule].reads == listing.KIND}
    assert {line.rule for name in NAMES for line in findings(card_of(name))} >= said - {"text-reveals-secret"}


@pytest.mark.parametrize("name", NAMES)
def test_a_public_receipt_adds_up_to_the_same_score(name: str) -> None:
    card = card_of(name)
    public = redact_receipt(card)
    assert receipt.recompute_score(public) == card.score == public.score
    assert (public.floor, public.ceiling, public.grade, public.coverage) == (
        card.floor,
        card.ceiling,
        card.grade,
        card.coverage,
    )
    assert sum(line.points for line in weighing_lines(public)) == sum(line.points for line in weighing_lines(card))
    assert receipt.decode_scorecard(redact_receipt_body(receipt.encode_scorecard(card))) == public


@pytest.mark.parametrize("name", NAMES)
def test_a_public_receipt_names_no_finding_of_ours(name: str) -> None:
    card, body = card_of(name), redact_receipt_body(receipt.encode_scorecard(card_of(name))).decode()
    assert findings(redact_receipt(card)) == []
    for line in findings(card):
        assert line.why not in body
        assert f'"{line.rule}"' not in body
    assert '"L3' not in body


@pytest.mark.parametrize("name", NAMES)
def test_each_place_has_one_neutral_line(name: str) -> None:
    public = redact_receipt(card_of(name))
    places = [
        public.lines,
        *(part.lines for part in public.dimensions),
        *(component.lines for part in public.dimensions for component in part.components),
    ]
    counts = [sum(line.cites == WITHHELD for line in lines) for lines in places]
    assert max(counts) <= 1
    assert bool(findings(card_of(name))) == bool(sum(counts))
    neutral = [line for lines in places for line in lines if line.cites == WITHHELD]
    assert {(line.why, line.at, line.evidence, line.severity) for line in neutral} <= {(NOT_DISCLOSED, "", "", "")}


REMARKED = Line(
    cites="security.poisoning",
    points=Decimal(0),
    why="tools/find_rows/description: names a policy or a check as the reason for an instruction",
    rule="text-raises-suspicion",
    at="server",
)
ORDERED = replace(REMARKED, rule="text-injects-instructions", why="tools/find_rows/description: overrides instructions")


def test_a_remark_that_costs_nothing_is_withheld_without_a_finding_under_disclosure() -> None:
    public = redact_receipt(with_lines(REMARKED))
    assert [(line.cites, line.why, line.rule, line.at) for line in public.lines] == [(WITHHELD, REMARK, WITHHELD, "")]


@pytest.mark.parametrize("lines", [(REMARKED, ORDERED), (ORDERED, REMARKED)], ids=["first", "last"])
def test_a_remark_beside_a_finding_is_not_told_from_it(lines: tuple[Line, ...]) -> None:
    assert redact_receipt(with_lines(*lines)) == redact_receipt(with_lines(ORDERED))


def test_a_remark_that_costs_points_is_withheld_as_a_finding() -> None:
    public = redact_receipt(with_lines(replace(REMARKED, points=Decimal(-1))))
    assert [(line.points, line.why) for line in public.lines] == [(Decimal(-1), NOT_DISCLOSED)]


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (REMARKED, "tools/find_rows/description"),
        (ORDERED, "server"),
        (replace(REMARKED, why="tools/a: b/description: says so"), "server"),
        (replace(REMARKED, why="says so"), "server"),
    ],
    ids=["remark", "finding", "place that cannot be told from the words", "no place"],
)
def test_the_text_of_a_remark_is_left_out_alone_and_a_finding_leaves_out_all_texts(line: Line, place: str) -> None:
    assert list(find_suspect_places(with_lines(line))) == [place]


def with_lines(*lines: Line) -> Scorecard:
    return replace(card_of("adaptive@2"), lines=lines, dimensions=())


def test_a_receipt_without_findings_of_ours_is_not_touched() -> None:
    for dossier in samples.dossiers(6):
        for card in samples.cards(dossier):
            assert redact_receipt(card) is card
            assert redact_receipt_body(receipt.encode_scorecard(card)) == receipt.encode_scorecard(card)


def test_what_repeats_a_finding_goes_with_it() -> None:
    line = Line(cites="L3", points=Decimal(-5), why="tools/x: conceals itself", rule="text-injects-instructions")
    card = replace(
        card_of("enterprise@1"),
        lines=(line,),
        dimensions=(),
        caveats=("harmless", f"see {line.why}", "text-injects-instructions hit"),
        facts={"start": "100", "worst": line.why, "text-injects-instructions": "1"},
        score=NotMeasured("withdrawn", f"because {line.why}"),
    )
    public = redact_receipt(card)
    assert public.caveats == ("harmless", NOT_DISCLOSED)
    assert public.facts == {"start": "100"}
    assert public.score == NotMeasured("withdrawn", NOT_DISCLOSED)


def test_folded_lines_and_lines_of_rules_that_are_gone_are_withheld_by_what_they_cite() -> None:
    lines = (
        Line(cites="L3", points=Decimal(0), why="7 more findings"),
        Line(cites="L3", points=Decimal(-5), why="an old finding", rule="text-of-yore"),
    )
    public = redact_receipt(replace(card_of("enterprise@1"), lines=lines, dimensions=()))
    assert [(line.cites, line.points) for line in public.lines] == [(WITHHELD, Decimal(-5))]


@pytest.mark.parametrize(
    ("rule", "is_private"),
    [
        ("tool-description-long", False),
        ("text-injects-instructions", True),
        ("a-rule-that-is-gone", True),
        ('of another "form', True),
        (None, True),
    ],
)
def test_only_receipts_with_a_private_line_may_name_something_private(rule: str | None, is_private: bool) -> None:
    line = Line(cites="security.poisoning", points=Decimal(-5), why="of a tool", rule=rule)
    card = replace(card_of("adaptive@2"), lines=(line,), dimensions=(), evidence={})
    assert (redact_receipt(card) is not card) == is_private
    assert may_name_private(receipt.encode_scorecard(card)) == is_private


@pytest.mark.parametrize(("form", "comparable"), [("jsonl", False), ("jsonl", True), ("csv", False), ("csv", True)])
def test_no_dataset_tells_a_finding(store: Store, form: run_export.FileFormat, comparable: bool) -> None:
    out = io.BytesIO()
    run_export.export_run(store, samples.RUN.id, out, format=form, comparable=comparable)
    text = out.getvalue().decode()
    assert not [part for part in _telling() if part in text]
    if form == "jsonl":
        assert NOT_DISCLOSED in text


def test_no_page_tells_a_finding(store: Store, tmp_path: Path) -> None:
    folder = report_of(store, tmp_path / "r")
    pages = {path.name: path.read_text("utf-8") for path in folder.rglob("*.html")}
    assert not [(name, part) for name, page in pages.items() for part in _telling() if part in page]
    server = poisoned().server.id
    assert "</a> that stay private until their <a" in pages[f"{server}.html"]
    assert "hidden character" not in pages[f"{server}.html"]
    receipts = (folder / "servers" / server / "receipts").iterdir()
    assert any(NOT_DISCLOSED in path.read_text("utf-8") for path in receipts)


def test_the_overview_counts_what_is_withheld_under_one_neutral_name() -> None:
    overview = Overview()
    for name in NAMES:
        overview.add(poisoned(), [redact_receipt(card_of(name))])
    for name in ("adaptive@1", "enterprise@1"):
        card = card_of(name)
        failures = overview.failures(card.rubric, card.version, limit=1000)
        assert {failure.rule for failure in failures}.isdisjoint(private_rule_ids())
        assert [(part.cites, part.servers, part.example) for part in failures if part.rule == WITHHELD] == [
            (WITHHELD, 1, NOT_DISCLOSED)
        ]


def _items(bad: Scope) -> Sequence[Item]:
    if isinstance(bad, Said):
        return bad.listing.tools.items
    return [bad.item] if isinstance(bad, Tool) else []


def _telling() -> Iterator[str]:
    """Words that only a finding would bring: messages and rules."""
    for name in NAMES:
        for line in findings(card_of(name)):
            yield from (line.why, line.rule or "")
