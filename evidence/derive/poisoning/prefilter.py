"""Finds which of many expressions may match a text, for all of them in one pass and in linear time.

Each expression is relaxed to one that matches at least wherever the original does: lookarounds and bounds of
repetitions are dropped. RE2 finds the relaxed expressions by their fixed words; hardly any honest text matches one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import re2

_CLASS: Final = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_INSIDE: Final = rf"(?:\\.|{_CLASS}|[^()\[\\]"
_AROUND: Final = rf"\(\?<?[=!]{_INSIDE}|\({_INSIDE}|\({_INSIDE}|\({_INSIDE})*\))*\))*\))*\)"
"""A lookaround, with groups up to three deep. RE2 refuses one with more."""
_CHANGED: Final = re.compile(
    rf"""(?<!\\)(?:{_AROUND}|{_CLASS}|\(\?P<\w+>|\((?!\?)|[$.]|[*+?][?+]|\{{\d*,?\d*\}}[?+]?|\s+|\#[^\n]*)|\\[AZBdDW]|[^\x00-\x7f]""",
    re.DOTALL,
)
"""The parts of a verbose expression that change; all others stay."""
_AROUNDS: Final = ("(?=", "(?!", "(?<=", "(?<!")
_MOST: Final = 24
"""Repetitions up to which the count is kept."""

_MEMORY: Final = 32 << 20
"""Bytes that RE2 may use to cache the states of one expression, for many texts that differ."""

_LETTER: Final = "X"
_SIGN: Final = "\x7f"
"""Replacements of letters and of other characters beyond ASCII."""
_BEYOND: Final = re.compile(r"[^\x00-\x7f]+")


def compile_relaxed(verbose: str) -> re2._Regexp:
    """An expression that is searched in the ASCII form of texts; see `relax_expression`."""
    return re2.compile(relax_expression(verbose), _get_options())


def _get_options() -> re2.Options:
    options = re2.Options()
    options.max_mem = _MEMORY
    return options


class ExpressionPrefilter:
    """Finds those of several verbose expressions that may match a folded text, all at once."""

    def __init__(self, expressions: Iterable[str]) -> None:
        self._filter = re2.Filter()
        self._size = 0
        for expression in expressions:
            self._filter.Add(relax_expression(expression), _get_options())
            self._size += 1
        self._filter.Compile()

    def find_candidates(self, text: str) -> list[int]:
        """The indexes of the expressions that may match, in rising order. No other expression matches."""
        return self._filter.Match(spell_in_ascii(text)) or []

    def match_all(self, text: str) -> bool:
        """Whether every expression may match."""
        return len(self.find_candidates(text)) == self._size


def relax_expression(verbose: str) -> str:
    """An RE2 expression that matches, in the ASCII form of a text, wherever the verbose `re` expression matches; the
    only white
    space of the text must be spaces.
    """
    return _CHANGED.sub(lambda found: _relax(found[0]), verbose)


def _relax(part: str) -> str:
    if part[0] == "[":
        return _members(part)
    if part[0] == "(":
        return "" if part.startswith(_AROUNDS) else "(?:"
    if part[0] in "*+?{":
        return _times(part)
    if part.isspace() or part[0] == "#":
        return ""
    return _LOOSE[part] if part.isascii() else _stand_in(part)


def _members(token: str) -> str:
    """A character class. A class with characters beyond ASCII accepts all of them."""
    ascii_only = "".join(filter(str.isascii, token))
    if token.startswith("[^"):
        return ascii_only if ascii_only != "[^]" else "(?s:.)"
    return f"[{_LETTER}{_SIGN}{ascii_only[1:]}" if ascii_only != token or r"\d" in token else token


def _times(token: str) -> str:
    if token[0] != "{":
        return token[0]
    least, comma, most = token[1 : token.index("}")].partition(",")
    fewest = min(int(least or 0), _MOST)
    if not comma and int(least) <= _MOST:
        return f"{{{fewest}}}"
    if most and int(most) <= 2:
        return f"{{{fewest},{most}}}"
    return "*" if fewest == 0 else f"{{{fewest},}}"


def spell_in_ascii(text: str) -> str:
    """The form of a text that relaxed expressions match: as long, with stand-ins for all characters beyond ASCII."""
    if text.isascii():
        return text
    return _BEYOND.sub(lambda found: found[0].translate(_STAND_INS), text)


def _stand_in(character: str) -> str:
    return _LETTER if character.isalnum() else _SIGN


class _StandIns(dict[int, str]):
    """The ASCII replacement of each character; those of common scripts are cached."""

    def __missing__(self, code: int) -> str:
        stand_in = _stand_in(chr(code))
        if code <= 0xFFFF:
            self[code] = stand_in
        return stand_in


_STAND_INS: Final = _StandIns()
_LOOSE: Final = {
    "$": "(?:)",
    r"\A": "(?:)",
    r"\Z": "(?:)",
    r"\B": "(?:)",
    ".": "(?s:.)",
    r"\d": rf"[0-9{_LETTER}]",
    r"\D": "(?s:.)",
    r"\W": rf"[\W{_SIGN}]",
}
