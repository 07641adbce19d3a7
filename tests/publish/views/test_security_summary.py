"""The line about security says what was found, what was searched, and what was not examined."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import pytest
from msgspec.structs import replace

from publish.disclosure import NOT_DISCLOSED, SET_ASIDE, UNDER_DISCLOSURE, WITHHELD, WITHHELD_CAP
from publish.remarks import REMARK
from publish.views.security_summary import SecurityStatus, summarize_security
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Line, Scorecard
from tests.publish.samples import AS_OF

SUBJECTS = ("instructions to models in tool texts", "secrets in the source", "advisories about dependencies")
CLEAN = {"poisoning": Decimal(10), "secrets": Decimal(10), "dependencies": Decimal(10)}
UNREAD = NotMeasured("no_repository", "no repository is declared")
ADVISORY = Line(cites="D1", points=Decimal(-4), why="CVE-2026-1", rule="dependency-vulnerable", at="left-pad")
HIDDEN = NotMeasured(WITHHELD, "withheld")


def card(
    results: Mapping[str, Decimal | NotMeasured], lines: Mapping[str, list[Line]] | None = None, *whole: Line
) -> Scorecard:
    parts = tuple(
        ComponentScore(
            name=name,
            base_weight=Decimal(0),
            effective_weight=Decimal(0),
            result=result,
            lines=tuple((lines or {}).get(name, ())),
        )
        for name, result in results.items()
    )
    security = DimensionScore(
        name="security",
        base_weight=Decimal(25),
        effective_weight=Decimal(1),
        result=Decimal(5),
        status="measured",
        components=parts,
    )
    return Scorecard(
        server="srv_1",
        rubric="adaptive",
        version=2,
        source_version="2.1",
        score=Decimal(50),
        grade="D",
        as_of=AS_OF,
        coverage=Decimal(1),
        lines=whole,
        dimensions=(security,),
    )


@pytest.mark.parametrize(
    ("found", "status", "text"),
    [
        (
            card(CLEAN),
            SecurityStatus.CLEAN,
            "no " + " or ".join(SUBJECTS) + " found",
        ),
        (
            card({**CLEAN, "dependencies": Decimal(6)}, {"dependencies": [ADVISORY]}),
            SecurityStatus.FOUND,
            "A published vulnerability affects a dependency (1); no " + " or ".join(SUBJECTS[:2]) + " found",
        ),
        (
            card({**CLEAN, "dependencies": NotMeasured("not_applicable")}),
            SecurityStatus.CLEAN,
            "no " + " or ".join(SUBJECTS[:2]) + " found",
        ),
        (
            card({**CLEAN, "secrets": UNREAD, "dependencies": NotMeasured("not_applicable")}),
            SecurityStatus.PARTLY_EXAMINED,
            "no instructions to models in tool texts found; not fully examined: secrets in the source",
        ),
        (
            card(dict.fromkeys(CLEAN, UNREAD)),
            SecurityStatus.NOT_EXAMINED,
            ", ".join(SUBJECTS),
        ),
        (
            card(
                {**CLEAN, "poisoning": HIDDEN, "secrets": HIDDEN},
                {},
                Line(cites=WITHHELD_CAP, points=Decimal(-20), why=UNDER_DISCLOSURE),
            ),
            SecurityStatus.WITHHELD,
            "findings are under disclosure; no advisories about dependencies found",
        ),
    ],
    ids=lambda value: value.value if isinstance(value, SecurityStatus) else "",
)
def test_the_line_follows_the_components(found: Scorecard, status: SecurityStatus, text: str) -> None:
    said = summarize_security(found)
    assert said is not None
    assert (said.status, said.text) == (status, text)


@pytest.mark.parametrize(("why", "status"), [(NOT_DISCLOSED, "withheld"), (SET_ASIDE, "clean"), (REMARK, "clean")])
def test_only_a_finding_that_awaits_its_disclosure_is_called_so(why: str, status: str) -> None:
    hidden = Line(cites=WITHHELD, points=Decimal(0), why=why)
    said = summarize_security(card(CLEAN, {}, hidden))
    assert said is not None and said.status.value == status


def test_what_was_examined_in_part_is_not_clean() -> None:
    whole = card(CLEAN)
    (security,) = whole.dimensions
    parts = tuple(replace(part, floor=Decimal(1)) if part.name == "poisoning" else part for part in security.components)
    said = summarize_security(replace(whole, dimensions=(replace(security, components=parts),)))
    assert said is not None and said.status is SecurityStatus.PARTLY_EXAMINED
    assert said.text == f"no {SUBJECTS[1]} or {SUBJECTS[2]} found; not fully examined: {SUBJECTS[0]}"


def test_a_methodology_without_these_components_says_nothing() -> None:
    assert summarize_security(card({"authentication": Decimal(10)})) is None
