"""Servers that are known to fall: from their own earlier fall, or from the version that their opening shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from crawler.collectors.earlier_values import parse_body
from crawler.collectors.protocol.questions.fall_watch import DISCOVER
from crawler.collectors.protocol.session.handshake import UNSUPPORTED_VERSION, Opened
from crawler.mcp.channel import Era
from crawler.mcp.transcript import Reply
from evidence.canonical import canonical_json
from evidence.json_members import object_or_empty, text_or_empty
from evidence.kinds.falls import Fall, Falls
from evidence.model import Observed, Record, TargetType

ServerVersion: TypeAlias = tuple[str, str]
"""What a server says of itself: its name and its version."""

DISCOVERED: Final = f"{Era.MODERN.value}/{DISCOVER}"
"""The one question of a core probe that a server may not know."""

_METHOD_NOT_FOUND: Final = -32601
_OPENING: Final = "initialize"
_RANDOM_UUID: Final = re.compile("[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}")
_EVENT: Final = b"event: message\r\n"
_INFO: Final = "io.modelcontextprotocol/serverInfo"
_FALLING_REVISIONS: Final = frozenset({"2024-11-05", "2025-03-26"})
"""The newest revisions that Python SDK 1.8 and 1.9 agree to over streamable HTTP (docs/version-matrix.md)."""


def has_falling_version(opened: Sequence[Opened]) -> bool:
    """Whether the server looks like Python SDK 1.8 or 1.9, which alone have one of these signs at their revisions.

    They declare `experimental` unless the server states its own capabilities, assign session ids of 32 hexadecimal
    digits, and end the lines of an event stream with CR LF. A server without any of them is asked, and tested.
    """
    return any(
        each.era is Era.LEGACY
        and each.version in _FALLING_REVISIONS
        and each.dialogue.channel.transport == TargetType.STREAMABLE_HTTP.value
        and ("experimental" in (each.capabilities or {}) or _answers_like_python_sdk(each))
        for each in opened
    )


def _answers_like_python_sdk(opened: Opened) -> bool:
    link = opened.dialogue.link(opened.era)
    openings = [row.exchange for row in opened.dialogue.transcript.rows if row.link == link and row.step == _OPENING]
    return any(
        _RANDOM_UUID.fullmatch(one.header("mcp-session-id")) is not None or one.body.startswith(_EVENT)
        for one in openings
    )


def may_be_asked_to_discover(known: Record | None, refusal: Reply) -> bool:
    """Whether a server that refused `initialize` may be asked `server/discover`.

    One that is known to fall at that opened in the legacy era before: it is another version only if it answers that it
    does not know the method or the version.
    """
    if all(fall.question != DISCOVERED for fall in read_falls(known).falls):
        return True
    return refusal.answer is not None and refusal.answer.code in {UNSUPPORTED_VERSION, _METHOD_NOT_FOUND}


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
