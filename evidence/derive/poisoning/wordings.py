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
from evidence.patterns.poisoning import PATTERNS, Pattern

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
    wordings = (PATTERNS[at] for at in passed if at < _DISGUISED)
    return Worth(
        tuple(each for each in wordings if may_hold(each, folded)),
        any(_DISGUISED <= at < _ORDERED for at in passed),
        passed[-1] >= _ORDERED,
    )


def wordings_of(folded: str) -> Iterator[Pattern]:
    """The wordings that a text holds, in their order."""
    return (each for each in worth_trying(folded).wordings if each.matches(folded))


_NOTHING: Final = Worth()


@lru_cache(maxsize=1)
def _sieve() -> Sieve:
    return Sieve([*(each.expression.pattern for each in PATTERNS), *DISGUISES, *any_order()])
