"""Normalises texts for matching, and indexes words over many texts at once."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

import re2

from evidence.derive.tool_instructions import find_word_positions, holds_word_of_each_group
from evidence.patterns.poisoning import Pattern
from evidence.patterns.poisoning.hidden_characters import CONFUSABLE, HIDDEN, IMITATING, LOOK_ALIKE

SEPARATOR: Final = "\0"


class TextIndex:
    """Distinct texts in one string, so that one search finds a word in all of them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.whole = SEPARATOR.join(texts)
        self.starts = [0, *accumulate(len(text) + 1 for text in texts)]

    def find_matching(self, pattern: Pattern) -> Iterator[int]:
        """The indexes of texts that may match a pattern, in rising order."""
        found = {at for need in pattern.needs[0] for at in self.find_with_word(need)}
        if pattern.unbroken:
            found.update(at for at, text in enumerate(self.texts) if len(text) >= pattern.unbroken)
        return (at for at in sorted(found) if holds_needed_words(pattern, self.texts[at]))

    def find_with_word(self, word: str) -> Iterator[int]:
        """The indexes of texts that contain a word, in rising order."""
        at = self.whole.find(word)
        while at >= 0:
            text = self.find_text_at(at)
            yield text
            at = self.whole.find(word, self.starts[text + 1])

    def find_texts_of_matches(self, expression: re2._Regexp, whole: str = "") -> set[int]:
        """The indexes of texts with a match of an RE2 expression in the joined string (or its form `whole`)."""
        spans = (found.span() for found in expression.finditer(whole or replace_surrogates(self.whole)))
        return {
            text for start, end in spans for text in range(self.find_text_at(start), self.find_text_at(end - 1) + 1)
        }

    def find_text_at(self, place: int) -> int:
        """The index of the text at a position of the joined string."""
        return bisect_right(self.starts, place) - 1


def holds_needed_words(pattern: Pattern, text: str) -> bool:
    """Whether a word of each required group is within reach of a word of the first group."""
    if not pattern.needs:
        return True
    first, *others = pattern.needs
    if pattern.unbroken and max(map(len, text.split()), default=0) >= pattern.unbroken:
        return True
    return any(
        holds_word_of_each_group(text[max(0, at - pattern.reach) : at + pattern.reach], others)
        for need in first
        for at in find_word_positions(need, text)
    )


def replace_surrogates(text: str) -> str:
    """The text in a form that UTF-8 can encode; the number of characters stays the same."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def fold_text(text: str) -> str:
    """The text in compatibility form and lower case, with single spaces, without hidden characters, and with letters
    that
    imitate Latin ones replaced within Latin words.
    """
    plain = text
    if not text.isascii():
        plain = unicodedata.normalize("NFKC", HIDDEN.sub("", text)).replace("’", "'")
        if IMITATING.search(plain):
            plain = LOOK_ALIKE.sub(lambda found: found[0].translate(CONFUSABLE), plain)
    return " ".join(f"|{plain.lower()}|".split())[1:-1]


def fold_texts(texts: Sequence[str]) -> tuple[list[str], str]:
    """The folded texts, and all their words separated by spaces; some of these words may join two texts. ASCII texts
    are
    folded in one step.
    """
    ascii_only = [text for text in texts if text.isascii() and SEPARATOR not in text]
    words = f"{SEPARATOR}{SEPARATOR.join(ascii_only)}{SEPARATOR}".lower().split()
    plain = iter(" ".join(words).split(SEPARATOR)[1:-1])
    folded = [next(plain) if text.isascii() and SEPARATOR not in text else fold_text(text) for text in texts]
    if len(ascii_only) < len(texts):
        others = (each for text, each in zip(texts, folded, strict=True) if not text.isascii() or SEPARATOR in text)
        words += (word for text in others for word in text.split())
    return folded, " ".join(words)
