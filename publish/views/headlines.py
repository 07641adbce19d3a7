"""Detects scores that appeared or disappeared; such a turn is never shown as a number of points."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum


class Turn(StrEnum):
    """A server went dark when its score disappeared, and came back when it has one again."""

    WENT_DARK = "went dark"
    CAME_BACK = "came back"


def find_turn(before: Decimal | None, after: Decimal | None) -> Turn | None:
    """The turn between two results; None when both or none has a score."""
    if (before is None) == (after is None):
        return None
    return Turn.WENT_DARK if after is None else Turn.CAME_BACK
