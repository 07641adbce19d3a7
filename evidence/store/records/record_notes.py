"""The notes of a record set as one text: when each record was made, and its observation.

    [[MICROSECONDS, OBSERVATION] | [MICROSECONDS, {}, [FIRST, COUNT, ...]], ...]

One member for each record, in the order of kinds. MICROSECONDS count from the member before, at first from the run's
`as_of`. The second form is that of `samples`: ranges of the server's attempts, see evidence/store/records/attempts.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from evidence.canonical import Json
from evidence.store.errors import CorruptBlob
from evidence.store.sql.json_columns import from_json, to_json

_MICROSECOND = timedelta(microseconds=1)


class RecordNote(Struct, frozen=True):
    """When a record was made and its observation; `attempts` are the ranges of a samples record."""

    at: datetime
    observation: Mapping[str, Json]
    attempts: tuple[tuple[int, int], ...] | None = None


def write_notes(as_of: datetime, notes: Sequence[RecordNote]) -> bytes:
    """The text of notes in the order of kinds; raise ValueError on a time without a zone."""
    members: list[Json] = []
    last = as_of
    for note in notes:
        if note.at.tzinfo is None:
            raise ValueError(f"{note.at!r} has no time zone")
        member: list[Json] = [(note.at - last) // _MICROSECOND, dict(note.observation)]
        if note.attempts is not None:
            member.append([number for part in note.attempts for number in part])
        members.append(member)
        last = note.at
    return to_json(members).encode("ascii")


def read_notes(as_of: datetime, text: bytes) -> list[RecordNote]:
    """The notes of a text; raise CorruptBlob on anything that `write_notes` did not write."""
    try:
        notes: list[RecordNote] = []
        last = as_of
        for passed, observation, *attempts in from_json(text):
            last += passed * _MICROSECOND
            notes.append(RecordNote(last, dict(observation), _ranges(attempts[0]) if attempts else None))
    except (ValueError, TypeError, OverflowError) as error:
        raise CorruptBlob(f"notes of a record set cannot be read: {error}") from error
    return notes


def _ranges(numbers: Any) -> tuple[tuple[int, int], ...]:
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))
