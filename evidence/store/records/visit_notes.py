"""What a visit was like, for all of its records in one text: when each was made, and its observation.

    [[MICROSECONDS, OBSERVATION] | [MICROSECONDS, {}, [FIRST, COUNT, ...]], ...]

One member a record, in the order of kinds. MICROSECONDS have passed since the member before, at first since the run's
`as_of`. The third form is that of `samples`: ranges of the server's attempts, see evidence/store/records/attempts.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from evidence.canonical import Json
from evidence.store.errors import CorruptBlob
from evidence.store.sql.json_columns import from_json, to_json

_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class VisitNote:
    """When a record was made and what its visit was like; `attempts` are ranges of attempts that belong to it."""

    at: datetime
    observation: Mapping[str, Json]
    attempts: tuple[tuple[int, int], ...] | None = None


def write_notes(as_of: datetime, notes: Sequence[VisitNote]) -> bytes:
    """The text of the notes of a visit, in the order of kinds; raise ValueError on a time without a zone."""
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


def read_notes(as_of: datetime, text: bytes) -> list[VisitNote]:
    """The notes of a text; raise CorruptBlob on anything that `write_notes` did not write."""
    try:
        notes: list[VisitNote] = []
        last = as_of
        for passed, observation, *attempts in from_json(text):
            last += passed * _MICROSECOND
            notes.append(VisitNote(last, dict(observation), _ranges(attempts[0]) if attempts else None))
    except (ValueError, TypeError, OverflowError) as error:
        raise CorruptBlob(f"notes of a visit cannot be read: {error}") from error
    return notes


def _ranges(numbers: Any) -> tuple[tuple[int, int], ...]:
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))
