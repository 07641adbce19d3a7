"""Credentials and secret variables of the environment in an error text.

Records hold masks, which also replace placeholders, so the collector states what a text revealed before masking.
"""

from __future__ import annotations

import re
from typing import Final

from evidence.compiled_on_use import compile_on_use
from evidence.derive.secrets.placeholders import is_placeholder
from evidence.patterns.poisoning import credentials

CREDENTIAL: Final = "a credential"
VARIABLE: Final = "the value of a secret environment variable"

_MASK: Final = "[secret]"
_MAX_SEARCHED: Final = 8_000
"""Characters; longer texts are searched up to here."""

_NAME_END: Final = (
    r"PASSWORD|PASSWD|PASSPHRASE|SECRETS?|(?<!NEXT_)(?<!PAGE_)(?<!CSRF_)(?<!SYNC_)TOKEN|CREDENTIALS?|API_?KEY"
    r"|(?:ACCESS|SECRET|PRIVATE|SIGNING|ENCRYPTION)_KEY"
)
# After one of these words an assignment is advice: `set NOTES_API_KEY=...`.
_ADVICE: Final = compile_on_use(
    r"(?i)(?:\b(?:set|setting|export|use|using|add|pass|provide|define|specify|expected|example|e\.g\.|such as|like"
    r"|with|usage)|\.env|(?<!\S)-e|<)[:\s\"'`]{0,4}\Z"
)
_BEFORE: Final = 24
# `NAME=value`, and `"NAME": "value"` of JSON or Python, with backslashes where it is JSON inside JSON.
_ASSIGNED: Final = compile_on_use(
    rf"(?<![\w$%{{.-])(?P<name>(?:[A-Z][A-Z0-9]{{0,30}}_){{0,6}}(?:{_NAME_END}))"
    r"(?:=\\{0,3}[\"']?|\\{0,3}[\"']\s?:\s?\\{0,3}[\"'])(?P<value>[^\s\"'\\`,;<>{}$%()\[\]]{8,200})"
)
_SAMPLE: Final = compile_on_use(r"(?i)123|abc|xxx|your|value|changeme|password|secret|example")
_MIN_DIFFERENT: Final = 6
"""Different characters of a value that is no placeholder."""


def mask_revealed_secrets(text: str, sent: str = "") -> tuple[str, str]:
    """The text with revealed values masked, and CREDENTIAL, VARIABLE or an empty text for what it revealed.

    A value that occurs in `sent`, our own request, is an echo and no leak. Linear in the length of the text.
    """
    searched, rest = text[:_MAX_SEARCHED], text[_MAX_SEARCHED:]
    found: list[str] = []

    def mask_key(match: re.Match[str]) -> str:
        if credentials.is_placeholder(match[0]) or match[0] in sent:
            return match[0]
        found.append(CREDENTIAL)
        return _MASK

    def mask_value(match: re.Match[str]) -> str:
        value = match["value"]
        before = match.string[max(0, match.start() - _BEFORE) : match.start()]
        if not _is_real(value) or value in sent or _ADVICE.search(before):
            return match[0]
        found.append(VARIABLE)
        return match[0].removesuffix(value) + _MASK

    for pattern in credentials.SECRETS:
        searched = pattern.expression.regex.sub(mask_key, searched)
    searched = _ASSIGNED.sub(mask_value, searched)
    return searched + rest, next(iter(found), "")


def _is_real(value: str) -> bool:
    """Whether a value has letters and digits, and no part that people write into samples."""
    mixed = any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)
    return mixed and len(set(value)) >= _MIN_DIFFERENT and not _SAMPLE.search(value) and not is_placeholder(value)
