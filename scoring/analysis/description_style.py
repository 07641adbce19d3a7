"""Style of a description: its first word and length, and whether it says when to use the tool and gives an example.

The methodology that compares siblings publishes neither its verbs nor its words for when and example. These were
chosen so that the verdicts agree with the reference on every recorded capture.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from scoring.scopes.base import Tool
from scoring.text.javascript import compile_pattern, utf16_length
from scoring.vocabularies.verbs import OPENING

_HUMP: Final = re.compile("[a-z]+(?=[A-Z])")
_FIRST_WORD: Final = re.compile(r"[a-z]+(?![\w])", re.ASCII)
_WHEN: Final = frozenset({"when", "if", "for"})
_MARKS: Final = ("example", "for instance", "such as", "e.g.")
_EXAMPLE: Final = compile_pattern(r"\b(?:example|for instance|such as)\b|\be\.g\.")


class DescriptionStyle(Struct, frozen=True):
    """The properties by which descriptions are compared."""

    verb_first: bool
    length: str
    when: bool
    example: bool


def extract_sibling_prefix(name: str) -> str:
    """The prefix of a name that sibling tools share: up to the first hyphen, else underscore, else capital letter."""
    for separator in "-_":
        head, found, _ = name.partition(separator)
        if found:
            return head
    hump = _HUMP.match(name)
    return hump[0] if hump else ""


def parse_style(tool: Tool) -> DescriptionStyle:
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
