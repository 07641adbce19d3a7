"""Parses timestamps of the evidence and computes ages in days."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

_DAY: Final = 86_400


def days_between(earlier: str | None, later: datetime) -> int | None:
    """Whole days from an RFC 3339 time or date to a moment, at least 0; None when the text is not a time."""
    moment = parse_timestamp(earlier)
    return None if moment is None else max(0, int((later - moment).total_seconds()) // _DAY)


def newest_timestamp(moments: Iterable[str | None]) -> str | None:
    """The latest of the valid timestamps, or None."""
    known = [(moment, text) for text in moments if (moment := parse_timestamp(text)) is not None]
    return max(known)[1] if known else None


def is_earlier(one: str | None, other: str | None) -> bool:
    """Whether both are valid timestamps and the first is earlier."""
    first, second = parse_timestamp(one), parse_timestamp(other)
    return first is not None and second is not None and first < second


def parse_timestamp(text: str | None) -> datetime | None:
    """Parse an RFC 3339 time; a date is its midnight in UTC; None for other text."""
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    if moment is None:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
