"""Removes secrets from records before they are stored, and from texts before they are shown.

Listings and registry entries are stored as received, because rules judge their exact bytes; publishing masks them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from evidence.canonical import Json, NotJson, parse_json
from evidence.kinds import listing, registration, secrets
from evidence.kinds.samples import SampleObservation
from evidence.model import Absent, Observed, Record

if TYPE_CHECKING:
    from evidence.derive.secrets import Scanner

UNSCRUBBED_KINDS: Final = frozenset({listing.KIND, registration.KIND, secrets.KIND})
"""Kinds whose bodies are stored as received; `secrets` contains no secrets anyway."""

_MASK: Final = b"[secret]"
_SHORT: Final = 400  # characters
_LONG_WORD: Final = 20
_WORD: Final = 8
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_ESCAPED_STRING: Final = re.compile(rb'"[^"\\]*+(?:"|(\\.(?:[^"\\]++|\\.)*+"))', re.DOTALL)
"""A string, with a group if it has an escape."""
_HIDING: Final = re.compile(rb'\\(?:u00[2-7]|/|")')
"""Escapes that can hide letters of a secret or the quotes around it."""
_APART: Final = "\n" + "\0" * 24 + "\n"
"""Separates texts that are scanned together: neither a pattern nor its context reaches across."""


def scrub_record(record: Record) -> Record:
    """The record without secrets; the same object when there is none. JSON bodies stay JSON; idempotent."""
    content = record.content
    if isinstance(content, Absent):
        detail = scrub_text(content.detail)
        content = content if detail == content.detail else Absent(content.reason, detail)
    elif record.kind not in UNSCRUBBED_KINDS and (body := scrub_body(content.body)) != content.body:
        content = Observed(body)
    observation = _scrub_observation(record.observation)
    if content is record.content and observation is record.observation:
        return record
    return replace(record, content=content, observation=observation)


def scrub_text(text: str) -> str:
    """The text with every secret masked; linear in its length and idempotent."""
    return text if _is_harmless(text) else _scanner().scrub(text)


def are_free_of_secrets(texts: Iterable[str]) -> bool:
    """Whether scrubbing would leave each of these texts unchanged, checked for all of them in one scan.

    May be False for clean texts; never True for a text with a secret.
    """
    return not _scanner().spans(_APART.join(texts).encode("utf-8", "surrogatepass"))


def scrub_body(body: bytes) -> bytes:
    """A body with every secret masked. In JSON only the contents of strings change, so the structure stays."""
    shown = _scrub_escaped(body) if _HIDING.search(body) else body
    if shown == body and not _scanner().spans(body):
        return body  # most bodies are clean, and a parsed one takes ten times its memory
    try:
        value = parse_json(body)
    except NotJson:
        return scrub_text(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    scrubbed_body = _inside_strings(shown)
    try:
        parse_json(scrubbed_body)
    except NotJson:  # the secret ended inside an escape sequence
        return json.dumps(_scrub_value(value), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return scrubbed_body


def _inside_strings(body: bytes) -> bytes:
    """Mask findings inside strings. The scan covers the whole body, because names and values are separate strings."""
    spans = _scanner().spans(body)
    if not spans:
        return body
    parts, at = [], 0
    for start, end in _within(spans, [(one.start() + 1, one.end() - 1) for one in _STRING.finditer(body)]):
        parts += [body[at:start], _MASK]
        at = end
    return b"".join((*parts, body[at:]))


def _within(spans: Sequence[tuple[int, int]], strings: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of spans that are inside strings; both sequences are sorted and do not overlap."""
    found, number = [], 0
    for start, end in spans:
        while number < len(strings) and strings[number][1] <= start:
            number += 1
        at = number
        while at < len(strings) and strings[at][0] < end:
            first, last = max(start, strings[at][0]), min(end, strings[at][1])
            if first < last:
                found.append((first, last))
            at += 1
    return found


def _scrub_escaped(body: bytes) -> bytes:
    """The body with its strings scrubbed whose escapes could hide a secret. Strings that stay take no memory."""
    parts, at = [], 0
    for string in _ESCAPED_STRING.finditer(body):
        if string.lastindex is None:
            continue
        clean = _scrub_hidden(string)
        if clean != string[0]:
            parts += [body[at : string.start()], clean]
            at = string.end()
    return b"".join((*parts, body[at:])) if parts else body


def _scrub_hidden(string: re.Match[bytes]) -> bytes:
    """A JSON string whose escapes could hide a secret, scrubbed; the same bytes when there is none."""
    if not _HIDING.search(string[0]):
        return string[0]
    try:
        text = json.loads(string[0])
    except ValueError:
        return string[0]
    clean = scrub_text(text)
    return string[0] if clean == text else json.dumps(clean).encode()


def _scrub_observation(observation: Mapping[str, Json]) -> Mapping[str, Json]:
    """The observation without secrets; the same object when there is none."""
    # Times, numbers and words that we write. As text, up to 400 times would be scanned in every run.
    if isinstance(observation, SampleObservation):
        return observation
    found = {name: _scrub_value(value) for name, value in observation.items()}
    return observation if found == observation else found


def _scrub_value(value: Json) -> Json:
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, Mapping):
        return {name: _scrub_value(one) for name, one in value.items()}
    if isinstance(value, Sequence):
        return [_scrub_value(one) for one in value]
    return value


def _is_harmless(text: str) -> bool:
    """Whether a short text contains no word that could be a secret. Most texts do, and need no scan."""
    if len(text) > _SHORT:
        return False
    return not any(
        len(word) >= _LONG_WORD or (len(word) >= _WORD and any(letter.isdigit() for letter in word))
        for word in text.split()
    )


@cache
def _scanner() -> Scanner:
    from evidence.derive.secrets import Scanner, build_own_rules  # noqa: PLC0415  400 patterns, which most commands never need

    return Scanner(build_own_rules(), fast=False)
