"""Badges: their text and their width; and no server name breaks them."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from evidence.model import Server
from evidence.store.listing.values import ListedScore, ListedServer
from publish.badges import images, requirements
from publish.badges.images import (
    BadgeColour,
    badge_names,
    badge_snippets,
    draw_badge,
    render_shields_json,
    render_svg,
)
from publish.badges.text_width import text_width
from tests.publish import samples

SERVER = Server(ref="https://notes.example/mcp", name="com.example/notes")
NOW = samples.AS_OF + timedelta(days=1)
SCORE = ListedScore(
    rubric="adaptive",
    version=1,
    score=Decimal(72),
    grade=None,
    floor=Decimal(50),
    ceiling=Decimal(81),
    coverage=Decimal("0.6949"),
)
LINT = replace(SCORE, rubric="lint", version=2, score=Decimal(95), grade="A", coverage=Decimal(1))
SVG = "{http://www.w3.org/2000/svg}"


def listed(**members: Any) -> ListedServer:
    known: dict[str, Any] = {
        "server": SERVER,
        "run": samples.RUN.id,
        "as_of": samples.AS_OF,
        "state": "measured",
        "reason": None,
        "ecosystem": "remote",
        "registries": ("official",),
        "tools": 12,
        "gate": True,
        "badges": (requirements.LAB_TESTED,),
        "scores": (SCORE, replace(LINT, version=1, grade="B"), LINT),
    }
    return ListedServer(**{**known, **members})


def test_every_badge_says_something_of_a_measured_server() -> None:
    said = {name: draw_badge(listed(), name, NOW).message for name in badge_names()}
    assert said == {
        "score": "72 / 100",
        "adaptive": "72",
        "enterprise": "not tested",
        "lint": "A · 95",
        "sdk_tier": "not tested",
        "tool_design": "not tested",
        "lab-tested": "yes",
        "vendor-verified": "not earned",
        "security-scanned": "not earned",
        "tools": "12",
    }


def test_a_server_that_could_not_be_tested_has_no_red_and_no_number() -> None:
    unscored = replace(SCORE, score=None, floor=None, ceiling=None, not_measured="oauth_required")
    locked = listed(state="not_testable", reason="oauth_required", tools=None, scores=(unscored,), badges=())
    for name in badge_names():
        drawn = draw_badge(locked, name, NOW)
        assert (drawn.message, drawn.tone) == ("not tested", BadgeColour.NEUTRAL)
        assert "(oauth required)" in drawn.title
        assert not re.search(r"[0-9]", drawn.message)


def test_a_capped_grade_says_so() -> None:
    capped = replace(SCORE, score=Decimal(55), grade="D", capped=True)
    drawn = draw_badge(listed(scores=(capped,)), "score", NOW)
    assert drawn.message == "D · 55 / 100 · capped"
    assert "grade D, capped" in drawn.title


def test_a_thin_score_is_not_praised() -> None:
    drawn = draw_badge(listed(scores=(replace(SCORE, score=Decimal(99), thin=True),)), "score", NOW)
    assert (drawn.message, drawn.tone) == ("99 · thin evidence", BadgeColour.NEUTRAL)


@pytest.mark.parametrize(
    ("points", "tone"),
    [
        (100, BadgeColour.GOOD),
        (80, BadgeColour.GOOD),
        (79, BadgeColour.FAIR),
        (59, BadgeColour.LOW),
        (0, BadgeColour.POOR),
    ],
)
def test_the_tone_follows_the_score(points: int, tone: BadgeColour) -> None:
    assert draw_badge(listed(scores=(replace(SCORE, score=Decimal(points)),)), "score", NOW).tone is tone


def test_old_evidence_is_called_stale_and_loses_its_colour() -> None:
    fresh = draw_badge(listed(), "lint", samples.AS_OF + images.STALE_AFTER)
    stale = draw_badge(listed(), "lint", samples.AS_OF + images.STALE_AFTER + timedelta(seconds=1))
    assert (fresh.message, fresh.tone) == ("A · 95", BadgeColour.GOOD)
    assert (stale.message, stale.tone) == ("A · 95 (stale)", BadgeColour.NEUTRAL)
    assert stale.title.endswith("as of 2026-03-01, which is stale")


def test_an_unknown_server_is_grey_and_an_error_and_an_unknown_badge_is_none() -> None:
    drawn = draw_badge(None, "lab-tested", NOW)
    assert (drawn.label, drawn.message, drawn.tone, drawn.error) == (
        "lab tested",
        "unknown server",
        BadgeColour.NEUTRAL,
        True,
    )
    with pytest.raises(KeyError):
        draw_badge(listed(), "no-such-badge", NOW)


@pytest.mark.parametrize("name", badge_names())
def test_a_picture_is_named_and_holds_its_texts(name: str) -> None:
    picture = ET.fromstring(render_svg(draw_badge(listed(), name, NOW)))
    assert picture.get("role") == "img"
    title = picture.findtext(f"{SVG}title")
    assert title == picture.get("aria-label")
    assert title is not None
    assert title.startswith("com.example/notes: ")
    texts = picture.findall(f"{SVG}g/{SVG}text")
    lengths = [float(text.get("textLength", "0")) for text in texts]
    assert sum(lengths) + 4 * 6 == float(picture.get("width", "0"))
    assert float(texts[0].get("x", "0")) == lengths[0] / 2 + 6
    assert float(texts[1].get("x", "0")) == lengths[0] + lengths[1] / 2 + 18
    for text, length in zip(texts, lengths, strict=True):
        assert abs(text_width(text.text or "", 11) - length) <= 0.5
    assert not any(part.get("id") for part in picture.iter())  # several may stand in one document


def test_text_can_be_read_on_every_colour() -> None:
    for colour in (images.LABEL, *(tone.value for tone in BadgeColour)):
        assert contrast(colour, "#ffffff") >= 4.5


def test_a_hostile_name_stays_a_text() -> None:
    server = Server(ref="https://evil.example/mcp", name=samples.HOSTILE + "]]></title></svg>" + "x" * 100_000)
    for name in badge_names():
        drawn = render_svg(draw_badge(listed(server=server), name, NOW))
        picture = ET.fromstring(drawn)
        assert {part.tag.removeprefix(SVG) for part in picture.iter()} == {
            "svg", "title", "rect", "g", "text",
        }  # fmt: skip
        assert not {"\x1b", "\u202e", "\u200b"} & set(drawn)
        assert len(drawn) < 3_000


def test_shields_gets_its_schema_without_any_name() -> None:
    found = render_shields_json(draw_badge(listed(), "score", NOW))
    assert found == {
        "schemaVersion": 1,
        "label": "hallmark",
        "message": "72 / 100",
        "color": "2b6f8a",
        "labelColor": "333a42",
        "isError": False,
        "cacheSeconds": 300,
    }
    assert "example" not in json.dumps(found)
    assert render_shields_json(draw_badge(None, "score", NOW))["isError"] is True


def test_snippets_lead_from_the_picture_to_the_page() -> None:
    found = badge_snippets("https://hallmark.example", SERVER.id)
    assert [snippet.badge for snippet in found] == list(badge_names())
    assert found[0].markdown == (
        f"[![Hallmark score](https://hallmark.example/badges/{SERVER.id}/score.svg)]"
        f"(https://hallmark.example/servers/{SERVER.id})"
    )
    assert ET.fromstring(found[0].html.replace('"></a>', '"/></a>')).get("href") == found[0].link


def contrast(one: str, other: str) -> float:
    """Contrast of two colours as WCAG 2.2 defines it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
