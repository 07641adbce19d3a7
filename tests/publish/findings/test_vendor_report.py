"""A vendor report contains all that the vendor needs, and nothing that an attacker could use."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from evidence.model import Server
from evidence.store import DetectedFinding, FindingRow, FindingState
from publish.findings.vendor_report import render_vendor_report
from tests.publish import samples

SERVER = Server(ref="npm:weather", name="io.example/weather", repository="https://code.example/weather")
END = samples.AS_OF + timedelta(days=90)


def row(rule: str, message: str = "what was found") -> FindingRow:
    finding = DetectedFinding(
        id="fnd_1", server=SERVER.id, rule=rule, at="src/a.py:7", message=message, severity="error", content="5a17ed"
    )
    at = samples.AS_OF
    state = FindingState.PRIVATE_DISCLOSED
    return FindingRow(finding=finding, state=state, since=at, first_seen=at, last_seen=at, vendor_informed_at=at)


def test_it_says_what_where_how_to_fix_it_and_until_when() -> None:
    text = render_vendor_report(
        SERVER, [row("text-injects-instructions")], deadline=END, contact="https://hallmark.example"
    )
    for part in ("npm:weather", "code.example", "src/a.py:7", "what was found", "fnd_1", "5a17ed", "2026-05-30"):
        assert part in text
    assert "Leave decisions to the user" in " ".join(text.split())
    assert "at https://hallmark.example" in text


def test_the_report_of_a_secret_names_only_its_place() -> None:
    text = render_vendor_report(SERVER, [row("source-holds-secret")], deadline=END)
    assert "5a17ed" not in text
    assert "nothing of the secret" in text
    assert "Revoke" in text


def test_several_findings_are_numbered_in_one_report() -> None:
    text = render_vendor_report(SERVER, [row("source-holds-secret"), row("text-hides-characters")], deadline=END)
    assert text.startswith("Subject: Security report about io.example/weather: 2 findings")
    assert "## 1. " in text
    assert "## 2. " in text


def test_words_of_strangers_hide_nothing_in_it() -> None:
    odd = replace(SERVER, name=samples.HOSTILE)
    text = render_vendor_report(odd, [row("a-rule-that-is-gone", samples.HOSTILE)], deadline=END)
    assert not {"\x1b", "\u202e", "\u200b"} & set(text)
