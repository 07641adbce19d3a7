"""Where in a text each rule may match: around its anchors, which are all found in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import ahocorasick_rs

from evidence.derive.secrets.rules import Rule

Span = tuple[int, int]

_WORD: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_")
_ESCAPE: Final = ord("\\")
_FEW: Final = 48
"""So many anchors are looked for one by one in the time that all of them take together."""


class Anchors:
    """The anchors of all rules of a set. Without anchors a rule may match anywhere."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._texts = sorted({anchor for rule in rules for anchor in rule.anchors})
        numbers = {text: number for number, text in enumerate(self._texts)}
        self._of = [[numbers[anchor] for anchor in rule.anchors] for rule in rules]
        self._followers: list[list[int]] = [[] for _ in self._texts]
        for order, mine in enumerate(self._of):
            for number in mine:
                self._followers[number].append(order)
        self._bytes = [text.encode() for text in self._texts]
        self._always = frozenset(at for at, rule in enumerate(rules) if rule.expression and not rule.anchors)
        self._all = ahocorasick_rs.BytesAhoCorasick(self._bytes) if self._bytes else None

    def windows(self, data: bytes, among: AbstractSet[int] | None = None) -> Mapping[int, Sequence[Span]]:
        """For each rule that may match, or each one of `among`, the parts of the text in which it may.

        Parts are in rising order and apart.
        """
        whole = [(0, len(data))]
        always = self._always if among is None else self._always & among
        found: dict[int, list[Span]] = dict.fromkeys(always, whole)
        lower = data.lower()
        for number, start in self._places(lower, among):
            inside = start > 0 and lower[start - 1] in _WORD and lower[max(0, start - 2)] != _ESCAPE
            end = start + len(self._bytes[number])
            for order in self._followers[number]:
                rule = self._rules[order]
                if (among is not None and order not in among) or (inside and rule.initial):
                    continue
                if rule.window is None:
                    found[order] = whole
                    continue
                left, right = max(0, start - rule.window[0]), end + rule.window[1]
                known = found.setdefault(order, [])
                if known and left <= known[-1][1]:
                    known[-1] = (min(left, known[-1][0]), max(right, known[-1][1]))
                else:
                    known.append((left, right))
        return {order: merged(parts) if len(parts) > 1 else parts for order, parts in sorted(found.items())}

    def _places(self, lower: bytes, among: AbstractSet[int] | None) -> Iterator[tuple[int, int]]:
        """Anchors by number with their places in a text of lower case."""
        if self._all is None:
            return
        if among is not None:
            wanted = {number for order in among for number in self._of[order]}
            if len(wanted) <= _FEW:
                for number in wanted:
                    yield from ((number, start) for start in _finds(lower, self._bytes[number]))
                return
        for number, start, _ in self._all.find_matches_as_indexes(lower, overlapping=True):
            yield number, start


def merged(spans: Iterable[Span]) -> list[Span]:
    """The spans in rising order, those that touch as one."""
    known: list[Span] = []
    for start, end in sorted(spans):
        if known and start <= known[-1][1]:
            known[-1] = (known[-1][0], max(end, known[-1][1]))
        else:
            known.append((start, end))
    return known


def _finds(data: bytes, part: bytes) -> Iterator[int]:
    at = data.find(part)
    while at >= 0:
        yield at
        at = data.find(part, at + 1)
