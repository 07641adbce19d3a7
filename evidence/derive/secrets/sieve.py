"""Which rules can match a text at all, by hyperscan where it is installed (the extra `fast`).

It only leaves rules out: whatever it lets through is looked at as if there were no sieve, so the findings are the same.
It looks for more than the expressions say (its prefiltering mode), never for less.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from importlib.util import find_spec
from threading import Lock
from typing import Any, Final

from evidence.derive.secrets.rules import Rule

_MOST_REFUSED: Final = 16
"""Expressions of a rule file that hyperscan may refuse before it is not worth its while."""


class Sieve:
    """Made once for some rules, which takes about a second; may be used by several threads."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._engine: Any = importlib.import_module("hyperscan")
        self._rules = rules
        orders = [order for order, rule in enumerate(rules) if rule.expression]
        self.refused: frozenset[int] = frozenset(self._refused(orders))
        taken = [order for order in orders if order not in self.refused]
        self._database = self._compiled(taken) if taken else None
        self._lock = Lock()

    def among(self, data: bytes) -> AbstractSet[int]:
        """The rules, by their place in the set, that may match the text."""
        found = set(self.refused)
        if self._database is not None and data:
            with self._lock:
                self._database.scan(data, match_event_handler=lambda order, *_: found.add(order))
        return found

    def _refused(self, orders: Sequence[int]) -> list[int]:
        """The rules whose expressions hyperscan does not take, found by halving."""
        if not orders:
            return []
        try:
            self._compiled(orders)
        except self._engine.error as error:
            if len(orders) == 1:
                return list(orders)
            half = len(orders) // 2
            refused = [*self._refused(orders[:half]), *self._refused(orders[half:])]
            if len(refused) > _MOST_REFUSED:
                raise SieveUnfit(f"expected expressions that hyperscan takes; {error}") from error
            return refused
        return []

    def _compiled(self, orders: Sequence[int]) -> Any:
        flags = self._engine.HS_FLAG_SINGLEMATCH | self._engine.HS_FLAG_PREFILTER | self._engine.HS_FLAG_ALLOWEMPTY
        database = self._engine.Database()
        expressions = [self._rules[order].expression.encode() for order in orders]
        database.compile(expressions=expressions, ids=list(orders), flags=[flags] * len(orders))
        return database


class SieveUnfit(Exception):
    """The rules cannot be sieved; they are looked at without."""


def is_installed() -> bool:
    """Whether hyperscan can be imported."""
    return find_spec("hyperscan") is not None
