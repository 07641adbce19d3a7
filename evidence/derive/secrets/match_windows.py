"""Finds the parts of a text in which each rule may match, around anchors found in one pass, and its matches."""

from __future__ import annotations

import re
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

_MAX_NESTED: Final = 4


class Anchors:
    """The anchors of all rules of a set. A rule without anchors may match anywhere."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._all = _Group(rules, range(len(rules)))
        self._always = frozenset(at for at, rule in enumerate(rules) if rule.expression and not rule.anchors)
        self._each: dict[int, _Group] = {}

    def windows(self, data: bytes, among: AbstractSet[int] | None = None) -> Mapping[int, Sequence[Span]]:
        """For each rule that may match, or each rule in `among`, the parts of the text in which it may match.

        The parts are sorted and do not overlap, except those of a named rule, which begin after each name.
        """
        always = self._always if among is None else self._always & among
        found: dict[int, list[Span]] = {order: [(0, len(data))] for order in always}
        if among is None or len(among) > len(always):
            lower = data.lower()
            for group in self._groups(among):
                group.add_windows(lower, found)
        if among is not None:
            found = {order: parts for order, parts in found.items() if order in among}
        return {
            order: merge_spans(parts) if len(parts) > 1 and not self._rules[order].named else parts
            for order, parts in sorted(found.items())
        }

    def _groups(self, among: AbstractSet[int] | None) -> Iterator[_Group]:
        if among is None or len(among) > _FEW:
            yield self._all
            return
        for order in among - self._always:
            if order not in self._each:
                self._each[order] = _Group(self._rules, (order,))
            yield self._each[order]


class _Group:
    """The anchors of some rules, found in one pass."""

    def __init__(self, rules: Sequence[Rule], orders: Sequence[int]) -> None:
        followers: dict[bytes, list[tuple[int, Rule, Any]]] = {}
        for order in orders:
            rule = rules[order]
            then = re.compile(rule.then.encode()).match if rule.then else None
            for anchor in rule.anchors:
                followers.setdefault(anchor.encode(), []).append((order, rule, then))
        self._automaton = _automaton(sorted(followers))
        self._followers = [followers[text] for text in sorted(followers)]
        self._initial = [all(rule.initial for _, rule, _ in rules) for rules in self._followers]

    def add_windows(self, lower: bytes, found: dict[int, list[Span]]) -> None:
        """Add the parts of a lower-case text in which the rules may match."""
        if self._automaton is None:
            return
        size, initial, followers = len(lower), self._initial, self._followers
        for number, start, end in self._automaton.find_matches_as_indexes(lower, overlapping=True):
            inside = start > 0 and lower[start - 1] in _WORD and lower[max(0, start - 2)] != _ESCAPE
            if inside and initial[number]:
                continue
            for order, rule, then in followers[number]:
                if (inside and rule.initial) or (then is not None and then(lower, end) is None):
                    continue
                if rule.named:
                    if start == 0 or not lower[start - 1 : start].isalnum():
                        found.setdefault(order, []).append((end, end + rule.window[1] if rule.window else size))
                    continue
                _add(found, order, (start - rule.window[0], end + rule.window[1]) if rule.window else (0, size))


def _add(found: dict[int, list[Span]], order: int, span: Span) -> None:
    left, right = max(0, span[0]), span[1]
    known = found.setdefault(order, [])
    if known and left <= known[-1][1]:
        known[-1] = (min(left, known[-1][0]), max(right, known[-1][1]))
    else:
        known.append((left, right))


def _automaton(texts: Sequence[bytes]) -> Any:
    """An automaton that finds the texts; None when there are none. The table form trades memory for two thirds of the
    time.
    """
    return ahocorasick_rs.BytesAhoCorasick(texts, implementation=ahocorasick_rs.Implementation.DFA) if texts else None


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """The spans sorted, touching ones merged."""
    known: list[Span] = []
    for start, end in sorted(spans):
        if known and start <= known[-1][1]:
            known[-1] = (known[-1][0], max(end, known[-1][1]))
        else:
            known.append((start, end))
    return known


def find_matches(expression: Any, data: bytes, windows: Sequence[Span], *, named: bool) -> Iterator[Any]:
    """The matches in parts of the text; those of a named rule begin after a name."""
    if named:
        yield from _find_after_names(expression, data, windows)
        return
    for start, end in windows:
        yield from expression.finditer(data, start, min(end, len(data)))


def _find_after_names(expression: Any, data: bytes, windows: Sequence[Span]) -> Iterator[Any]:
    """The matches that begin after a name. Of the names in one value, the first few and the last are examined, since
    each
    name of a hostile text can be in the values of many others.
    """
    ends: list[int] = []
    for (start, end), (following, _) in zip(windows, (*windows[1:], (len(data), 0)), strict=True):
        ends = [one for one in ends if one > start]
        if len(ends) >= _MAX_NESTED and following < max(ends):
            continue
        if match := expression.match(data, start, min(end, len(data))):
            ends.append(match.end())
            yield match
