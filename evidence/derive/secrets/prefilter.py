"""Finds which rules can match a text, by hyperscan where it is installed (the extra `fast`).

The prefilter only excludes rules; the others are applied as without it, so the findings stay the same. It searches a
part of each expression (docs/decisions/0020), never more than the expression.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from importlib.util import find_spec
from itertools import groupby
from threading import Lock
from typing import Any, Final

from msgspec import Struct

from evidence.derive.secrets.joined_literals import SEAMS
from evidence.derive.secrets.rules import Rule
from evidence.patterns.secrets.pattern import DASHED_JOINT, JOINT
from evidence.patterns.secrets.provider_blocks import OPENED

_MOST_REFUSED: Final = 16
"""Rejected expressions of a rule file above which the prefilter does not pay off."""

_JOINTS: Final = (DASHED_JOINT, JOINT, OPENED)
"""The part of an expression from here on is the most expensive for hyperscan, and the part before it is rare enough."""

_UNALIKE: Final = re.compile(r"[^\x00-\x7f]|\\(?:[pPCv]|x\{|x[89a-fA-F]|[23][0-7]{2})")
"""Constructs that may match a multi-byte character, or a vertical tab, which hyperscan treats as a line end."""

_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_VERTICAL_TAB: Final = b"\v"
"""White space for hyperscan only."""

_FOLDED: Final = ("\u017f".encode(), "\u212a".encode())
"""The long s and the Kelvin sign: RE2 treats them as s and k when case does not matter."""

_BEGINNING: Final = 3
"""Consecutive letters from which hyperscan can start."""


class Candidates(Struct, frozen=True):
    """The indexes of the rules that may match a text, None for every rule, and whether literals may be joined in it."""

    rules: AbstractSet[int] | None
    joins: bool


EVERYTHING: Final = Candidates(None, joins=True)


class RulePrefilter:
    """The prefilter of some rules. Building one takes about a second; threads may share it."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._engine: Any = importlib.import_module("hyperscan")
        self._seams = len(rules)
        orders = [order for order, rule in enumerate(rules) if rule.expression]
        self._forms = {order: _forms(rules[order]) for order in orders if _is_read_alike(rules[order])}
        unread = frozenset(orders) - frozenset(self._forms)
        self._database, refused = self._most_of(list(self._forms))
        self.refused: frozenset[int] = unread | refused
        self._lock = Lock()

    def find_candidates(self, data: bytes) -> Candidates:
        text = to_single_byte_text(data)
        if text is None:
            return EVERYTHING
        found = set(self.refused)
        if self._database is not None and text:
            with self._lock:
                self._database.scan(text, match_event_handler=lambda order, *_: found.add(order))
        return Candidates(found - {self._seams}, self._seams in found)

    def _most_of(self, orders: Sequence[int]) -> tuple[Any, frozenset[int]]:
        """A database of the rules that hyperscan accepts, and the other rules."""
        try:
            return self._compiled(orders), frozenset()
        except self._engine.error:
            refused = frozenset(self._refused(orders))
            return self._compiled([order for order in orders if order not in refused]), refused

    def _refused(self, orders: Sequence[int]) -> list[int]:
        """The rules whose expressions hyperscan rejects, found by bisection."""
        try:
            self._compiled(orders)
        except self._engine.error as error:
            if len(orders) == 1:
                return list(orders)
            half = len(orders) // 2
            refused = [*self._refused(orders[:half]), *self._refused(orders[half:])]
            if len(refused) > _MOST_REFUSED:
                raise PrefilterUnsupported(f"expected expressions that hyperscan takes; {error}") from error
            return refused
        return []

    def _compiled(self, orders: Sequence[int]) -> Any:
        if not orders:
            return None
        flags = self._engine.HS_FLAG_SINGLEMATCH | self._engine.HS_FLAG_PREFILTER | self._engine.HS_FLAG_ALLOWEMPTY
        database = self._engine.Database()
        forms = [(order, form.encode()) for order in orders for form in self._forms[order]]
        ids, expressions = zip(*forms, *((self._seams, seam.encode()) for seam in SEAMS), strict=True)
        database.compile(expressions=expressions, ids=ids, flags=[flags] * len(ids))
        return database


class PrefilterUnsupported(Exception):
    """hyperscan cannot filter these rules; they are applied without a prefilter."""


def is_hyperscan_installed() -> bool:
    return find_spec("hyperscan") is not None


def to_single_byte_text(data: bytes) -> bytes | None:
    """The text with one byte for each character and ASCII unchanged; None where hyperscan would read it unlike RE2.

    RE2 counts characters and hyperscan counts bytes. A longer character keeps its first byte, a letter for neither
    engine.
    """
    if _VERTICAL_TAB in data:
        return None
    if data.isascii():
        return data
    if any(letter in data for letter in _FOLDED):
        return None
    try:
        data.decode()
    except UnicodeDecodeError:
        return None
    return data.translate(None, _CONTINUATION)


def _is_read_alike(rule: Rule) -> bool:
    """Whether hyperscan matches the rule as RE2 does in a text with one byte for each character."""
    return not any(_UNALIKE.search(text) for text in (rule.expression, *rule.anchors))


def _forms(rule: Rule) -> Sequence[str]:
    """Expressions of which each match of the rule contains one: an anchor with what follows it, the beginning of its
    expression, or its anchors.

    Hyperscan starts from required letters. For an expression without such letters it examines every byte, while anchors
    cost nothing as long as anchors with other beginnings are separate expressions.
    """
    if not rule.then and (rule.window is None or not rule.anchors or _begins_an_anchor(rule)):
        return [min((rule.expression.partition(joint)[0] for joint in _JOINTS), key=len)]
    edge = r"(?:^|\W|\\\w)" if rule.initial else ""
    return [f"(?i:{edge}(?:{'|'.join(map(re.escape, anchors))}){rule.then})" for anchors in _alike(rule.anchors)]


def _alike(anchors: Sequence[str]) -> Iterator[Iterator[str]]:
    """The anchors in groups with the same beginning."""
    return (group for _, group in groupby(sorted(anchors), key=lambda anchor: anchor[:_BEGINNING]))


def _begins_an_anchor(rule: Rule) -> bool:
    plain = rule.expression.replace("\\", "").lower()
    return any(anchor[:_BEGINNING] in plain for anchor in rule.anchors)
