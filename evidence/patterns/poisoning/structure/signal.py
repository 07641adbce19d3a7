"""The type of a signal: concepts that one or two sentences combine when they instruct the model.

The words differ between languages and authors; the combination does not.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from evidence.patterns.poisoning.pattern import Category, Confidence
from evidence.patterns.poisoning.structure.concepts import Concept
from evidence.patterns.poisoning.structure.purposes import Purpose

NO_ORDER: Final = (Concept.NOT, Concept.QUOTE, Concept.CONFIRM)
"""Concepts that make a sentence no order: it forbids, quotes, or leaves the choice to the caller."""


class Signal(Struct, frozen=True):
    """Of each group of `needs`, `sentences` successive sentences express one concept, all in the same language.

    A sentence with a concept of `unless` does not count, nor does a tool whose purpose is `foreign_to`. `translated`:
    only in languages other than English, for which patterns have more words. `after_purpose`: not in the first sentence
    of a description, which says what the tool is for, nor in that of a parameter.
    """

    id: str
    category: Category
    title: str
    needs: tuple[tuple[Concept, ...], ...]
    bad: tuple[str, ...]
    good: tuple[str, ...]
    unless: tuple[Concept, ...] = ()
    foreign_to: Purpose | None = None
    confidence: Confidence = Confidence.HIGH
    sentences: int = 1
    after_purpose: bool = False
    translated: bool = False

    @property
    def asks(self) -> bool:
        """Whether it asks for data, which a text may do when it leaves the choice to the caller."""
        return Concept.CONFIRM in self.unless

    @property
    def in_parameter(self) -> bool:
        """Whether it is only about descriptions of parameters."""
        return (Concept.SLOT,) in self.needs
