"""Finds which of all expressions each of many texts may match, by words that every match contains."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import re2
from ahocorasick_rs import AhoCorasick, MatchKind

from evidence.derive.poisoning.obfuscation import OBFUSCATION_EXPRESSIONS
from evidence.derive.poisoning.prefilter import compile_relaxed, spell_in_ascii
from evidence.derive.poisoning.text_folding import TextIndex
from evidence.derive.tool_instructions import list_instruction_expressions
from evidence.patterns.poisoning import PATTERNS
from evidence.patterns.poisoning.required_words import load_required_words

FIRST_OBFUSCATION: Final = len(PATTERNS)
FIRST_INSTRUCTION: Final = FIRST_OBFUSCATION + len(OBFUSCATION_EXPRESSIONS)

EXPRESSIONS: Final[dict[str, tuple[str, ...]]] = {
    **{each.id: tuple(part.pattern for part in (each.expression, *each.beside)) for each in PATTERNS},
    **{f"obfuscation {at}": (each,) for at, each in enumerate(OBFUSCATION_EXPRESSIONS)},
    **{f"instruction {at}": (each,) for at, each in enumerate(list_instruction_expressions())},
}
"""All verbose expressions that are tried on texts: those of patterns, with what must match beside them, of obfuscated
words, and of instructions about tools.
"""
_FIRST: Final = tuple(first for first, *_ in EXPRESSIONS.values())

_PASS: Final = 65_536

Places = dict[int, list[int]]
"""Where a text has a required word of an expression, by the index of the expression. No places: anywhere."""


def find_places(texts: TextIndex) -> Iterator[tuple[int, Places]]:
    """Each text that has some, in order, with the places of required words.

    Joined texts are searched in passes over `_PASS` characters: of one pass over all texts of a hostile listing, the
    places would take gigabytes.
    """
    starts, whole = texts.starts, spell_in_ascii(texts.whole)
    anywhere: dict[int, list[int]] = defaultdict(list)
    for index in list_wordless():
        for text in texts.find_texts_of_matches(_relaxed(index), whole):
            anywhere[text].append(index)
    first = 0
    while first < len(texts.texts):
        last = min(max(first + 1, bisect_left(starts, starts[first] + _PASS)), len(texts.texts))
        found = _find_places_in(whole[starts[first] : starts[last]], starts[first:last])
        for at in range(first, last):
            places = found.get(at - first, {})
            for index in anywhere.get(at, ()):
                places[index] = []
            if places:
                yield at, places
        first = last


def _find_places_in(joined: str, starts: Sequence[int]) -> dict[int, Places]:
    """The places of required words in some joined texts, by the number of the text."""
    finder, indexes = _words()
    found: dict[int, Places] = {}
    here: Places = {}
    base = starts[0]
    start = following = 0
    for word, place, _ in finder.find_matches_as_indexes(joined, overlapping=True):
        if place >= following:
            text = bisect_right(starts, place + base) - 1
            start = starts[text] - base
            following = starts[text + 1] - base if text + 1 < len(starts) else len(joined)
            here = found[text] = {}
        for index in indexes[word]:
            if index in here:
                here[index].append(place - start)
            else:
                here[index] = [place - start]
    return found


@cache
def list_wordless() -> tuple[int, ...]:
    """Expressions without required words, which are searched in the joined texts. None matches what separates texts."""
    words = load_required_words()
    return tuple(index for index, name in enumerate(EXPRESSIONS) if not words[name])


def may_match(index: int, encoded: bytes) -> bool:
    """Whether the first part of an expression may match a text, given in its ASCII form."""
    return _relaxed(index).search(encoded) is not None


@cache
def _relaxed(index: int) -> re2._Regexp:
    return compile_relaxed(_FIRST[index])


@cache
def _words() -> tuple[AhoCorasick, list[list[int]]]:
    """All required words, and for each the indexes of the expressions that require it or another one."""
    indexes: dict[str, list[int]] = defaultdict(list)
    for index, words in enumerate(map(load_required_words().__getitem__, EXPRESSIONS)):
        for word in words:
            indexes[word].append(index)
    return AhoCorasick(list(indexes), matchkind=MatchKind.Standard), list(indexes.values())
