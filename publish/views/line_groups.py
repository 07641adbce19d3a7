"""Lines of a receipt grouped by rule, so that a reader sees each fault once with its count and total."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from msgspec import Struct

from scoring.engine.rule import discover_rules
from scoring.results.scorecard import Line
from scoring.scopes.base import Param, Scope, Tool

_NOUNS: Final[Mapping[type[Scope], str]] = {Tool: "tools", Param: "parameters"}


class LineGroup(Struct, frozen=True, kw_only=True):
    """Lines of one rule, in the order of the receipt; a line without a rule is a group of its own."""

    lines: tuple[Line, ...]

    @property
    def rule(self) -> str | None:
        return self.lines[0].rule

    @property
    def cites(self) -> str:
        return self.lines[0].cites

    @property
    def points(self) -> Decimal:
        return sum((line.points for line in self.lines), Decimal(0))

    @property
    def places(self) -> int:
        """How many different places the lines name."""
        return len({line.at for line in self.lines})

    @property
    def count(self) -> str:
        """How often the fault was found: "38 of 48 tools", "3 times"; empty for one line of an unknown total."""
        number, checked = len(self.lines), self.lines[0].checked
        if checked > 1 and number == self.places <= checked:
            return f"{number} of {checked}{self._noun}"
        return f"{number} times" if number > 1 else ""

    @property
    def _noun(self) -> str:
        declared = discover_rules().get(self.rule or "")
        return f" {_NOUNS[declared.scope]}" if declared and declared.scope in _NOUNS else ""

    @property
    def why(self) -> str:
        """The message if all lines have the same, else the title of the rule."""
        if len({line.why for line in self.lines}) == 1:
            return self.lines[0].why
        declared = discover_rules().get(self.rule or "")
        return declared.title if declared else self.lines[0].why

    @property
    def remedy(self) -> str:
        """How to fix it; empty for a line without a rule."""
        declared = discover_rules().get(self.rule or "")
        return declared.remedy if declared else ""


def separate_lines(lines: Iterable[Line]) -> tuple[LineGroup, ...]:
    """Every line as a group of its own."""
    return tuple(LineGroup(lines=(line,)) for line in lines)


def group_lines(lines: Iterable[Line]) -> tuple[LineGroup, ...]:
    """Groups by rule and published id, in the order of their first line."""
    found: dict[tuple[str, str | None, int], list[Line]] = {}
    for number, line in enumerate(lines):
        found.setdefault((line.cites, line.rule, -1 if line.rule else number), []).append(line)
    return tuple(LineGroup(lines=tuple(group)) for group in found.values())
