"""Tolerant readers of values in earlier records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from evidence.canonical import Json, NotJson, parse_json
from evidence.json_members import object_or_empty
from evidence.model import Absent, Record

CARRIED_FROM: Final = "carried_from"
"""Member of the observation of a record that repeats an earlier one, because nothing on which it depends has changed:
the time of that observation."""


def parse_time(value: Json) -> datetime | None:
    """An ISO 8601 time with a time zone; None for anything else."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is not None else None


def read_time(record: Record | None, member: str) -> datetime | None:
    return parse_time(record.observation.get(member)) if record else None


def parse_body(record: Record | None) -> Mapping[str, Json]:
    """The members of a record's body; empty without a record or a valid body."""
    if record is None or isinstance(record.content, Absent):
        return {}
    try:
        return object_or_empty(parse_json(record.content.body))
    except NotJson:
        return {}
