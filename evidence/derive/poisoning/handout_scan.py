"""Finds instructions to the model in the content that a server returns: resources and results of tools.

Such texts are often documents by third parties, and a long document usually quotes a single instruction. An
instruction counts only in a short text, near an instruction of another purpose, or when it was hidden on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from evidence.derive.poisoning import Hit, scan_text
from evidence.patterns.poisoning import MAX_TEXT, Category
from evidence.patterns.poisoning import hidden_characters as shapes

SHORT_TEXT: Final = 1_500
"""Characters below which a text is too short to be a document about an instruction."""

CLOSE_DISTANCE: Final = 400
"""Characters within which two instructions belong together: the second completes the first."""


class Purpose(StrEnum):
    """The purpose of an instruction. Two patterns of the same purpose may match the same sentence."""

    OVERRIDE = "override"
    CONCEAL = "conceal"
    HAND_OUT = "hand out"
    RUN = "run"
    IMITATE = "imitate"


PURPOSES: Final[Mapping[str, Purpose]] = {
    **dict.fromkeys(("override", "override-foreign", "sets-aside", "obeys-content", "persona"), Purpose.OVERRIDE),
    **dict.fromkeys(("concealment", "keeps-quiet", "leaves-out"), Purpose.CONCEAL),
    **dict.fromkeys(("secrets-out", "passes-secrets", "passes-conversation", "reveals-prompt"), Purpose.HAND_OUT),
    **dict.fromkeys(("content-of-secrets", "fetches-secrets", "hands-on-all", "quiet-copy"), Purpose.HAND_OUT),
    **dict.fromkeys(("runs-command", "plants-command"), Purpose.RUN),
    **dict.fromkeys(("block", "addressed"), Purpose.IMITATE),
}
"""Patterns that hardly any document contains. The other patterns apply to tool descriptions only, because documents
recommend things, order steps, and describe where a configuration is stored and which data leave the machine.
"""

_TOO_USUAL: Final = frozenset({"block"})
"""Alone it is an ordinary note in a manual."""

_DELIBERATE: Final = frozenset({"encoded-order", "disguised-order"})
"""Instructions that were hidden on purpose."""

_UNSEEN: Final = frozenset({"tags", "zero-width run"})
"""Hidden characters that editors, converters and copying do not leave in a document."""

_SELECTOR_RUN: Final = re.compile(f"(?:{shapes.SELECTOR.pattern}){{3}}")


def scan_handout(text: str, *, at: str) -> tuple[Hit, ...]:
    """The hits in one returned text, each pattern once. `at` is the path of the text."""
    sent = text[:MAX_TEXT]
    grave = [hit for hit in scan_text(sent, at=at) if hit.is_grave]
    if not grave:
        return ()
    certain = [hit for hit in grave if hit.pattern in _DELIBERATE or _is_code(hit, sent)]
    orders = _orders(grave)
    if len(sent) > SHORT_TEXT:
        orders = list(_close(sent, at)) if _are_meant(orders) else []
    elif all(hit.pattern in _TOO_USUAL for hit in orders):
        orders = []
    return tuple(dict.fromkeys((*certain, *orders)))


def _is_code(hit: Hit, text: str) -> bool:
    """Whether the hidden characters encode a message or reverse the order of text."""
    if hit.category is not Category.HIDDEN:
        return False
    match hit.title.rpartition(": ")[2]:
        case "bidirectional override":
            return shapes.OVERRIDE.search(text) is not None
        case "variation selectors":
            return _SELECTOR_RUN.search(text) is not None
        case kind:
            return kind in _UNSEEN


def _close(text: str, at: str) -> Iterator[Hit]:
    """Instructions within CLOSE_DISTANCE characters of an instruction of another purpose."""
    for start in range(0, len(text), CLOSE_DISTANCE):
        near = _orders(scan_text(text[start : start + 2 * CLOSE_DISTANCE], at=at))
        if _are_meant(near):
            yield from near


def _orders(hits: Iterable[Hit]) -> list[Hit]:
    return [hit for hit in hits if hit.is_grave and hit.pattern in PURPOSES]


def _are_meant(orders: Iterable[Hit]) -> bool:
    return len({PURPOSES[hit.pattern] for hit in orders}) > 1
