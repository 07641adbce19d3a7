"""Finds which of all expressions each of many texts may match, by words that every match contains."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
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

Places = dict[int, list[int]]
"""Where a text has a required word of an expression, by the index of the expression. No places: anywhere."""


def find_places(texts: TextIndex) -> dict[int, Places]:
    """For each text that has some, the places of required words, from passes over all joined texts."""
    finder, indexes = _words()
    starts, whole = texts.starts, spell_in_ascii(texts.whole)
    found: dict[int, Places] = {}
    here: Places = {}
    start = following = 0
    for word, place, _ in finder.find_matches_as_indexes(whole, overlapping=True):
        if place >= following:
            text = bisect_right(starts, place) - 1
            start, following = starts[text], starts[text + 1]
            here = found[text] = {}
        for index in indexes[word]:
            if index in here:
                here[index].append(place - start)
            else:
                here[index] = [place - start]
    for index in list_wordless():
        for text in texts.find_texts_of_matches(_relaxed(index), whole):
            found.setdefault(text, {})[index] = []
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
