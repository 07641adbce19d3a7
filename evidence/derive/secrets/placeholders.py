"""Recognises placeholders for secrets: words such as `your-key`, sequences, known examples and variables."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import Final

import re2

from evidence.derive.secrets.value_decoding import decode_value

MAX_EXAMINED_CHARACTERS: Final = 400

_WORDS: Final = (
    r"example|sample|placeholder|change[_\-]?(?:me|it|this)|replace[_\-]?(?:me|with|this)|insert|dummy|foobar",
    r"(?:^|[^a-z0-9])(?:your|fake|todo)|your[_\-]?(?:own|key|token|api|app|secret|pass|name|id|client|access|bot)",
    r"redacted|(?:secret|removed|credential)\]|my[_\-]?(?:secret|token|password|key|api)|x{5}|\*{3}|\.{3}|_here$|lorem|qwerty|asdfg",
    r"^secret[_\-]?(?:key|token|here)?$|secret\d{0,4}$|not[_\-]?(?:a[_\-]?)?real|deadbeef|cafebabe|p[a@]ss(?:w[o0]rd|wd)?\d{0,4}$",
    r"(?:^|[_\-])(?:test|testing|mock)(?:$|[_\-](?:key|token|secret|password|value))",
    r"^(?:admin|root|guest|user(?:name)?|postgres|mysql|test|secret|token|none|null|true|false)[@!#$]?\d{0,8}[@!#$]?$",
    r"^(?:process\.env|os\.environ|env|config|settings|options|self|this|args|params|ctx|vault|ssm)[._\-\[(]",
    r"\"(?:1234567890|John Doe)\"|\"role\":\s?\"anon\"",  # the best-known example of a web token; a public one
    (
        r"^(?:readonly |Optional\[|Secret\[|[a-z]{1,10}\.)?(?:strings?|str|text|varchar|number|int(?:eger)?|float"
        r"|bool(?:ean)?|bytes|any|unknown|never|undefined|void|Secret(?:Str|String|Text)?|SecureString|char\[\])"
        r"(?:[\[\]|<>?;,( =].{0,200})?$"  # a type
    ),
    r"%\(\w+\)s|\$\{|\{\{|^\$?[({]\w+[)}]$",  # a template
)
_WORD: Final = (
    r"(?:[A-Z][a-z]{2,}|[a-z]{3,}|[A-Z]{2,}|(?i:as|at|by|do|go|id|in|is|it|my|no|of|on|or|to|up|us|x)|\d{1,2})"
)
_NAME: Final = rf"(?:[_\-./ :=]*{_WORD})*[_\-./ :=]*"
_RUN: Final = re.compile(r"([^A])\1{6}|0{6}", re.DOTALL)
_ROW: Final = 8
"""Letters in alphabetical order, or digits in order: random text hardly ever contains so many."""

_ROWS: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890123456789",
    "98765432109876543210",
    "zyxwvutsrqponmlkjihgfedcba",
)
_COPIES: Final = 4
_KNOWN: Final = frozenset({
    # First 16 digits of the SHA-256 of tokens in documentation, and of keys of emulators and test networks.
    "2cafc0970149a84f", "f2d6ca16515033e5", "7e8de44ea9ecf6d5", "0011cc25eb432071", "aa6547439583c3a2",
    "731fa294d036e54f", "0b5dd075ccdd03c4", "02091175c1ae3023", "9c846fdf0fa8955c", "02f7ce3c263f85c0",
    "7e498f91828a193c", "3543c50b0cb9cea8", "bc3ae723f57c6b9e", "82e74299544e0073", "bc1a50966c9e6486",
    "60a09e4357868c1e", "f5e95c9954635b65",
})  # fmt: skip


def is_placeholder(secret: str) -> bool:
    """Whether a value only marks the place of a secret; examines its first MAX_LOOKED_AT characters."""
    return any(_is_one(text[:MAX_EXAMINED_CHARACTERS]) for text in decode_value(secret))


def _is_one(text: str) -> bool:
    if hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16] in _KNOWN:
        return True
    if _asking().search(text):
        return True
    return not _is_structure(text) and _is_monotonous(text)


def holds_sequence(secret: str) -> bool:
    """Whether a value contains letters or digits in their order, as people write examples."""
    texts = (text[:MAX_EXAMINED_CHARACTERS] for text in decode_value(secret))
    return any(not _is_structure(text) and _holds_row(text.lower()) for text in texts)


def is_word_sequence(value: str) -> bool:
    """Whether a value resembles an identifier in code: words with separators and hardly any digit."""
    return bool(_name().fullmatch(value)) and sum(letter.isdigit() for letter in value) * 8 < len(value)


def _is_structure(text: str) -> bool:
    """Claims of a web token have round times and common names."""
    return text.startswith("{")


def _is_monotonous(text: str) -> bool:
    """One letter or a short text repeated. The letter A is excluded because Base64 pads structures with it."""
    if _RUN.search(text):
        return True
    periods = range(1, min(8, len(text) // _COPIES) + 1)
    return any(text == (text[:period] * (len(text) // period + 1))[: len(text)] for period in periods)


def _holds_row(text: str) -> bool:
    return _rows().search(text) is not None


@cache
def _rows() -> re2._Regexp:
    """Every part of a row that is long enough."""
    parts = {row[at : at + _ROW] for row in _ROWS for at in range(len(row) - _ROW + 1)}
    return re2.compile("|".join(sorted(parts)))


@cache
def _asking() -> re2._Regexp:
    return re2.compile("(?i)" + "|".join(_WORDS))


@cache
def _name() -> re2._Regexp:
    return re2.compile(_NAME)
