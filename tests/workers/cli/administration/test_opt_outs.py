"""`hallmark opt-out`: who is left alone, since when and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.workers.cli.conftest import Hallmark


def test_an_entry_is_added_listed_and_ended(hallmark: Hallmark, stored: Sequence[str]) -> None:
    assert hallmark("opt-out", "add", "Example.com", "--note", "by mail", "--by", "ann").code == 0
    assert "already" in hallmark("opt-out", "add", "example.com", "--note", "again", "--by", "ann").err
    (listed,) = hallmark("opt-out", "list", "--json").rows
    assert (listed["scope"], listed["value"], listed["who"], listed["note"]) == (
        "domain",
        "example.com",
        "ann",
        "by mail",
    )
    assert "example.com" in hallmark("opt-out", "list").out
    assert hallmark("opt-out", "remove", "example.com", "--note", "they agreed", "--by", "ben").code == 0
    assert hallmark("opt-out", "list", "--json").rows == []
    (ended,) = hallmark("opt-out", "list", "--all", "--json").rows
    assert ended["revoked_at"]
    assert "revoked by ben: they agreed" in str(ended["note"])
    assert hallmark("opt-out", "remove", "example.com", "--note", "twice", "--by", "ben").code == 3


def test_who_asked_before_the_first_run_is_left_alone(hallmark: Hallmark) -> None:
    assert hallmark("opt-out", "list").code == 3, "there is no database yet"
    assert hallmark("opt-out", "add", "example.com", "--note", "by mail", "--by", "ann").code == 0
    assert "example.com" in hallmark("opt-out", "list").out


@pytest.mark.parametrize("said", ["https://example.com/", "*", "server:"])
def test_what_cannot_be_heeded_is_refused(hallmark: Hallmark, stored: Sequence[str], said: str) -> None:
    assert hallmark("opt-out", "add", said, "--note", "x", "--by", "ann").code == 2


def test_a_decision_needs_a_reason(hallmark: Hallmark, stored: Sequence[str]) -> None:
    refused = hallmark("opt-out", "add", "example.com", "--by", "ann")
    assert refused.code == 2
    assert "--note" in refused.err


def test_the_file_of_the_settings_counts_too(
    hallmark: Hallmark, stored: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "opt-outs.txt").write_text("example.com\nhost: a.example.net\n")
    monkeypatch.setenv("HALLMARK_OPT_OUTS", str(tmp_path / "opt-outs.txt"))
    assert "2 more entries" in hallmark("opt-out", "list").err
    (tmp_path / "opt-outs.txt").write_text("not a domain\n")
    broken = hallmark("opt-out", "list")
    assert broken.code == 2
    assert "line 1" in broken.err
