"""Finds which texts give instructions about which tools, in time linear in the texts, independent of the number of
tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from ahocorasick_rs import AhoCorasick, MatchKind

from evidence.derive.poisoning.text_folding import TextIndex, replace_surrogates
from evidence.derive.tool_instructions import instructs_tool, mentions_tool_name

MAX_NAMES: Final = 1_000
"""Tools that are matched by name."""

_SHORTEST: Final = 4
_LONGEST: Final = 128
"""Characters of a name up to which all names are found in one pass; longer names are rare and found one by one."""
_STRETCH: Final = 4_000
"""Characters that are searched in one step, which limits the memory for names within names."""


def find_instructed_tools(folded: Sequence[str], names: Iterable[str]) -> dict[str, list[str]]:
    """The tools that each text gives instructions about, by text. A text without any is missing."""
    found: dict[str, list[str]] = {}
    lower = {name: name.lower() for name in islice(dict.fromkeys(names), MAX_NAMES)}
    lower = {name: low for name, low in lower.items() if len(low) >= _SHORTEST}
    if not lower or not folded:
        return found
    texts_by_name = _find_names(TextIndex(folded), set(lower.values()))
    for name, low in lower.items():
        for at in texts_by_name.get(low, ()):
            text = folded[at]
            if mentions_tool_name(low, text) and instructs_tool(low, text):
                found.setdefault(text, []).append(name)
    return found


def _find_names(texts: TextIndex, names: Iterable[str]) -> Mapping[str, set[int]]:
    """The indexes of the texts that contain each name."""
    short = [name for name in names if len(name) <= _LONGEST and _can_be_encoded(name)]
    texts_by_name = {name: set(texts.find_with_word(name)) for name in set(names).difference(short)}
    for name, place in _places(texts.whole, short):
        texts_by_name.setdefault(name, set()).add(texts.find_text_at(place))
    return texts_by_name


def _places(whole: str, names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The positions of names, overlapping ones included; some positions occur twice."""
    if not names:
        return
    finder = AhoCorasick(names, matchkind=MatchKind.Standard)
    text = replace_surrogates(whole)
    for start in range(0, len(text), _STRETCH):
        stretch = text[start : start + _STRETCH + _LONGEST]
        for name, at, _ in finder.find_matches_as_indexes(stretch, overlapping=True):
            yield names[name], start + at


def _can_be_encoded(name: str) -> bool:
    return replace_surrogates(name) == name
