"""What is worth looking for in a folded text: what the sieve lets pass and whose needed words are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

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
"""Wordings that are looked for in disguise."""
_DISGUISED: Final = len(PATTERNS)
_ORDERED: Final = _DISGUISED + len(OBFUSCATION_EXPRESSIONS)


@dataclass(frozen=True, slots=True)
class CandidatePatterns:
    """The wordings that a text may hold, in order, and whether it may disguise one or give orders about a tool."""

    wordings: tuple[Pattern, ...] = ()
    disguised: bool = False
    ordered: bool = False


def find_candidate_patterns(folded: str) -> CandidatePatterns:
    """What is worth looking for in a text; nothing else is there."""
    passed = _sieve().find_candidates(folded)
    if not passed:
        return _NOTHING
    return CandidatePatterns(
        tuple(PATTERNS[at] for at in passed if at < _DISGUISED and _may_hold(PATTERNS[at], folded)),
        any(_DISGUISED <= at < _ORDERED for at in passed),
        passed[-1] >= _ORDERED,
    )


def match_patterns(folded: str) -> Iterator[Pattern]:
    """The wordings that a text holds, in their order."""
    return (each for each in find_candidate_patterns(folded).wordings if find_pattern(each, folded) is not None)


def find_pattern(wording: Pattern, folded: str) -> PatternMatch | None:
    """The wording in a text; one that is told by sentences is tried only on those that may hold each of its parts."""
    if not wording.sentence:
        return wording.find(folded)
    parts = _parts()[wording.id]
    sentences = map(str.strip, SENTENCE.findall(folded))
    return wording.find(" ".join(sentence for sentence in sentences if parts.match_all(sentence)))


def _may_hold(wording: Pattern, folded: str) -> bool:
    """Whether needed words are there, and what must stand in the same sentence; few texts that hold one part do."""
    return holds_needed_words(wording, folded) and (not wording.sentence or _parts()[wording.id].match_all(folded))


_NOTHING: Final = CandidatePatterns()


def find_plain_instructions(reading: str) -> Iterator[Pattern]:
    """The plainest wordings that another reading of a text may hold, in their order."""
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
def _sieve() -> ExpressionPrefilter:
    return ExpressionPrefilter(
        [*(each.expression.pattern for each in PATTERNS), *OBFUSCATION_EXPRESSIONS, *list_instruction_expressions()]
    )
