"""What is worth looking for in a folded text: what the sieve lets pass and whose needed words are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evidence.derive.orders import any_order
from evidence.derive.poisoning.disguise import DISGUISES
from evidence.derive.poisoning.folding import may_hold
from evidence.derive.poisoning.sieve import Sieve
from evidence.patterns.poisoning import PATTERNS, SENTENCE, Category, Found, Pattern

_PLAINEST: Final = tuple(
    each
    for each in PATTERNS
    if each.category in (Category.OVERRIDE, Category.CONCEALMENT) and not (each.expression.is_naming or each.sentence)
)
"""Wordings that are looked for in disguise."""
_DISGUISED: Final = len(PATTERNS)
_ORDERED: Final = _DISGUISED + len(DISGUISES)


@dataclass(frozen=True, slots=True)
class Worth:
    """The wordings that a text may hold, in order, and whether it may disguise one or give orders about a tool."""

    wordings: tuple[Pattern, ...] = ()
    disguised: bool = False
    ordered: bool = False


def worth_trying(folded: str) -> Worth:
    """What is worth looking for in a text; nothing else is there."""
    passed = _sieve().possible(folded)
    if not passed:
        return _NOTHING
    return Worth(
        tuple(PATTERNS[at] for at in passed if at < _DISGUISED and _may_hold(PATTERNS[at], folded)),
        any(_DISGUISED <= at < _ORDERED for at in passed),
        passed[-1] >= _ORDERED,
    )


def wordings_of(folded: str) -> Iterator[Pattern]:
    """The wordings that a text holds, in their order."""
    return (each for each in worth_trying(folded).wordings if find_in(each, folded) is not None)


def find_in(wording: Pattern, folded: str) -> Found | None:
    """The wording in a text; one that is told by sentences is tried only on those that may hold each of its parts."""
    if not wording.sentence:
        return wording.find(folded)
    parts = _parts()[wording.id]
    sentences = map(str.strip, SENTENCE.findall(folded))
    return wording.find(" ".join(sentence for sentence in sentences if parts.all_possible(sentence)))


def _may_hold(wording: Pattern, folded: str) -> bool:
    """Whether needed words are there, and what must stand in the same sentence; few texts that hold one part do."""
    return may_hold(wording, folded) and (not wording.sentence or _parts()[wording.id].all_possible(folded))


_NOTHING: Final = Worth()


def plain_orders_in(reading: str) -> Iterator[Pattern]:
    """The plainest wordings that another reading of a text may hold, in their order."""
    return (_PLAINEST[at] for at in _plainest().possible(reading) if may_hold(_PLAINEST[at], reading))


@lru_cache(maxsize=1)
def _plainest() -> Sieve:
    return Sieve(each.expression.pattern for each in _PLAINEST)


@lru_cache(maxsize=1)
def _parts() -> dict[str, Sieve]:
    return {
        each.id: Sieve(part.pattern for part in (each.expression, *each.beside)) for each in PATTERNS if each.sentence
    }


@lru_cache(maxsize=1)
def _sieve() -> Sieve:
    return Sieve([*(each.expression.pattern for each in PATTERNS), *DISGUISES, *any_order()])
