"""Masks apparent secrets in shown text: by format, by name, or by place in a URL."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from evidence.derive.secret_scrubbing import scrub_body, scrub_text
from evidence.patterns.poisoning import SECRETS, is_placeholder
from scoring.text.secret_names import is_secret_name

REMOVED_TEXT: Final = "[removed]"

_IN_ADDRESS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,20}://)[^\s/@\"']{1,400}@")
_BEARER: Final = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}")
# `password=x`, `"api_key": "x"`, also within JSON within JSON
_NAME: Final = re.compile(r"(?<![\w.-])([A-Za-z][\w.-]{0,63})\\{0,3}[\"']?\s{0,3}[:=]\s{0,3}\\{0,3}")
_VALUE: Final = re.compile(r"([\"'])(?:(?![\"'\\]).){1,400}|([^\s,;\"'\\{}\[\]]{3,400})", re.DOTALL)


def redact_json(document: dict[str, Any]) -> dict[str, Any]:
    """A JSON document with every secret in its strings masked; the same one when there is none."""
    data = json.dumps(document).encode()
    clean = scrub_body(data)
    return document if clean == data else dict(json.loads(clean))


def redact_text(text: str) -> str:
    """The text with `[removed]` for whatever looks like a credential; linear in its length.

    A transcript holds messages as they were sent, and an error message may quote credentials.
    """
    shown = _BEARER.sub(
        rf"\1 {REMOVED_TEXT}",
        _IN_ADDRESS.sub(rf"\1{REMOVED_TEXT}@", scrub_text(text).replace("[secret]", REMOVED_TEXT)),
    )
    for pattern in SECRETS:
        shown = pattern.expression.regex.sub(lambda hit: hit[0] if is_placeholder(hit[0]) else REMOVED_TEXT, shown)
    return "".join(_named_removed(shown))


def _named_removed(text: str) -> Iterator[str]:
    done = 0
    for name in _NAME.finditer(text):
        if name.start() < done or not is_secret_name(name[1]):
            continue
        value = _VALUE.match(text, name.end())
        if value and not value[0].startswith(REMOVED_TEXT):
            yield f"{text[done : name.end()]}{value[1] or ''}{REMOVED_TEXT}"
            done = value.end()
    yield text[done:]
