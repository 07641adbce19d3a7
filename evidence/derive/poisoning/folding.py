"""Texts as they are read, and where words stand in many of them at once."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final

from ahocorasick_rs import AhoCorasick, MatchKind

from evidence.derive.orders import holds_each, places
from evidence.patterns.poisoning import PATTERNS, SECRETS, Pattern
from evidence.patterns.poisoning.hidden import CONFUSABLE, HIDDEN, LOOK_ALIKE

BETWEEN: Final = "\0"

_STEMS: Final = {need: max(need.split(), key=len) for pattern in (*PATTERNS, *SECRETS) for need in pattern.needs[0]}
"""The longest word of each need: where it is missing in all words, the need is."""


_ALL_STEMS: Final = tuple(sorted(set(_STEMS.values())))


@lru_cache(maxsize=1)
def _finder() -> AhoCorasick:
    return AhoCorasick(_ALL_STEMS, matchkind=MatchKind.Standard)


class Texts:
    """Distinct texts one after the other, in which a word of any of them is found at once."""

    def __init__(self, texts: Sequence[str], words: Iterable[str] = ()) -> None:
        self.texts = texts
        self.whole = BETWEEN.join(texts)
        self._distinct = set(words)
        self._words = " ".join(self._distinct) or self.whole
        self._present: frozenset[str] | None = None
        self._starts = [0, *accumulate(len(text) + 1 for text in texts)]

    def holding(self, pattern: Pattern) -> Iterator[int]:
        """Which texts may hold a wording: those with each of its needs in reach of the first, in rising order."""
        found: set[int] = set()
        if pattern.unbroken and self.longest() >= pattern.unbroken:
            found.update(at for at, text in enumerate(self.texts) if _is_unbroken(text, pattern.unbroken))
        first, *others = pattern.needs
        for need in first:
            if self._holds(_STEMS[need]):
                found.update(self._near(need, others, pattern.reach))
        return iter(sorted(found))

    @property
    def words(self) -> set[str]:
        """The distinct words, some of different texts as one."""
        return self._distinct or set(self.whole.split())

    def places(self, word: str) -> Iterator[tuple[int, int]]:
        """Each place of a word: the text, and where in the whole."""
        return ((bisect_right(self._starts, at) - 1, at) for at in places(word, self.whole))

    def longest(self) -> int:
        """Characters of the longest word."""
        long = (
            part
            for word in self._distinct or self.whole.split()
            for part in ((word,) if len(word) < 100 else word.split(BETWEEN))
        )
        return max(map(len, long), default=0)

    def _holds(self, stem: str) -> bool:
        if self._present is None:
            found = _finder().find_matches_as_indexes(_without_surrogates(self._words), overlapping=True)
            self._present = frozenset(_ALL_STEMS[at] for at in {at for at, _, _ in found})
        return stem in self._present

    def _near(self, need: str, others: Sequence[Sequence[str]], reach: int) -> Iterator[int]:
        at = self.whole.find(need)
        while at >= 0:
            text = bisect_right(self._starts, at) - 1
            start, end = self._starts[text], self._starts[text + 1]
            near = holds_each(self.whole[max(start, at - reach) : min(end, at + reach)], others)
            if near:
                yield text
            at = self.whole.find(need, end if near else at + 1)


def _without_surrogates(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _is_unbroken(text: str, length: int) -> bool:
    return len(text) >= length and max(map(len, text.split()), default=0) >= length


def fold(text: str) -> str:
    """The text as it is read: compatibility forms, lower case, single spaces, no hidden characters, letters that
    imitate Latin ones among Latin ones as what they imitate.
    """
    if text.isascii():
        plain = text
    else:
        plain = unicodedata.normalize("NFKC", HIDDEN.sub("", text)).replace("’", "'")
        plain = LOOK_ALIKE.sub(lambda found: found[0].translate(CONFUSABLE), plain)
    return " ".join(f"|{plain.lower()}|".split())[1:-1]


def fold_all(said: Sequence[str]) -> tuple[list[str], list[str]]:
    """Each text folded, what is ASCII all at once; and all words between spaces, some of different texts as one."""
    ascii_only = [text for text in said if text.isascii() and BETWEEN not in text]
    words = f"{BETWEEN}{BETWEEN.join(ascii_only)}{BETWEEN}".lower().split()
    plain = iter(" ".join(words).split(BETWEEN)[1:-1])
    folded = [next(plain) if text.isascii() and BETWEEN not in text else fold(text) for text in said]
    if len(ascii_only) < len(said):
        others = (each for text, each in zip(said, folded, strict=True) if not text.isascii() or BETWEEN in text)
        words += (word for text in others for word in text.split())
    return folded, words
