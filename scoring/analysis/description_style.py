"""How a description is built: its first word, its length, whether it says when and gives an example.

The methodology that compares siblings publishes neither its verbs nor its words for when and example. These were
chosen so that the verdicts agree with the reference on every recorded capture.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from scoring.scopes.base import Tool
from scoring.text.javascript import compile_pattern, utf16_length
from scoring.vocabularies.verbs import OPENING

_HUMP: Final = re.compile("[a-z]+(?=[A-Z])")
_FIRST_WORD: Final = re.compile(r"[a-z]+(?![\w])", re.ASCII)
_WHEN: Final = frozenset({"when", "if", "for"})
_MARKS: Final = ("example", "for instance", "such as", "e.g.")
_EXAMPLE: Final = compile_pattern(r"\b(?:example|for instance|such as)\b|\be\.g\.")


@dataclass(frozen=True, slots=True)
class DescriptionStyle:
    """What two descriptions can have in common."""

    verb_first: bool
    length: str
    when: bool
    example: bool


def extract_sibling_prefix(name: str) -> str:
    """The part of a name that its siblings share: before the first hyphen, else underscore, else hump."""
    for separator in "-_":
        head, found, _ = name.partition(separator)
        if found:
            return head
    hump = _HUMP.match(name)
    return hump[0] if hump else ""


def parse_style(tool: Tool) -> DescriptionStyle:
    """How the description of a tool is built."""
    text = tool.description
    length = utf16_length(text)
    lowered = text.lower()
    first = _FIRST_WORD.match(lowered)
    return DescriptionStyle(
        verb_first=first is not None and first[0] in OPENING,
        length="short" if length < 50 else "medium" if length < 150 else "long",
        when=not _WHEN.isdisjoint(tool.words),
        example=any(mark in lowered for mark in _MARKS) and bool(_EXAMPLE.search(lowered)),
    )
