"""What a server hands out, a resource or a tool's answer, that gives the model orders.

Such texts are often documents, by anybody and about anything, and in a long one a single order is as a rule spoken of.
So an order counts when the text is short, or when it stands close to one of another purpose, as do those that are
meant.
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
"""Length of a text, in characters, that is too short to explain an instruction at length."""

CLOSE_DISTANCE: Final = 400
"""Characters within which two orders belong together: the second says what the first is for."""


class Purpose(StrEnum):
    """What an order wants. Two wordings of one purpose may be one sentence that was found twice."""

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
"""The wordings that hardly any document holds. The others are for what a tool says of itself: documents recommend, put
things in an order, and say where a configuration lies and what leaves the machine."""

_TOO_USUAL: Final = frozenset({"block"})
"""Alone it is a note in a manual."""

_DELIBERATE: Final = frozenset({"encoded-order", "disguised-order"})
"""Instructions that are hidden on purpose."""

_UNSEEN: Final = frozenset({"tags", "zero-width run"})
"""Hidden characters that no editor, converter or copy leaves in a document, whole or in part."""

_SELECTOR_RUN: Final = re.compile(f"(?:{shapes.SELECTOR.pattern}){{3}}")


def scan_handout(text: str, *, at: str) -> tuple[Hit, ...]:
    """The hits in one text that a server hands out, each pattern once. `at` is its path."""
    sent = text[:MAX_TEXT]
    grave = [hit for hit in scan_text(sent, at=at) if hit.is_grave]
    if not grave:
        return ()
    sure = [hit for hit in grave if hit.pattern in _DELIBERATE or _is_code(hit, sent)]
    orders = _orders(grave)
    if len(sent) > SHORT_TEXT:
        orders = list(_close(sent, at)) if _are_meant(orders) else []
    elif all(hit.pattern in _TOO_USUAL for hit in orders):
        orders = []
    return tuple(dict.fromkeys((*sure, *orders)))


def _is_code(hit: Hit, text: str) -> bool:
    """Whether hidden characters carry a message, or turn one round."""
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
    """Orders that stand within CLOSE characters of one of another purpose."""
    for start in range(0, len(text), CLOSE_DISTANCE):
        near = _orders(scan_text(text[start : start + 2 * CLOSE_DISTANCE], at=at))
        if _are_meant(near):
            yield from near


def _orders(hits: Iterable[Hit]) -> list[Hit]:
    return [hit for hit in hits if hit.is_grave and hit.pattern in PURPOSES]


def _are_meant(orders: Iterable[Hit]) -> bool:
    return len({PURPOSES[hit.pattern] for hit in orders}) > 1
