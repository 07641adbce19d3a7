"""Parses the Markdown of declarations into paragraphs, lists and code for templates."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

TextPiece: TypeAlias = tuple[str, bool]
"""A part of a sentence, and whether it is code."""

_ITEM: Final = re.compile(r"- +")
_INDENT: Final = "    "


class BlockShape(StrEnum):
    """How a block is laid out."""

    PARAGRAPH = "paragraph"
    LIST = "list"
    CODE = "code"


class TextBlock(Struct, frozen=True):
    """A paragraph or code, which is one line of pieces, or a list, which has one for each item."""

    shape: BlockShape
    lines: tuple[tuple[TextPiece, ...], ...]


def parse_blocks(text: str) -> tuple[TextBlock, ...]:
    """The blocks of a text, which empty lines keep apart."""
    return tuple(_block(part) for part in re.split(r"\n\s*\n", text.strip("\n")) if part.strip())


def parse_inline(text: str) -> tuple[TextPiece, ...]:
    """The pieces of one line; code stands between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # an unpaired backtick is a character
        return ((text, False),)
    return tuple((part, position % 2 == 1) for position, part in enumerate(parts) if part)


def describe_family(family: str) -> str:
    """What the rules of a family are about."""
    return (importlib.import_module(f"scoring.rules.{family}").__doc__ or "").strip()


def _block(text: str) -> TextBlock:
    lines = text.split("\n")
    if all(line.startswith(_INDENT) for line in lines):
        return TextBlock(BlockShape.CODE, ((("\n".join(line.removeprefix(_INDENT) for line in lines), True),),))
    if _ITEM.match(lines[0]):
        return TextBlock(BlockShape.LIST, tuple(parse_inline(item) for item in _items(lines)))
    return TextBlock(BlockShape.PARAGRAPH, (parse_inline(" ".join(line.strip() for line in lines)),))


def _items(lines: list[str]) -> Iterator[str]:
    """The items of a list, each with the lines that go on with it."""
    item: list[str] = []
    for line in lines:
        if (start := _ITEM.match(line)) and item:
            yield " ".join(item)
            item = []
        item.append((line[start.end() :] if start else line).strip())
    yield " ".join(item)
