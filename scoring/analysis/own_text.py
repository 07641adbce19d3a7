"""The part of each tool's description that is about this tool: without passages that it repeats or shares.

A passage is a run of words that stands in the description more than once, or also in that of another tool.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from scoring.scopes.base import Toolset

PASSAGE: Final = 8
"""Words of a passage; shorter runs are common phrases such as "returns a list of"."""

READ: Final = 4000
"""Characters of a description that are compared."""

BREAK: Final = "\n"
_PIECE: Final = re.compile(r"[\w'’-]+|[.!?;<>\n]")
_STOP: Final = frozenset(".!?;<>\n")
_EMPTY: Final = " .!?;<>"


def list_own_texts(toolset: Toolset) -> tuple[str, ...]:
    """The own text of each tool in lower case, with a line break between sentences and where a passage was."""
    pieces = [_PIECE.findall(tool.description[:READ].lower()) for tool in toolset.tools]
    words = [[piece for piece in each if piece not in _STOP] for each in pieces]
    uses = Counter(run for each in words for run in _runs(each))
    return tuple(_join(each, _shared(known, uses)) for each, known in zip(pieces, words, strict=True))


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + PASSAGE]) for start in range(len(words) - PASSAGE + 1)]


def _shared(words: Sequence[str], uses: Counter[tuple[str, ...]]) -> list[bool]:
    """For each word whether it is part of a passage that occurs more than once."""
    shared = [False] * len(words)
    for start, run in enumerate(_runs(words)):
        if uses[run] > 1:
            shared[start : start + PASSAGE] = [True] * PASSAGE
    return shared


def _join(pieces: Sequence[str], shared: Sequence[bool]) -> str:
    marks = iter(shared)
    kept = [piece + BREAK if piece in _STOP else BREAK if next(marks) else piece for piece in pieces]
    sentences = " ".join(kept).split(BREAK)
    return BREAK.join(sentence.strip() for sentence in sentences if sentence.strip(_EMPTY))
