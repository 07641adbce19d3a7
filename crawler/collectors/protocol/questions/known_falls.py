"""Servers that are known to fall: from their own earlier fall, or from the version that their opening shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from crawler.collectors.earlier_values import parse_body
from crawler.collectors.protocol.session.handshake import Opened
from crawler.mcp.channel import Era
from evidence.canonical import canonical_json
from evidence.json_members import object_or_empty, text_or_empty
from evidence.kinds.falls import Fall, Falls
from evidence.model import Observed, Record, TargetType

ServerVersion: TypeAlias = tuple[str, str]
"""What a server says of itself: its name and its version."""

_INFO: Final = "io.modelcontextprotocol/serverInfo"
_FALLING_REVISIONS: Final = frozenset({"2024-11-05", "2025-03-26"})
"""The newest revisions that Python SDK 1.8 and 1.9 agree to over streamable HTTP (docs/version-matrix.md)."""


def has_falling_version(opened: Sequence[Opened]) -> bool:
    """Whether the server looks like Python SDK 1.8 or 1.9, whose capabilities alone name `experimental`."""
    return any(
        each.era is Era.LEGACY
        and each.version in _FALLING_REVISIONS
        and each.dialogue.channel.transport == TargetType.STREAMABLE_HTTP.value
        and "experimental" in (each.capabilities or {})
        for each in opened
    )


def read_server_version(opened: Sequence[Opened]) -> ServerVersion:
    """The name and version in the last opening that states them, the legacy one; empty texts where none does."""
    for each in reversed(opened):
        result = object_or_empty(each.answer.value)
        info = object_or_empty(result.get("serverInfo")) or object_or_empty(
            object_or_empty(result.get("_meta")).get(_INFO)
        )
        if info:
            return text_or_empty(info.get("name")), text_or_empty(info.get("version"))
    return "", ""


def read_falls(earlier: Record | None) -> Falls:
    """What is known from earlier probes; nothing without an observed record."""
    return Falls.read(parse_body(earlier))


def continue_falls(
    earlier: Record | None, server: ServerVersion, falls: Sequence[Fall], survived: Sequence[str]
) -> Observed:
    """The content of a falls record: what this probe found, and what was known of the same version before.

    A question that the server survives now is no fall any more, and one under which it fell was not survived.
    """
    known = read_falls(earlier)
    if known.server != server:
        known = Falls(server=server)
    fallen = {fall.question: fall for fall in (*known.falls, *falls) if fall.question not in survived}
    kept = {question for question in (*known.survived, *survived) if question not in fallen}
    found = Falls(server=server, survived=tuple(kept), falls=tuple(fallen.values()))
    return Observed(canonical_json(found.to_json()))
