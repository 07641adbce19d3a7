"""The guide has the requirements as they are declared."""

from __future__ import annotations

from pathlib import Path

from publish.badges import requirements
from publish.badges.images import badge_names
from publish.handbook.badge_pages import render_requirement_tables

GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "guide" / "badges.md").read_text("utf-8")


def test_the_guide_has_every_requirement_with_its_number() -> None:
    assert render_requirement_tables() in GUIDE, (
        "write publish.handbook.badge_pages.render_requirement_tables() into the guide"
    )
    assert f"version {requirements.GATE_VERSION};" in GUIDE


def test_the_guide_names_every_badge() -> None:
    assert all(f"{name}.svg" in GUIDE or f"`{name}`" in GUIDE for name in badge_names())
