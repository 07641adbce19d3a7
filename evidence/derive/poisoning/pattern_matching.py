"""Selects the patterns that a folded text may match, by prefilter and required words, and applies them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from msgspec import Struct

from evidence.derive.poisoning.obfuscation import OBFUSCATION_EXPRESSIONS
from evidence.derive.poisoning.prefilter import ExpressionPrefilter
from evidence.derive.poisoning.text_folding import holds_needed_words
from evidence.derive.tool_instructions import list_instruction_expressions
from evidence.patterns.poisoning import PATTERNS, SENTENCE, Category, Pattern, PatternMatch

_PLAINEST: Final = tuple(
    each
    for each in PATTERNS
    if each.category in (Category.OVERRIDE, Category.CONCEALMENT) and not (each.expression.is_naming or each.sentence)
)
"""Patterns that are searched in deobfuscated text."""
_MAX_WORD: Final = 12
"""Letters of a single word, such as a type or a name, up to which it matches no pattern."""
_FIRST_OBFUSCATION: Final = len(PATTERNS)
_FIRST_INSTRUCTION: Final = _FIRST_OBFUSCATION + len(OBFUSCATION_EXPRESSIONS)


class CandidatePatterns(Struct, frozen=True):
    """The patterns that a text may match, in order; whether it may be obfuscated, and whether it may instruct about a
    tool.
    """

    patterns: tuple[Pattern, ...] = ()
    may_be_obfuscated: bool = False
    may_instruct: bool = False


def find_candidate_patterns(folded: str) -> CandidatePatterns:
    """The patterns that a text may match. No other pattern can match."""
    if len(folded) <= _MAX_WORD and folded.isalpha() and folded.isascii():
        return _NOTHING
    passed = _prefilter().find_candidates(folded)
    if not passed:
        return _NOTHING
    return CandidatePatterns(
        tuple(PATTERNS[at] for at in passed if at < _FIRST_OBFUSCATION and _may_hold(PATTERNS[at], folded)),
        any(_FIRST_OBFUSCATION <= at < _FIRST_INSTRUCTION for at in passed),
        passed[-1] >= _FIRST_INSTRUCTION,
    )


def match_patterns(folded: str) -> Iterator[Pattern]:
    """The patterns that match a text, in their order."""
    return (each for each in find_candidate_patterns(folded).patterns if find_pattern(each, folded) is not None)


def find_pattern(pattern: Pattern, folded: str) -> PatternMatch | None:
    """The match of a pattern. A sentence pattern is applied only to sentences that may contain all its parts."""
    if not pattern.sentence:
        return pattern.find(folded)
    parts = _parts()[pattern.id]
    return pattern.find(" ".join(sentence for sentence in _split_sentences(folded) if parts.match_all(sentence)))


@lru_cache(maxsize=1)
def _split_sentences(folded: str) -> tuple[str, ...]:
    """The sentences of a text, for all patterns that are applied to it in turn."""
    return tuple(map(str.strip, SENTENCE.findall(folded)))


def _may_hold(pattern: Pattern, folded: str) -> bool:
    """Whether the text contains the required words and, for a sentence pattern, a sentence that has all its parts."""
    return holds_needed_words(pattern, folded) and (not pattern.sentence or _parts()[pattern.id].match_all(folded))


_NOTHING: Final = CandidatePatterns()


def find_plain_instructions(reading: str) -> Iterator[Pattern]:
    """The basic patterns that a deobfuscated reading may match, in their order."""
    return (_PLAINEST[at] for at in _plainest().find_candidates(reading) if holds_needed_words(_PLAINEST[at], reading))


@lru_cache(maxsize=1)
def _plainest() -> ExpressionPrefilter:
    return ExpressionPrefilter(each.expression.pattern for each in _PLAINEST)


@lru_cache(maxsize=1)
def _parts() -> dict[str, ExpressionPrefilter]:
    return {
        each.id: ExpressionPrefilter(part.pattern for part in (each.expression, *each.beside))
        for each in PATTERNS
        if each.sentence
    }


@lru_cache(maxsize=1)
def _prefilter() -> ExpressionPrefilter:
    return ExpressionPrefilter(
        [*(each.expression.pattern for each in PATTERNS), *OBFUSCATION_EXPRESSIONS, *list_instruction_expressions()]
    )
