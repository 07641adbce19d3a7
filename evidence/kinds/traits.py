"""The traits of a kind, declared once in its module as `TRAITS`: visibility of its records, and how long they are
valid.

Disclosure, datasets, the operator's views, the reuse of earlier evidence and the store derive their lists from here.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType
from typing import Final

from msgspec import Struct

import evidence.kinds

FACTS: Final = "Facts observed by the operator of this dataset; its licence is that of the dataset."
WORDS: Final = "Words of the server itself, which it sends to every client; quoted to check a score."


class Traits(Struct, frozen=True, kw_only=True):
    """The traits of one kind."""

    private: bool = False
    """Only the operator sees the records: they hold findings of our own scans, what only the operator's token may read,
    or texts of third parties."""

    licence: str = ""
    """The note on the licence under which datasets publish the bodies; a private kind has none."""

    public_observation: frozenset[str] | None = None
    """The members of an observation that are public; None: all of them."""

    conversation: bool = False
    """The records come from one conversation with the server, so a newer conversation replaces all of them."""

    one_night: bool = False
    """The records refer to each other, so an earlier one is always read together with the others of its own run."""

    stands_with: str | None = None
    """The kind whose absence, for a reason that is ours, lets the last observed record of this kind stand for it."""

    chained: bool = False
    """Each record continues the one before it, so the last observed record outlives runs that could not make one."""

    def __post_init__(self) -> None:
        if self.private == bool(self.licence):
            raise ValueError("expected a kind to be either private or published under a licence note")


@cache
def schemas() -> Mapping[str, int]:
    return {module.KIND: module.SCHEMA for module in modules()}


@cache
def traits() -> Mapping[str, Traits]:
    return {module.KIND: module.TRAITS for module in modules()}


def kinds_where(condition: Callable[[Traits], bool]) -> frozenset[str]:
    """The kinds whose traits meet a condition."""
    return frozenset(kind for kind, declared in traits().items() if condition(declared))


@cache
def modules() -> tuple[ModuleType, ...]:
    """Every module of `evidence.kinds` that declares a kind, by the name of the module."""
    names = sorted(found.name for found in pkgutil.iter_modules(evidence.kinds.__path__))
    known = [importlib.import_module(f"evidence.kinds.{name}") for name in names]
    return tuple(module for module in known if hasattr(module, "SCHEMA"))
