"""A text that matches a simple regular expression: literals, classes, groups, choices and repeats, and nothing else."""

from __future__ import annotations

from typing import Final, TypeAlias

from msgspec import Struct

_LONGEST_PATTERN: Final = 500
_LONGEST_TEXT: Final = 2_000
_DEEPEST: Final = 16
_GROWTH: Final = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_PREFERRED: Final = "e1A" + "".join(map(chr, range(0x20, 0x7F)))
_CLASSES: Final = {
    "d": "0123456789",
    "w": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
    "s": " \t\n\r",
}
_QUANTIFIERS: Final = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_SPECIAL: Final = frozenset("()[]{}|*+?.^$\\")


class _TooHard(Exception):
    """The pattern has a construct that is not supported here."""


class _Letter(Struct, frozen=True):
    letter: str


class _Repeat(Struct, frozen=True):
    part: _Part
    fewest: int
    most: int | None


class _Sequence(Struct, frozen=True):
    parts: tuple[_Part, ...]


_Part: TypeAlias = "_Letter | _Repeat | _Sequence"


def make_matching_text(pattern: str, shortest: int = 0) -> str | None:
    """A text of at least `shortest` characters that matches; None for a pattern that is not simple.

    It takes the first choice and the fewest repeats that suffice. The caller checks the text: anchors inside a pattern
    are not interpreted.
    """
    if len(pattern) > _LONGEST_PATTERN:
        return None
    try:
        parsed = _Parser(pattern).read()
        for more in _GROWTH:
            text = _write(parsed, more)
            if len(text) >= shortest:
                return text
    except _TooHard:
        return None
    return None


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._left = list(reversed(pattern))

    def read(self) -> _Part:
        parsed = self._choice(0)
        if self._left:
            raise _TooHard
        return parsed

    def _peek(self) -> str:
        return self._left[-1] if self._left else ""

    def _take(self) -> str:
        if not self._left:
            raise _TooHard
        return self._left.pop()

    def _choice(self, depth: int) -> _Part:
        if depth > _DEEPEST:
            raise _TooHard
        first = self._sequence(depth)
        while self._peek() == "|":
            self._take()
            self._sequence(depth)
        return first

    def _sequence(self, depth: int) -> _Part:
        parts: list[_Part] = []
        while self._left and self._peek() not in "|)":
            letter = self._take()
            if letter in "^$":
                continue
            parts.append(self._repeated(self._part(letter, depth)))
        return _Sequence(tuple(parts))

    def _part(self, letter: str, depth: int) -> _Part:
        if letter == "(":
            return self._group(depth)
        if letter == "[":
            return self._class()
        if letter == ".":
            return _Letter("e")
        if letter == "\\":
            return _pick(self._escape())
        if letter in _SPECIAL:
            raise _TooHard
        return _Letter(letter)

    def _group(self, depth: int) -> _Part:
        if self._peek() == "?":
            self._take()
            if self._take() != ":":
                raise _TooHard
        inside = self._choice(depth + 1)
        if self._take() != ")":
            raise _TooHard
        return inside

    def _escape(self) -> str:
        """The letters for which an escape stands."""
        letter = self._take()
        if letter in _CLASSES:
            return _CLASSES[letter]
        if letter.lower() in _CLASSES:
            return "".join(character for character in _PREFERRED if character not in _CLASSES[letter.lower()])
        if letter.isalnum():
            raise _TooHard
        return letter

    def _class(self) -> _Part:
        without = self._peek() == "^"
        if without:
            self._take()
        letters: set[str] = set()
        while (letter := self._take()) != "]":
            found = self._escape() if letter == "\\" else letter
            if self._peek() == "-" and len(self._left) > 1 and self._left[-2] != "]" and len(found) == 1:
                self._take()
                end = self._take()
                last = self._escape() if end == "\\" else end
                if len(last) != 1 or not ord(found) <= ord(last) <= ord(found) + 0xFFFF:
                    raise _TooHard
                found = "".join(map(chr, range(ord(found), ord(last) + 1)))
            letters.update(found)
        return _pick(
            "".join(character for character in _PREFERRED if (character in letters) is not without)
            or "".join(letters)[:1]
        )

    def _repeated(self, part: _Part) -> _Part:
        mark = self._peek()
        if mark in _QUANTIFIERS and mark:
            self._take()
            fewest, most = _QUANTIFIERS[mark]
        elif mark == "{":
            fewest, most = self._counts()
        else:
            return part
        if self._peek() == "?":
            self._take()
        return _Repeat(part, fewest, most)

    def _counts(self) -> tuple[int, int | None]:
        self._take()
        text = ""
        while (letter := self._take()) != "}":
            text += letter
        low, comma, high = text.partition(",")
        if not all(
            character.isascii() and character.isdigit() and len(character) < 5 for character in (low, high or "0")
        ):
            raise _TooHard
        return int(low), (int(high) if high else None) if comma else int(low)


def _pick(letters: str) -> _Letter:
    found = next((letter for letter in _PREFERRED if letter in letters), letters[:1])
    if not found or "\ud800" <= found <= "\udfff":
        raise _TooHard
    return _Letter(found)


def _write(part: _Part, more: int) -> str:
    """The text of a part with `more` repeats than needed wherever it may repeat."""
    match part:
        case _Letter(letter):
            return letter
        case _Repeat(inner, fewest, most):
            count = fewest + more if most is None else min(most, fewest + more)
            text = _write(inner, more) if count else ""
            if len(text) * count > _LONGEST_TEXT:
                raise _TooHard
            return text * count
        case _Sequence(parts):
            text = ""
            for inner in parts:
                text += _write(inner, more)
                if len(text) > _LONGEST_TEXT:
                    raise _TooHard
            return text
