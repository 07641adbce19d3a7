"""Distinguishes hidden characters that a script or an emoji needs from those that carry hidden text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.derive.poisoning.text_folding import TextIndex
from evidence.patterns.poisoning import hidden_characters as shapes

MAX_LOOSE: Final = 3
"""Zero-width characters that copying may leave in a text. A higher number indicates an encoding."""


def find_hidden_candidates(texts: TextIndex) -> list[int]:
    """The indexes of texts that may contain hidden characters, in rising order. A cheap test."""
    return sorted({*texts.find_texts_of_matches(shapes.MAY_HIDE), *texts.find_with_word("]:")})


def find_hidden_characters(text: str) -> Iterator[str]:
    """The kinds of hidden characters that neither a script nor an emoji explains."""
    if shapes.CONTROL.search(text):
        yield "control characters"
    if any(_pushes_out(found[0]) for found in shapes.EMPTINESS.finditer(text)):
        yield "text pushed out of sight"
    if text.isascii():
        return
    without = shapes.FLAG.sub("", text)
    if shapes.HIDDEN.search(without):
        yield from _hidden(without)
    if shapes.ANY_PRIVATE.search(without) and shapes.PRIVATE.search(without):
        yield "private-use characters"
    if shapes.IMITATING.search(without) and shapes.LOOK_ALIKE.search(without):
        yield "letters of another script inside a word"


def _pushes_out(empty: str) -> bool:
    lines = empty.split("\n")
    return len(lines) > shapes.MAX_EMPTY_LINES or max(map(len, lines)) > shapes.MAX_INDENT


def _hidden(text: str) -> Iterator[str]:
    if shapes.TAG.search(text):
        yield "tags"
    if shapes.OVERRIDE.search(text) or (shapes.EMBEDDING.search(text) and not shapes.RIGHT_TO_LEFT.search(text)):
        yield "bidirectional override"
    if shapes.ZERO_WIDTH_RUN.search(text):
        yield "zero-width run"
    loose = [found.start() for found in shapes.ZERO_WIDTH.finditer(text) if not _is_needed(text, found.start())]
    if any(_is_inside(text, at) for at in loose) or len(loose) > MAX_LOOSE:
        yield "zero-width character inside a word"
    if any(not _is_selecting(text, found.start()) for found in shapes.SELECTOR.finditer(text)):
        yield "variation selectors"


def _is_needed(text: str, at: int) -> bool:
    """Whether the script or the emoji next to a zero-width character requires it."""
    around = text[max(0, at - 2) : at], text[at + 1 : at + 3]
    return any(shapes.BREAKING_SCRIPT.search(part) or shapes.PICTURE.search(part) for part in around)


def _is_inside(text: str, at: int) -> bool:
    """Whether the character splits a word of Latin letters, or is a joiner after one."""
    before, after = text[max(0, at - 1) : at], text[at + 1 : at + 2]
    if not (before.isascii() and before.isalnum()):
        return False
    return (after.isascii() and after.isalnum()) or shapes.JOINER.match(text, at) is not None


def _is_selecting(text: str, at: int) -> bool:
    """Whether a variation selector follows a character that may have one: emoji, keycap, ideograph, or a letter of a
    script.
    """
    before, mark = text[max(0, at - 1) : at], text[at]
    if not before or shapes.SELECTOR.match(before):
        return False
    if mark in "\ufe0e\ufe0f":
        return not (before.isascii() and (before.isalpha() or before.isspace()))
    return bool(shapes.SELECTABLE.match(before)) or (mark < "\ufe0e" and not before.isascii())
