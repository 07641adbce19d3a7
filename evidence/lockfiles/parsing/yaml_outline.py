"""Parses the subset of YAML that lockfiles use: mappings, lists, scalars; no anchors, aliases or tags.

Time is linear in the size of the file. Numbers and truth values stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from msgspec import Struct

from evidence.lockfiles.lockfile import Fault, FaultKind, InvalidLockfile, to_printable_text
from evidence.lockfiles.parsing.bounded import MAX_DEPTH
from evidence.lockfiles.parsing.yaml_flow import has_closed_brackets, parse_flow, parse_scalar, split_key

_BLOCK = re.compile(r"[|>][+-]?[1-9]?[+-]?(?:\s+#.*)?$")
_ONE_PAIR = re.compile(r"\{([\w-]+): (?:'([^'\n]+)'|([^\s{}\[\],:\"'#&*!]+))\}")  # fast path for most lines
_REFUSED: Final = frozenset("&*!%@`")
_MAX_FOLDED = 4096
_MAX_FLOW = 65_536
_MAX_FLOW_LINES = 32


class _Open(Struct):
    """A collection under construction: the indentation of its entries, its value, and the last key."""

    indent: int
    into: dict[str, Any] | list[Any]
    last: str | None = None


def find_dangling_entry(text: str) -> Iterator[Fault]:
    """A fault when the last line opens a nested entry and the file ends there."""
    whole = text.rstrip()
    last = whole[whole.rfind("\n") + 1 :]
    if last.startswith(" ") and last.endswith(":"):
        yield Fault(FaultKind.TRUNCATED, f"nothing follows {to_printable_text(last.strip())!r}", whole.count("\n") + 1)


def read_documents(text: str) -> Iterator[dict[str, Any]]:
    """All documents of a stream, each a mapping or empty; raise InvalidLockfile."""
    lines, start = text.split("\n"), 0
    for number, line in enumerate(lines):
        if line.startswith("---") and line.rstrip() == "---":
            yield _Document(lines, start, number).read()
            start = number + 1
    yield _Document(lines, start, len(lines)).read()


class _Document:
    """Parses one document with a stack of open collections."""

    def __init__(self, lines: list[str], start: int, end: int) -> None:
        self._lines, self._at, self._end = lines, start, end
        self._root: dict[str, Any] = {}
        self._stack = [_Open(0, self._root)]

    def read(self) -> dict[str, Any]:
        while self._at < self._end:
            line = self._lines[self._at]
            body = line.lstrip(" ")
            indent = len(line) - len(body)
            body = body.rstrip()
            if body and body[0] != "#":
                self._line(indent, body)
            self._at += 1
        return self._root

    def _line(self, indent: int, body: str) -> None:
        if body[0] in "-?:" and (len(body) == 1 or body[1] == " "):
            self._marked(indent, body[0], body[1:])
        elif not self._continues(indent, body):
            if (pair := split_key(body)) is None:
                self._fail(f"expected `key: value`, found {to_printable_text(body)!r}")
            self._entry(self._mapping(indent), pair[0], pair[1], indent)

    def _marked(self, indent: int, mark: str, rest: str) -> None:
        """An item of a list, or one of the two lines of a key that is too long for one."""
        body = rest.lstrip(" ")
        inner = indent + 1 + len(rest) - len(body)
        match mark:
            case "-":
                items = self._list(indent)
                if body and body[0] not in "{[" and split_key(body) is not None:
                    opened: dict[str, Any] = {}
                    items.append(opened)
                    self._push(inner, opened)
                    self._line(inner, body)
                else:
                    items.append(self._value(body, indent))
            case "?":
                self._entry(self._mapping(indent), body, "", indent)
            case _ if body and (body[0] in "{[" or split_key(body) is None):
                into, last = self._mapping(indent), self._stack[-1].last
                if last is None or into[last] != "":
                    self._fail("a value without its key")
                into[last] = self._value(body, indent)
            case _ if body:
                self._line(inner, body)

    def _continues(self, indent: int, body: str) -> bool:
        """Whether the line continues a plain scalar, which it may when it is indented further."""
        top = self._stack[-1]
        if indent <= top.indent or top.last is None or not isinstance(top.into, dict):
            return False
        value = top.into[top.last]
        if not isinstance(value, str) or not value:
            return False
        if len(value) < _MAX_FOLDED:
            top.into[top.last] = f"{value} {body}"
        return True

    def _mapping(self, indent: int) -> dict[str, Any]:
        """The mapping with entries at this indentation, created below the last key if necessary."""
        stack = self._stack
        while indent < stack[-1].indent:
            stack.pop()
        if indent == stack[-1].indent and isinstance(stack[-1].into, list):
            stack.pop()  # a list may stand at the indentation of its key
        top = stack[-1]
        if indent == top.indent and isinstance(top.into, dict):
            return top.into
        opened: dict[str, Any] = {}
        self._open(indent, opened)
        return opened

    def _list(self, indent: int) -> list[Any]:
        stack = self._stack
        while indent < stack[-1].indent:
            stack.pop()
        top = stack[-1]
        if indent == top.indent and isinstance(top.into, list):
            return top.into
        opened: list[Any] = []
        self._open(indent, opened)
        return opened

    def _open(self, indent: int, opened: dict[str, Any] | list[Any]) -> None:
        top = self._stack[-1]
        if top.last is None or not isinstance(top.into, dict) or top.into[top.last] != "":
            self._fail("indented in a place where nothing is open")
        top.into[top.last] = opened
        self._push(indent, opened)

    def _push(self, indent: int, opened: dict[str, Any] | list[Any]) -> None:
        self._stack.append(_Open(indent, opened))
        if len(self._stack) > MAX_DEPTH:
            self._fail(f"nested more than {MAX_DEPTH} deep", FaultKind.TOO_DEEP)

    def _entry(self, into: dict[str, Any], raw: str, rest: str, indent: int) -> None:
        key = self._scalar(raw)
        if key in into:
            self._fail(f"a key occurs twice: {to_printable_text(key)!r}", FaultKind.DUPLICATE_KEY)
        self._stack[-1].last = key
        into[key] = self._value(rest, indent) if rest else ""

    def _value(self, rest: str, indent: int) -> Any:
        if not rest or rest[0] == "#":
            return ""
        if rest[0] in "|>" and _BLOCK.match(rest):
            return self._block(indent)
        return self._flow(rest) if rest[0] in "{[" else self._scalar(rest)

    def _flow(self, text: str) -> Any:
        """A flow collection, which ends on its line or a few lines later."""
        if (simple := _ONE_PAIR.fullmatch(text)) is not None:
            return {simple.group(1): simple.group(2) or simple.group(3)}
        if len(text) > _MAX_FLOW:
            self._fail(f"brackets around more than {_MAX_FLOW} characters", FaultKind.TOO_LARGE)
        first = self._at
        while not has_closed_brackets(text):
            self._at += 1
            if self._at >= self._end or self._at - first > _MAX_FLOW_LINES or len(text) > _MAX_FLOW:
                self._at = first
                self._fail("a bracket is never closed")
            text = f"{text} {self._lines[self._at].strip()}"
        try:
            return parse_flow(text)
        except ValueError as error:
            self._fail(str(error))

    def _block(self, indent: int) -> str:
        """The lines of a literal or folded scalar. Only messages use this form, so line ends are not kept."""
        found: list[str] = []
        while self._at + 1 < self._end:
            follows = self._lines[self._at + 1]
            if follows.strip() and len(follows) - len(follows.lstrip(" ")) <= indent:
                break
            found.append(follows.strip())
            self._at += 1
        return " ".join(found).strip() or " "

    def _scalar(self, text: str) -> str:
        if text[:1] in _REFUSED:
            self._fail(
                f"anchors, aliases, tags and directives are refused: {to_printable_text(text)!r}", FaultKind.REFUSED
            )
        try:
            return parse_scalar(text)
        except ValueError as error:
            self._fail(str(error))

    def _fail(self, message: str, kind: FaultKind = FaultKind.SYNTAX) -> NoReturn:
        raise InvalidLockfile(kind, message, self._at + 1)
