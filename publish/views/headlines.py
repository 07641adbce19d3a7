"""Detects scores that appeared or disappeared; such a turn is never shown as a number of points."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum


class Turn(StrEnum):
    """Whether a server lost its score, or has one now."""

    LOST_SCORE = "lost its score"
    GAINED_SCORE = "has a score now"


def find_turn(before: Decimal | None, after: Decimal | None) -> Turn | None:
    """The turn between two results; None when both or none has a score."""
    if (before is None) == (after is None):
        return None
    return Turn.LOST_SCORE if after is None else Turn.GAINED_SCORE
