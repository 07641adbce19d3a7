"""Finds the parts of a text in which each rule may match: around its anchors, all found in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

import ahocorasick_rs

from evidence.derive.secrets.rules import Rule

Span = tuple[int, int]

_WORD: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_")
_ESCAPE: Final = ord("\\")
_FEW: Final = 8
"""Up to this number of rules, searching rule by rule is as fast as one pass for the anchors of all rules."""


class Anchors:
    """The anchors of all rules of a set. A rule without anchors may match anywhere."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._of = [[anchor.encode() for anchor in rule.anchors] for rule in rules]
        self._texts = sorted({text for mine in self._of for text in mine})
        numbers = {text: number for number, text in enumerate(self._texts)}
        self._followers: list[list[int]] = [[] for _ in self._texts]
        for order, mine in enumerate(self._of):
            for text in mine:
                self._followers[numbers[text]].append(order)
        self._always = frozenset(at for at, rule in enumerate(rules) if rule.expression and not rule.anchors)
        self._all = _automaton(self._texts)
        self._each: dict[int, Any] = {}

    def windows(self, data: bytes, among: AbstractSet[int] | None = None) -> Mapping[int, Sequence[Span]]:
        """For each rule that may match, or each rule in `among`, the parts of the text in which it may match.

        The parts are sorted and do not overlap.
        """
        always = self._always if among is None else self._always & among
        found: dict[int, list[Span]] = {order: [(0, len(data))] for order in always}
        lower = data.lower() if among is None or len(among) > len(always) else b""
        for orders, start, end in self._places(lower, among):
            inside = start > 0 and lower[start - 1] in _WORD and lower[max(0, start - 2)] != _ESCAPE
            for order in orders:
                rule = self._rules[order]
                if (inside and rule.initial) or (among is not None and order not in among):
                    continue
                if rule.window is None:
                    found[order] = [(0, len(data))]
                    continue
                left, right = max(0, start - rule.window[0]), end + rule.window[1]
                known = found.setdefault(order, [])
                if known and left <= known[-1][1]:
                    known[-1] = (min(left, known[-1][0]), max(right, known[-1][1]))
                else:
                    known.append((left, right))
        return {order: merge_spans(parts) if len(parts) > 1 else parts for order, parts in sorted(found.items())}

    def _places(self, lower: bytes, among: AbstractSet[int] | None) -> Iterator[tuple[Sequence[int], int, int]]:
        """Rules, with the start and end of one of their anchors in a lower-case text."""
        if among is not None and len(among) <= _FEW:
            for order in among:
                mine = (order,)
                yield from ((mine, start, end) for _, start, end in _found(self._of_one(order), lower))
            return
        for number, start, end in _found(self._all, lower):
            yield self._followers[number], start, end

    def _of_one(self, order: int) -> Any:
        if order not in self._each:
            self._each[order] = _automaton(self._of[order])
        return self._each[order]


def _automaton(texts: Sequence[bytes]) -> Any:
    """An automaton that finds the texts; None when there are none. The table form trades memory for two thirds of the
    time.
    """
    return ahocorasick_rs.BytesAhoCorasick(texts, implementation=ahocorasick_rs.Implementation.DFA) if texts else None


def _found(automaton: Any, lower: bytes) -> Sequence[tuple[int, int, int]]:
    return automaton.find_matches_as_indexes(lower, overlapping=True) if automaton else ()


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """The spans sorted, touching ones merged."""
    known: list[Span] = []
    for start, end in sorted(spans):
        if known and start <= known[-1][1]:
            known[-1] = (known[-1][0], max(end, known[-1][1]))
        else:
            known.append((start, end))
    return known
