"""Parses scalars, keys and flow collections of the YAML subset."""

from __future__ import annotations

import json
import re
from typing import Any

_QUOTED_KEY = re.compile(r"""("(?:[^"\\]++|\\.)*+"|'(?:[^']++|'')*+')\s*:(?:\s+(.*))?$""")
_QUOTED = re.compile(r"""("(?:[^"\\]++|\\.)*+"|'(?:[^']++|'')*+')\s*(?:#.*)?$""")
_TOKEN = re.compile(
    r"""\s*+(?:([{}\[\],])|(:)(?=[\s"',\[\]{}]|$)"""
    r"""|("(?:[^"\\]++|\\.)*+"|'(?:[^']++|'')*+')"""
    r"""|((?:[^\s,\[\]{}:]|:(?![\s,\[\]{}]|$)|[ \t]++(?![#,\[\]{}:]|$))++))"""
)
_MAX_NESTING = 16


def split_key(body: str) -> tuple[str, str] | None:
    """The raw key and the rest of `key: rest`; None when the line has no key."""
    if body[0] in "\"'":
        quoted = _QUOTED_KEY.match(body)
        return None if quoted is None else (quoted.group(1), quoted.group(2) or "")
    at = body.find(": ")
    if at >= 0:
        return body[:at].rstrip(), body[at + 2 :].lstrip()
    if body.endswith(":"):
        return body[:-1].rstrip(), ""
    return None


def parse_scalar(text: str) -> str:
    """The value of a plain or quoted scalar; raise ValueError when a quote is not closed."""
    if text[:1] in {'"', "'"}:
        quoted = _QUOTED.match(text)
        if quoted is None:
            raise ValueError("a quote is never closed")
        return _unquoted(quoted.group(1))
    return text.partition(" #")[0].rstrip() if " #" in text else text


def has_closed_brackets(text: str) -> bool:
    """Whether every bracket of a flow collection is closed."""
    depth = 0
    for token in _TOKEN.finditer(text):
        if (mark := token.group(1)) is not None:
            depth += (mark in "{[") - (mark in "}]")
    return depth <= 0


def parse_flow(text: str) -> Any:
    """The value of a flow collection; raise ValueError on anything else."""
    tokens = [(match.group(1) or match.group(2) or "", match.group(3) or match.group(4)) for match in _tokens(text)]
    value, at = _read(tokens, 0, 0)
    if at != len(tokens):
        raise ValueError("text after a closing bracket")
    return value


def _tokens(text: str) -> list[re.Match[str]]:
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.end() == at:
            if text[at:].lstrip().startswith("#"):
                break
            raise ValueError(f"not understood inside brackets: {text[at : at + 20]!r}")
        found.append(match)
        at = match.end()
    return found


def _read(tokens: list[tuple[str, str | None]], at: int, depth: int) -> tuple[Any, int]:
    if depth > _MAX_NESTING:
        raise ValueError(f"brackets nested more than {_MAX_NESTING} deep")
    mark, text = tokens[at] if at < len(tokens) else ("", None)
    match mark:
        case "{":
            return _read_mapping(tokens, at + 1, depth)
        case "[":
            return _read_list(tokens, at + 1, depth)
        case "" if text is not None:
            return _plain(text), at + 1
    raise ValueError("a bracket is never closed")


def _read_mapping(tokens: list[tuple[str, str | None]], at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while at < len(tokens):
        mark, text = tokens[at]
        if mark == "}":
            return found, at + 1
        if text is None or at + 1 >= len(tokens) or tokens[at + 1][0] != ":":
            raise ValueError("expected `key: value` inside braces")
        key = _plain(text)
        if key in found:
            raise ValueError(f"a key occurs twice: {key[:80]!r}")
        at += 2
        if at < len(tokens) and tokens[at][0] in {",", "}"}:
            found[key] = ""
        else:
            found[key], at = _read(tokens, at, depth + 1)
        at = _next(tokens, at, "}")
    raise ValueError("a brace is never closed")


def _read_list(tokens: list[tuple[str, str | None]], at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while at < len(tokens):
        if tokens[at][0] == "]":
            return found, at + 1
        value, at = _read(tokens, at, depth + 1)
        found.append(value)
        at = _next(tokens, at, "]")
    raise ValueError("a bracket is never closed")


def _next(tokens: list[tuple[str, str | None]], at: int, close: str) -> int:
    """The position after a comma; a closing bracket is left to the caller."""
    if at < len(tokens) and tokens[at][0] == ",":
        return at + 1
    if at < len(tokens) and tokens[at][0] == close:
        return at
    raise ValueError("expected a comma or a closing bracket")


def _plain(text: str) -> str:
    if text[0] in "\"'":
        if len(text) < 2 or text[-1] != text[0]:
            raise ValueError("a quote is never closed")
        return _unquoted(text)
    if text[0] in "&*!":
        raise ValueError(f"anchors, aliases and tags are refused: {text[:40]!r}")
    return text


def _unquoted(text: str) -> str:
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    if "\\" not in text:
        return text[1:-1]
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError("expected text")
    return value
