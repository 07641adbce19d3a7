"""`lint@1` equals the published implementation, whose figures are in tests/golden/lint.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from evidence.model import Absent, Dossier, Observed, Reason, Record
from scoring.engine.assess import assess_dossier
from scoring.receipt import recompute_score
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Line, Scorecard
from scoring.rubrics.lint import LINT_1
from scoring.text import evidence_path
from tests.dossiers import AS_OF, captures, cases
from tests.scoring.dossiers import GOOD_TOOL, dossier, listed

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "lint.json").read_text(encoding="utf-8"))
NOT_FINDINGS = {"bonus", "clamp", "empty"}


def lint(dossier: Dossier) -> Scorecard:
    return LINT_1.score(assess_dossier(dossier, [LINT_1]))


def everything() -> Iterator[tuple[str, str]]:
    yield from (("captures", name) for name in GOLDEN["captures"])
    yield from (("cases", name) for name in GOLDEN["cases"])


@pytest.mark.parametrize(("part", "name"), list(everything()))
def test_equals_the_reference(part: str, name: str) -> None:
    dossier = (captures() if part == "captures" else cases())[name]
    card, expected = lint(dossier), GOLDEN[part][name]
    assert (card.score, card.grade) == (expected["score"], expected["grade"])
    assert [_issue(card, dossier, line) for line in card.lines if line.cites not in NOT_FINDINGS] == [
        (rule, severity, target) for _, rule, severity, target, _ in expected["issues"]
    ]
    assert _details(card) == [detail for *_, detail in expected["issues"] if detail not in {None, "undefined"}]
    for fact in ("errors", "warnings", "infos"):
        assert int(card.facts[fact]) == expected["summary"][fact]
    for fact in ("tools", "resources", "prompts"):
        assert int(card.facts[fact]) == expected["summary"][f"{fact}Checked"]
    assert int(card.facts["tokens"]) == expected["tokens_total"]
    assert [int(value) for key, value in card.facts.items() if key.startswith("tokens/")] == expected["tokens"]
    assert recompute_score(card) == card.score


def test_all_captures_and_cases_are_compared() -> None:
    assert set(captures()) == set(GOLDEN["captures"])
    assert set(cases()) == set(GOLDEN["cases"])
    assert (len(captures()), len(cases())) == (20, 209)


@pytest.mark.parametrize("reason", list(Reason))
def test_locked_server_is_not_zero(reason: Reason) -> None:
    card = lint(_with_listing(Absent(reason, "seen from outside")))
    assert card.score == NotMeasured(reason.value, "seen from outside")
    assert card.grade is None
    assert card.lines == ()


def test_empty_listing_is_evidence_and_scores_zero() -> None:
    card = lint(cases()["server-empty"])
    assert card.score == 0
    assert card.grade == "F"


@pytest.mark.parametrize("end", ["error", "failed"])
def test_list_that_failed_counts_as_empty_and_the_caveat_says_so(end: str) -> None:
    failed = {"tools": {"declared": True, "end": end, "error": {"code": -32603}, "pages": []}}
    card = lint(_with_listing(_listing(failed)))
    assert (card.score, card.grade) == (0, "F")
    assert [line.cites for line in card.lines] == ["server-empty", "empty"]
    assert card.caveats == ("tools could not be listed; this version counts the list as empty.",)


def test_failed_list_beside_others_is_a_caveat() -> None:
    card = lint(captures()["hubspot__mcp-server"])
    assert card.score == 54
    assert card.caveats == ("resources could not be listed; this version counts the list as empty.",)


def test_only_the_first_page_counts() -> None:
    good = {"name": "get-record", "description": "Retrieves one record by its id.", "inputSchema": {"type": "object"}}
    pages = [{"tools": [{**good, "inputSchema": {"type": "object", "properties": {}}}]}, {"tools": [{"name": "bad"}]}]
    card = lint(_with_listing(_listing({"tools": {"declared": True, "end": "complete", "pages": pages}})))
    assert card.score == 100
    assert card.facts["tools"] == "1"


def test_tool_without_a_name_counts_as_unconventional_and_never_crashes() -> None:
    pages = [{"tools": [{"description": "Retrieves one record by its identifier.", "inputSchema": {"properties": {}}}]}]
    card = lint(_with_listing(_listing({"tools": {"declared": True, "end": "complete", "pages": pages}})))
    assert [line.cites for line in card.lines if line.points < 0] == ["tool-schema-not-object", "tool-name-convention"]


def test_same_names_have_different_paths() -> None:
    pages = [{"tools": [{"name": "twin"}, {"name": "twin"}, {"name": "a/b@1"}]}]
    card = lint(_with_listing(_listing({"tools": {"declared": True, "end": "complete", "pages": pages}})))
    where = [line.at for line in card.lines if line.cites == "tool-no-description"]
    assert where == ["tools/twin@0", "tools/twin@1", "tools/a~1b~21"]


def _issue(card: Scorecard, dossier: Dossier, line: Line) -> tuple[str, str, str]:
    return line.cites, line.severity, _target(dossier, line)


def _target(dossier: Dossier, line: Line) -> str:
    """The reference names the server on server rules and the item elsewhere."""
    parts = line.at.split("/")
    if parts[0] in {"tools", "resources", "prompts"} and len(parts) > 1:
        return evidence_path.unescape_segment(parts[1])
    content = dossier.read("listing")
    assert isinstance(content, Observed)
    info = json.loads(content.body)["opening"].get("serverInfo") or {}
    name = info.get("name")
    return "Unknown Server" if name is None else str(name)


def _details(card: Scorecard) -> list[str]:
    """What the reference calls detail: the parameter, argument or required entry, or the odd type of a schema."""
    details = []
    for line in card.lines:
        if line.cites.startswith(("prop-", "prompt-arg-")):
            details.append(evidence_path.unescape_segment(line.at.split("/")[2]))
        if line.cites == "required-not-in-properties":
            details.append(line.why.split(" is required")[0])
        if line.cites == "tool-schema-not-object" and "type is null" not in line.why:
            details.append(line.why.split('"')[1])
    return details


def _listing(lists: dict[str, object]) -> Observed:
    opening = {"capabilities": {name: {} for name in lists}, "serverInfo": {"name": "case", "version": "1"}}
    return Observed(json.dumps({"opening": opening, "lists": lists}).encode())


def _with_listing(content: Observed | Absent) -> Dossier:
    server = next(iter(captures().values())).server
    record = Record(
        server=server.id,
        kind="listing",
        schema=1,
        collector="test",
        collector_version=1,
        observed_at=AS_OF,
        content=content,
    )
    return Dossier(server=server, as_of=AS_OF, records={"listing": record})


def test_receipt_of_a_hostile_server_is_bounded_and_keeps_its_points() -> None:
    properties = {f"p{index}": {} for index in range(5000)}
    schema = {"type": "object", "properties": properties}
    card = lint(dossier(listed=listed({**GOOD_TOOL, "inputSchema": schema})))
    assert len(card.lines) < 2010
    assert card.facts["warnings"] == "10000"
    assert [line.points for line in card.lines if line.why == "4000 more findings"] == [-20000, -20000]
    assert recompute_score(card) == card.score == 0
