"""Selects the patterns that a folded text may match, by prefilter and required words, and applies them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Final

from msgspec import Struct

from evidence.compiled_on_use import compile_on_use
from evidence.derive.poisoning.prefilter import ExpressionPrefilter, spell_in_ascii
from evidence.derive.poisoning.sieve import (
    EXPRESSIONS,
    FIRST_INSTRUCTION,
    FIRST_OBFUSCATION,
    Places,
    find_places,
    may_match,
)
from evidence.derive.poisoning.text_folding import TextIndex, holds_needed_words
from evidence.patterns.poisoning import PATTERNS, SENTENCE, Category, Pattern, PatternMatch

_PLAINEST: Final = tuple(
    each
    for each in PATTERNS
    if each.category in (Category.OVERRIDE, Category.CONCEALMENT) and not (each.expression.is_naming or each.sentence)
)
"""Patterns that are searched in deobfuscated text."""
_LONGEST_WORD: Final = 100
"""Characters of which no required word has more."""
_SENTENCE_END: Final = compile_on_use(r"[.!?](?=\s)(?<!\be\.g\.)(?<!\bi\.e\.)")
"""Where `SENTENCE` ends a sentence that another one follows."""
_MAX_WORD: Final = 12
"""Letters of a single word, such as a type or a name, up to which it matches no pattern."""


class CandidatePatterns(Struct, frozen=True):
    """The patterns that a text may match, in order, each with what of the text it is applied to; whether the text may
    be obfuscated, and whether it may instruct about a tool.
    """

    examined: tuple[tuple[Pattern, str], ...] = ()
    may_be_obfuscated: bool = False
    may_instruct: bool = False

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        return tuple(pattern for pattern, _ in self.examined)


def find_candidate_patterns(folded: str) -> CandidatePatterns:
    """The patterns that a text may match. No other pattern can match."""
    return find_candidates(TextIndex([folded])).get(0, NO_CANDIDATES)


def find_candidates(folded: TextIndex) -> dict[int, CandidatePatterns]:
    """The candidates of each text that has some, by its index."""
    seen: _Seen = {}
    found: dict[int, CandidatePatterns] = {}
    for at, places in find_places(folded):
        text = folded.texts[at]
        if len(text) > _MAX_WORD or not (text.isalpha() and text.isascii()):
            candidates = _select(text, places, seen)
            if candidates is not NO_CANDIDATES:
                found[at] = candidates
    return found


_Seen = dict[tuple[int, str], bool]
"""Whether a sentence may match all parts of a pattern; tools of a server share many sentences."""


def _select(folded: str, places: Places, seen: _Seen) -> CandidatePatterns:
    """The candidates in a text with required words."""
    encoded = spell_in_ascii(folded).encode()
    possible = sorted(places)
    examined: list[tuple[Pattern, str]] = []
    ends: list[int] | None = None
    for at in possible:
        if at >= FIRST_OBFUSCATION:
            break
        pattern = PATTERNS[at]
        if not pattern.sentence:
            if _may_match_near(at, places[at], encoded) and holds_needed_words(pattern, folded):
                examined.append((pattern, folded))
            continue
        ends = [*list_sentence_ends(folded), len(folded)] if ends is None else ends
        if part := _select_sentences(folded, ends, at, places[at], seen):
            examined.append((pattern, part))
    others = [at for at in possible if at >= FIRST_OBFUSCATION]
    may_be_obfuscated = any(at < FIRST_INSTRUCTION and may_match(at, encoded) for at in others)
    may_instruct = any(at >= FIRST_INSTRUCTION and may_match(at, encoded) for at in others)
    if not examined and not may_be_obfuscated and not may_instruct:
        return NO_CANDIDATES
    return CandidatePatterns(tuple(examined), may_be_obfuscated, may_instruct)


def _may_match_near(at: int, places: Sequence[int], encoded: bytes) -> bool:
    """Whether a pattern may match within its reach of a place with a required word; anywhere without places."""
    reach = PATTERNS[at].reach + _LONGEST_WORD
    if not places or len(encoded) <= 2 * reach:
        return may_match(at, encoded)
    start = end = 0
    for place in places:
        if place - reach > end:
            if end and may_match(at, encoded[start:end]):
                return True
            start = place - reach
        end = place + reach
    return may_match(at, encoded[start:end])


def _select_sentences(folded: str, ends: Sequence[int], at: int, places: Sequence[int], seen: _Seen) -> str:
    """The sentences with required words at some places that may match all parts of a pattern; see `find_pattern`."""
    selected = []
    for number in dict.fromkeys(bisect_right(ends, place) for place in places):
        sentence = folded[ends[number - 1] if number else 0 : ends[number]].strip()
        known = seen.get((at, sentence))
        if known is None:
            known = may_match(at, spell_in_ascii(sentence).encode()) and _parts(PATTERNS[at]).match_all(sentence)
            seen[at, sentence] = known
        if known:
            selected.append(sentence)
    if not selected or (len(ends) > 1 and not _parts(PATTERNS[at]).match_all(folded)):
        return ""
    return " ".join(selected)


def list_sentence_ends(folded: str) -> list[int]:
    """Where sentences end that another one follows."""
    return [found.end() for found in _SENTENCE_END.finditer(folded)]


def match_patterns(folded: str) -> Iterator[Pattern]:
    """The patterns that match a text, in their order."""
    return (each for each, part in find_candidate_patterns(folded).examined if each.matches(part))


def find_pattern(pattern: Pattern, folded: str) -> PatternMatch | None:
    """The match of a pattern. A sentence pattern is applied only to sentences that may contain all its parts."""
    if not pattern.sentence:
        return pattern.find(folded)
    parts = _parts(pattern)
    return pattern.find(" ".join(sentence for sentence in _split_sentences(folded) if parts.match_all(sentence)))


@lru_cache(maxsize=1)
def _split_sentences(folded: str) -> tuple[str, ...]:
    """The sentences of a text, for all patterns that are applied to it in turn."""
    return tuple(map(str.strip, SENTENCE.findall(folded)))


NO_CANDIDATES: Final = CandidatePatterns()


def build_filters() -> None:
    """Build the filters of all patterns, which are else built when a text first needs them."""
    for at, pattern in enumerate(PATTERNS):
        may_match(at, b"")
        if pattern.sentence:
            _parts(pattern)
    for at in range(FIRST_OBFUSCATION, len(EXPRESSIONS)):
        may_match(at, b"")
    _plainest()


def find_plain_instructions(reading: str) -> Iterator[Pattern]:
    """The basic patterns that a deobfuscated reading may match, in their order."""
    return (_PLAINEST[at] for at in _plainest().find_candidates(reading) if holds_needed_words(_PLAINEST[at], reading))


@lru_cache(maxsize=1)
def _plainest() -> ExpressionPrefilter:
    return ExpressionPrefilter(each.expression.pattern for each in _PLAINEST)


@cache
def _parts(pattern: Pattern) -> ExpressionPrefilter:
    return ExpressionPrefilter(part.pattern for part in (pattern.expression, *pattern.beside))
