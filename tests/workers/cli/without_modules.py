"""Imports as in an installation without some modules."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class _Finder:
    """A finder that does not find the modules."""

    def __init__(self, inner: Any, absent: frozenset[str]) -> None:
        self._inner = inner
        self._absent = absent

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found: ModuleSpec | None = None
        if name.partition(".")[0] not in self._absent:
            found = self._inner.find_spec(name, path, target)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def hide_modules(absent: frozenset[str]) -> None:
    """Let every import of the modules fail as that of a missing package does."""
    assert not absent & sys.modules.keys()
    sys.meta_path[:] = [_Finder(finder, absent) for finder in sys.meta_path]
