"""The stored form of attempts to connect: pages of 32, about 8 bytes each, numbered in the order of their storage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Final, TypeAlias

from msgspec import Struct

from evidence.kinds.samples import FAILURES, Sample, SampleObservation
from evidence.store.errors import CorruptBlob
from evidence.store.sql.packing import decode_zigzag, encode_zigzag, pack_numbers, unpack_numbers

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Ranges of attempt numbers: the first number and the count."""

ATTEMPTS_PER_PAGE: Final = 32

_MOST_MS: Final = 1e12
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)

# Positions in this tuple are stored, so a new failure is added at the end.
_OUTCOMES: Final = ("", *FAILURES)

_NUMBER: Final = rb"[\x80-\xff]{0,8}[\x00-\x7f]"
_ATTEMPT: Final = _NUMBER + rb"[\x00-\x%02x]" % (len(_OUTCOMES) - 1) + _NUMBER * 2
_PAGE: Final = re.compile(rb"(?:%s)*" % _ATTEMPT)
_CONTINUED: Final = bytes(range(0x80, 0x100))

# A worker reads a page before it collects a server and again when it writes the records. About 3 MB.
_CACHED_PAGES: Final = 512


class StoredAttempts(Struct, frozen=True):
    """The newest attempts of a server, the number of the first of them, and the newest page as stored."""

    first: int = 0
    attempts: tuple[Sample, ...] = ()
    page: bytes = b""

    @property
    def end(self) -> int:
        """The number of the next attempt."""
        return self.first + len(self.attempts)

    def covers_since(self, since: datetime) -> bool:
        """Whether these include all attempts since a moment."""
        return self.first == 0 or self.attempts[0].at <= since

    def list_changed_pages(self, new: Sequence[Sample]) -> Iterator[tuple[int, bytes]]:
        """The pages, with their numbers, that adding attempts changes; the newest stored page is appended to."""
        number, rest = self.end, list(new)
        while rest:
            page, filled = divmod(number, ATTEMPTS_PER_PAGE)
            added, rest = rest[: ATTEMPTS_PER_PAGE - filled], rest[ATTEMPTS_PER_PAGE - filled :]
            # Only the newest stored page can be partly filled.
            yield page, self.page + pack_attempts(added, self.attempts[-1].at) if filled else pack_attempts(added)
            number += len(added)


def unpack_stored_attempts(first_page: int, pages: Sequence[bytes]) -> StoredAttempts:
    """The attempts on the newest pages of a server, at least one page."""
    attempts = tuple(attempt for packed in pages for attempt in unpack_attempts(packed))
    return StoredAttempts(first_page * ATTEMPTS_PER_PAGE, attempts, pages[-1])


def find_page_range(ranges: Ranges) -> tuple[int, int]:
    """The first and the last page of attempts in these ranges, at least one range."""
    last = max(first + count - 1 for first, count in ranges)
    return min(first for first, _ in ranges) // ATTEMPTS_PER_PAGE, last // ATTEMPTS_PER_PAGE


def select_attempts(pages: Mapping[int, bytes], ranges: Ranges) -> SampleObservation:
    """The attempts with these numbers, unpacked at the first read; raise CorruptBlob when one is missing."""
    for first, number in ranges:
        last = first + number - 1
        for page in range(first // ATTEMPTS_PER_PAGE, last // ATTEMPTS_PER_PAGE + 1):
            if count_attempts(pages.get(page, b"")) <= min(last - page * ATTEMPTS_PER_PAGE, ATTEMPTS_PER_PAGE - 1):
                raise CorruptBlob(f"attempts of a server are missing on page {page}")
    return SampleObservation(partial(_unpack_ranges, pages, ranges))


def is_storable(sample: Sample) -> bool:
    """Whether the packed form can hold an attempt without loss."""
    return (
        sample.at.tzinfo is UTC
        and sample.at >= _EPOCH
        and not sample.at.microsecond
        and sample.failure in _OUTCOMES
        and all(value is None or _is_tenths(value) for value in (sample.cold_ms, sample.warm_ms))
    )


def pack_attempts(attempts: Iterable[Sample], after: datetime = _EPOCH) -> bytes:
    """Attempts as four numbers each: seconds since the attempt before, outcome, cold and warm latency.

    A latency is 0 when unknown, otherwise one more than its tenths of milliseconds.
    """
    numbers: list[int] = []
    last = (after - _EPOCH) // _SECOND
    for at, failure, cold_ms, warm_ms in attempts:
        second = (at - _EPOCH) // _SECOND
        numbers += [encode_zigzag(second - last), _OUTCOMES.index(failure), _tenths(cold_ms), _tenths(warm_ms)]
        last = second
    return pack_numbers(numbers)


@lru_cache(_CACHED_PAGES)
def unpack_attempts(packed: bytes) -> tuple[Sample, ...]:
    """The packed attempts; raise CorruptBlob on bytes that `pack_attempts` does not write."""
    count_attempts(packed)
    numbers = iter(unpack_numbers(packed))
    found: list[Sample] = []
    second = 0
    try:
        for passed, outcome, cold, warm in zip(numbers, numbers, numbers, numbers, strict=True):
            second += decode_zigzag(passed)
            at = datetime.fromtimestamp(second, UTC)
            found.append(Sample(at, _OUTCOMES[outcome], _milliseconds(cold), _milliseconds(warm)))
    except (ValueError, OverflowError, OSError) as error:
        raise CorruptBlob(f"attempts of a server cannot be read: {error}") from error
    return tuple(found)


def count_attempts(packed: bytes) -> int:
    """The number of attempts on a page, without unpacking them; raise CorruptBlob when the page is damaged."""
    if not _PAGE.fullmatch(packed):
        raise CorruptBlob(f"attempts of a server cannot be read: {packed[:40].hex()}")
    return len(packed.translate(None, _CONTINUED)) // 4


def _unpack_ranges(pages: Mapping[int, bytes], ranges: Ranges) -> tuple[Sample, ...]:
    return tuple(
        attempt
        for first, number in ranges
        for page in range(first // ATTEMPTS_PER_PAGE, (first + number - 1) // ATTEMPTS_PER_PAGE + 1)
        for attempt in unpack_attempts(pages[page])[
            max(first - page * ATTEMPTS_PER_PAGE, 0) : first + number - page * ATTEMPTS_PER_PAGE
        ]
    )


def _is_tenths(milliseconds: float) -> bool:
    is_float = isinstance(milliseconds, float)
    return is_float and 0 <= milliseconds < _MOST_MS and _milliseconds(_tenths(milliseconds)) == milliseconds


def _tenths(milliseconds: float | None) -> int:
    return 0 if milliseconds is None else round(milliseconds * 10) + 1


def _milliseconds(tenths: int) -> float | None:
    return None if tenths == 0 else (tenths - 1) / 10
