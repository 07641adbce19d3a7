"""The body of a public record as everybody may read it: parsed, and without what a message should not have said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evidence.canonical import Json, NotJson, parse_json
from evidence.kinds import access, exchanges, interop, trials
from evidence.model import Absent, Record
from publish.disclosure import PUBLIC_KINDS
from publish.redaction import without_secrets

MAX_BYTES: Final = 4 * 1024 * 1024

_QUOTING: Final = frozenset({exchanges.KIND, interop.KIND, trials.KIND})
"""Kinds that hold messages as they were sent; rules judge their words, so they are masked only when they are shown."""

_GUESSABLE: Final = (
    "What a token that cannot be valid got is not published (docs/decisions/0121). It is one of a few words: beside "
    "the digest of the whole, everything else would tell which one."
)


@dataclass(frozen=True, slots=True)
class Content:
    """A body as JSON values; one that is no JSON is a text."""

    value: Json


@dataclass(frozen=True, slots=True)
class NotShown:
    """There is no body to show; `why` is for readers."""

    why: str


def public_content(record: Record) -> Content | NotShown:
    """What of a record's body may be read; its other secrets are masked by whoever writes it."""
    if record.kind not in PUBLIC_KINDS:
        return NotShown("This kind of evidence is not published.")
    if isinstance(record.content, Absent):
        return NotShown("Nothing was observed; `absent` says why.")
    if record.kind == access.KIND:
        return NotShown(_GUESSABLE)
    body = record.content.body
    if len(body) > MAX_BYTES:
        return NotShown(f"It has {len(body)} bytes, and at most {MAX_BYTES} are shown here.")
    try:
        value = parse_json(body)
    except NotJson:
        return Content(without_secrets(body.decode("utf-8", "replace")))
    return Content(_quoted(value) if record.kind in _QUOTING else value)


def _quoted(value: Json) -> Json:
    """The same with every text masked, names of members too."""
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, Mapping):
        return {without_secrets(name): _quoted(one) for name, one in value.items()}
    if isinstance(value, Sequence):
        return [_quoted(one) for one in value]
    return value
