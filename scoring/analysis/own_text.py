"""The part of each tool's description that is about this tool: without passages that it repeats or shares.

A passage is a run of words that stands in the description more than once, or also in that of another tool.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
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
    return _own_texts(tuple(tool.description[:READ] for tool in toolset.tools))


@lru_cache(maxsize=4)
def _own_texts(descriptions: tuple[str, ...]) -> tuple[str, ...]:
    """Cached, since two rules ask for the texts of the same server one after the other."""
    pieces = [_PIECE.findall(description.lower()) for description in descriptions]
    words = [[piece for piece in each if piece not in _STOP] for each in pieces]
    runs = [_runs(each) for each in words]
    uses = Counter(chain.from_iterable(runs))
    texts = zip(pieces, words, runs, strict=True)
    return tuple(_join(each, _shared(len(known), passages, uses)) for each, known, passages in texts)


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(PASSAGE)), strict=False))


def _shared(words: int, runs: Sequence[tuple[str, ...]], uses: Counter[tuple[str, ...]]) -> list[bool]:
    """For each of so many words whether it is part of a passage that occurs more than once."""
    shared = [False] * words
    for start, run in enumerate(runs):
        if uses[run] > 1:
            shared[start : start + PASSAGE] = [True] * PASSAGE
    return shared


def _join(pieces: Sequence[str], shared: Sequence[bool]) -> str:
    marks = iter(shared)
    kept = [piece + BREAK if piece in _STOP else BREAK if next(marks) else piece for piece in pieces]
    sentences = " ".join(kept).split(BREAK)
    return BREAK.join(sentence.strip() for sentence in sentences if sentence.strip(_EMPTY))
