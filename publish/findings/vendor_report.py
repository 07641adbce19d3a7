"""Renders the report of findings that a server's vendor gets before disclosure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from evidence.kinds import secrets
from evidence.model import Server
from evidence.store import FindingRow
from publish.text.display import make_visible
from scoring.engine.rule import Rule, discover_rules

_NO_CONTACT = "by answering this message"


def render_vendor_report(server: Server, rows: Sequence[FindingRow], *, deadline: datetime, contact: str = "") -> str:
    """The message about findings of one server: what, where, evidence, how to fix, and when it will be public.

    `contact` is where the vendor may answer. Nothing of a secret is in it but its place and kind.
    """
    return "\n".join(_lines(server, rows, deadline, contact)) + "\n"


def _lines(server: Server, rows: Sequence[FindingRow], deadline: datetime, contact: str) -> Iterator[str]:
    number = f"{len(rows)} finding{'' if len(rows) == 1 else 's'}"
    yield f"Subject: Security report about {make_visible(server.name or server.ref)}: {number}, to be published later"
    yield ""
    yield "Hello,"
    yield ""
    confidential = _confidentiality_note(len(rows))
    yield f"we measure MCP servers, and an automatic check of your server found the following. {confidential}"
    yield ""
    yield f"- Server: {make_visible(server.ref)}"
    if server.repository:
        yield f"- Repository: {make_visible(server.repository)}"
    yield f"- Published on: {deadline:%Y-%m-%d}, or earlier once it is fixed and you agree"
    for number_of, row in enumerate(rows, start=1):
        yield from ("", *_finding(number_of, row))
    yield ""
    yield "Please tell us whether this is correct, and when a fixed version is available. Reports of false alarms are"
    yield f"welcome too: we then correct the check. You reach us {f'at {contact}' if contact else _NO_CONTACT}."


def _confidentiality_note(number: int) -> str:
    return f"We have not informed any other party of {'it' if number == 1 else 'them'}."


def _finding(number: int, row: FindingRow) -> Iterator[str]:
    finding = row.finding
    declared = discover_rules().get(finding.rule)
    yield f"## {number}. {declared.title if declared else finding.rule}"
    yield ""
    yield f"- Reference: {finding.id}, rule {finding.rule}"
    yield f"- Where: {make_visible(finding.at) or 'the whole server'}"
    yield f"- What was found: {make_visible(finding.message)}"
    if finding.severity:
        yield f"- Severity: {finding.severity}"
    yield f"- Evidence: {_seen_dates(row)}{_digest_note(row, declared)}"
    if declared:
        yield ""
        yield "Why it matters and how to fix it:"
        yield ""
        yield f"{declared.rationale}\n\n{declared.remedy}"
        if declared.spec:
            yield f"\nSee {declared.spec}"


def _digest_note(row: FindingRow, declared: Rule | None) -> str:
    """The digest of the evidence, for comparison; a secret's digest is salted and left out."""
    if declared and declared.reads == secrets.KIND:
        return "; only the place is stored, and nothing of the secret"
    return f"; SHA-256 of what was read: {row.finding.content}" if row.finding.content else ""


def _seen_dates(row: FindingRow) -> str:
    first, last = f"{row.first_seen:%Y-%m-%d %H:%M} UTC", f"{row.last_seen:%Y-%m-%d %H:%M} UTC"
    return f"seen on {first}" if first == last else f"first seen on {first}, last on {last}"
