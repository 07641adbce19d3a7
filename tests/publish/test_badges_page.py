"""The guide has the requirements as they are declared."""

from __future__ import annotations

from pathlib import Path

from publish import gate
from publish.badges import names
from publish.badges_page import requirement_tables

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "badges.md").read_text("utf-8")


def test_the_guide_has_every_requirement_with_its_number() -> None:
    assert requirement_tables() in GUIDE, "write publish.badges_page.requirement_tables() into the guide"
    assert f"version {gate.GATE};" in GUIDE


def test_the_guide_names_every_badge() -> None:
    assert all(f"{name}.svg" in GUIDE or f"`{name}`" in GUIDE for name in names())
