"""Joins string literals that a program joins: `"abc" + "def"`, adjacent literals, and constants in templates.

Only what stands in the file is read; nothing is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, Final

import re2

MAX_SNIPPETS: Final = 200
"""Places of one file where literals are joined."""

MAX_SNIPPET: Final = 4_000
"""Bytes of one place."""

MAX_CONSTANTS: Final = 500

MAX_CONSTANT: Final = 500
"""Bytes of one constant. Templates repeat constants, so a long one would multiply the size of a file."""

MAX_JOINED: Final = 4 * MAX_SNIPPET
"""Bytes of one place after its literals are joined."""

CODE: Final = (
    ".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte", ".go",
    ".rs", ".java", ".kt", ".kts", ".scala", ".groovy", ".gradle", ".cs", ".vb", ".php", ".rb", ".pl", ".lua",
    ".swift", ".dart", ".c", ".h", ".cc", ".cpp", ".hpp", ".ipynb", ".tf", ".ps1", ".r",
)  # fmt: skip

_QUOTE: Final = "[\"'`]"
_PART: Final = r"[A-Za-z0-9_\-+/=.:@]"
_BETWEEN: Final = r"[ \t\r\n\\]*(?:\+|\.\.?|&|\|\||<>)?[ \t\r\n\\]*"
_NAME: Final = r"[A-Za-z_]\w*"
_SEAM: Final = rf"{_QUOTE}{_BETWEEN}[rbuf]?{_QUOTE}"

_JOINED: Final = (
    rf"{_PART}{{8}}{_SEAM}{_PART}|{_PART}{_SEAM}{_PART}{{8}}"
    rf"|{_NAME} ?\+ ?{_QUOTE}{_PART}{{8}}|{_QUOTE}\$?\{{{_NAME}\}}{_PART}{{8}}"
)
"""A seam beside a part that is long enough. The repetitions are small, so that one pass over a file is cheap."""

SEAMS: Final = (
    rf"{_PART}{_SEAM}{_PART}",
    *(rf"\+ ?{quote}{_PART}{{8}}" for quote in "\"'`"),
    *(rf"{quote}\$?\{{\w+\}}{_PART}{{2}}" for quote in "\"'`"),
)
"""Expressions of which each such place contains one, for hyperscan."""

_CONSTANT: Final = rf"\b({_NAME})(?: ?: ?[\w.&']+)? ?:?= ?[rbu]?{_QUOTE}({_PART}+){_QUOTE}"
_LONG: Final = rf"{_PART}{{16,}}"
_DIGITS: Final = frozenset(b"0123456789")
_ENDS: Final = frozenset({b'"', b"'", b"`", b"+", b".", b"&", b"\\"})
_BEGINNINGS: Final = frozenset({b'"', b"'", b"`", b"+", b".", b"&"})
_TEMPLATE: Final = rf"\$?\{{({_NAME})\}}"
_OPERAND: Final = rf"({_NAME}) ?\+"


def join_literals(data: bytes, path: str) -> Iterator[tuple[int, bytes]]:
    """The offset of each line with literals that are joined, and its text with the literals in one."""
    if not path.lower().endswith(CODE):
        return
    end, constants = 0, None
    for match in islice(_compiled(_JOINED).finditer(data), MAX_SNIPPETS):
        if match.start() < end:
            continue
        start, end = _lines(data, match.start(), match.end())
        text = data[start:end]
        if constants is None and _compiled(f"{_TEMPLATE}|{_OPERAND}").search(text):
            constants = _constants(data)
        joined = _joined(text, constants or {})
        if joined != text and any(_DIGITS & set(one.group()) for one in _compiled(_LONG).finditer(joined)):
            yield start, joined


def _lines(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The lines of a match, with those that continue it."""
    first = max(data.rfind(b"\n", 0, start) + 1, start - MAX_SNIPPET // 4)
    while (last := data.find(b"\n", end)) >= 0 and _continues(data, last) and last - first < MAX_SNIPPET:
        end = last + 1
    return first, min(last if last >= 0 else len(data), first + MAX_SNIPPET)


def _continues(data: bytes, end: int) -> bool:
    """Whether a literal or an operator ends a line and the next one begins so."""
    before, after = data[max(0, end - 80) : end].rstrip()[-1:], data[end : end + 80].lstrip()[:1]
    return before in _ENDS and after in _BEGINNINGS


def _constants(data: bytes) -> Mapping[bytes, bytes]:
    found = islice(_compiled(_CONSTANT).finditer(data), MAX_CONSTANTS)
    return {one.group(1): one.group(2) for one in found if len(one.group(2)) <= MAX_CONSTANT}


def _joined(text: bytes, constants: Mapping[bytes, bytes]) -> bytes:
    def insert(match: Any) -> bytes:
        return constants.get(match.group(1), match.group())

    def quote(match: Any) -> bytes:
        value = constants.get(match.group(1))
        return bytes(match.group()) if value is None else b'"' + value + b'"+'

    if constants:
        text = _compiled(_OPERAND).sub(quote, _compiled(_TEMPLATE).sub(insert, text))
    return bytes(_compiled(_SEAM).sub(b"", text))[:MAX_JOINED]


@cache
def _compiled(expression: str) -> Any:
    return re2.compile(expression.encode())
