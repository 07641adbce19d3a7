"""Secrets taken out of what is kept: records before they are stored, texts before they are shown.

A listing and a registry entry stay as they were received, since rules judge their very bytes; publishing masks them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from evidence.canonical import Json, NotJson, parse_json
from evidence.kinds import listing, registration, secrets
from evidence.kinds.samples import SampleObservation
from evidence.model import Absent, Observed, Record

if TYPE_CHECKING:
    from evidence.derive.secrets import Scanner

UNSCRUBBED_KINDS: Final = frozenset({listing.KIND, registration.KIND, secrets.KIND})
"""Kinds whose bodies stay as they are; the last one holds no secret to begin with."""

_MASK: Final = b"[secret]"
_SHORT: Final = 400  # characters
_LONG_WORD: Final = 20
_WORD: Final = 8
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_HIDING: Final = re.compile(rb'\\(?:u00[2-7]|/|")')
"""Escapes in which letters of a secret can hide, or quotes around one."""
_APART: Final = "\n" + "\0" * 24 + "\n"
"""Between texts that are looked at together: no pattern reaches across, nor what is asked about the words before."""


def scrub_record(record: Record) -> Record:
    """The record without secrets, the same one when there is none. Bodies that are JSON stay JSON; idempotent."""
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
    """The text with every secret masked; linear in its length, and the same when it is scrubbed again."""
    return text if _is_harmless(text) else _scanner().scrub(text)


def are_free_of_secrets(texts: Iterable[str]) -> bool:
    """Whether scrubbing leaves each of these texts as it is, told in one look at all of them.

    May be False for texts that are clean, never True for one that is not.
    """
    return not _scanner().spans(_APART.join(texts).encode("utf-8", "surrogatepass"))


def scrub_body(body: bytes) -> bytes:
    """A body with every secret masked: inside its strings when it is JSON, so that its structure stays."""
    try:
        value = parse_json(body)
    except NotJson:
        return scrub_text(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    scrubbed_body = _inside_strings(_STRING.sub(_scrub_hidden, body) if _HIDING.search(body) else body)
    try:
        parse_json(scrubbed_body)
    except NotJson:  # a secret ended inside an escape
        return json.dumps(_scrub_value(value), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return scrubbed_body


def _inside_strings(body: bytes) -> bytes:
    """Mask what is found with the whole body in view, since names stand in other strings than values."""
    spans = _scanner().spans(body)
    if not spans:
        return body
    parts, at = [], 0
    for start, end in _within(spans, [(one.start() + 1, one.end() - 1) for one in _STRING.finditer(body)]):
        parts += [body[at:start], _MASK]
        at = end
    return b"".join((*parts, body[at:]))


def _within(spans: Sequence[tuple[int, int]], strings: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of spans that lie within strings; both are in rising order and apart."""
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


def _scrub_hidden(string: re.Match[bytes]) -> bytes:
    """A JSON string of which the escapes could hide a secret; the same bytes when they do not."""
    if not _HIDING.search(string[0]):
        return string[0]
    try:
        text = json.loads(string[0])
    except ValueError:
        return string[0]
    clean = scrub_text(text)
    return string[0] if clean == text else json.dumps(clean).encode()


def _scrub_observation(observation: Mapping[str, Json]) -> Mapping[str, Json]:
    """The observation without secrets, the same one when there is none."""
    # Times, numbers and words of ours. As text, each of up to 400 times would be looked through every night.
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
    """Whether a short text holds no word that could be a secret: most texts, which then need no scanner."""
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
