"""Recognises remarks: weak signs in texts that cost no points, so that a reader does not take one for a finding."""

from __future__ import annotations

from typing import Final

from scoring.engine.rule import discover_rules
from scoring.results.outcome import Severity
from scoring.results.scorecard import Line

REMARK: Final = "a remark that costs nothing and is not published"

_SEPARATOR: Final = ": "


def is_remark(line: Line) -> bool:
    """Whether a line only informs: its rule has the lowest severity, and it costs no points."""
    declared = discover_rules().get(line.rule or "")
    return declared is not None and declared.severity is Severity.INFO and not line.points


def name_suspect_place(line: Line) -> str:
    """The path of the text that a line is about; for a remark about the whole server, the path in its message.

    A finding keeps the place of its line: which of the texts is left out would tell where an undisclosed one is.
    """
    place, _, words = line.why.partition(_SEPARATOR)
    return place if is_remark(line) and words and _SEPARATOR not in words else line.at
