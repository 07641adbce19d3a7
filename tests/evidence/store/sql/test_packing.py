"""Small forms are exact both ways, and what is no such form is named and never guessed at."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evidence.kinds.samples import FAILURES, Sample, write_samples
from evidence.store import CorruptBlob
from evidence.store.records.attempt_pages import pack_attempts, unpack_attempts
from evidence.store.records.attempts import extract_attempts
from evidence.store.records.record_notes import RecordNote, read_notes, write_notes
from evidence.store.scores.receipt_templates import TemplateValues, cut_template, fill_template
from evidence.store.sql.packing import (
    decode_zigzag,
    encode_zigzag,
    group_ranges,
    pack_numbers,
    pack_text,
    unpack_numbers,
    unpack_text,
)
from tests.evidence.store.build import AS_OF

AT = AS_OF.replace(microsecond=0)


def test_numbers_of_any_size_come_back() -> None:
    numbers = [0, 1, 127, 128, 16383, 16384, 2**31 - 1, 2**40]
    assert unpack_numbers(pack_numbers(numbers)) == numbers
    assert len(pack_numbers([127, 128])) == 3
    assert [decode_zigzag(encode_zigzag(number)) for number in range(-300, 300)] == list(range(-300, 300))
    assert sorted(map(encode_zigzag, range(-3, 4))) == list(range(7))


def test_a_number_without_an_end_is_damage() -> None:
    with pytest.raises(CorruptBlob, match="ends within a number"):
        unpack_numbers(pack_numbers([5, 300])[:-1])


def test_ranges_hold_the_numbers_in_their_order() -> None:
    chance = random.Random(7)
    for _ in range(200):
        numbers = [chance.randrange(12) for _ in range(chance.randrange(8))]
        assert [each for first, count in group_ranges(numbers) for each in range(first, first + count)] == numbers


@pytest.mark.parametrize("text", [b"", b"x", b"\x01\x02", b'[[0,{"requests":4,"exchanges":[]}]]' * 9, bytes(70_000)])
def test_texts_come_back(text: bytes) -> None:
    assert unpack_text(pack_text(text)) == text


@pytest.mark.parametrize(
    "packed",
    [b"", b"\x01", b"\x01\xff", b"\x02abc", b"\x01\x05abcdef", pack_text(bytes(999))[:-1], b"\x01\x00" + b"abc"],
)
def test_what_is_no_packed_text_is_damage(packed: bytes) -> None:
    with pytest.raises(CorruptBlob):
        unpack_text(packed)


def test_a_text_never_grows_beyond_the_size_it_states() -> None:
    bomb = pack_text(bytes(1 << 20))
    with pytest.raises(CorruptBlob):
        unpack_text(bomb[:1] + pack_numbers([100]) + bomb[1 + len(pack_numbers([1 << 20])) :])


def test_notes_come_back_to_the_microsecond() -> None:
    later = AS_OF + timedelta(seconds=61, microseconds=3)
    notes = [
        RecordNote(later, {"ms": 1.5, "text": "\ud800\x00"}),
        RecordNote(AS_OF - timedelta(days=3), {}),
        RecordNote(later, {}, ((7, 2), (31, 1))),
        RecordNote(later, {}, ()),
    ]
    assert read_notes(AS_OF, write_notes(AS_OF, notes)) == notes


@pytest.mark.parametrize("text", [b"", b"{}", b"[[1]]", b"[[1,2,3,4]]", b'[["a",{}]]', b"[[1,{},[1]]]", b"[[1e99,{}]]"])
def test_what_are_no_notes_is_damage(text: bytes) -> None:
    if text == b"{}":
        assert read_notes(AS_OF, text) == []
        return
    with pytest.raises(CorruptBlob):
        read_notes(AS_OF, text)


def test_attempts_come_back() -> None:
    chance = random.Random(3)
    attempts = [
        Sample(
            at=AT + timedelta(seconds=chance.randrange(-(10**6), 10**6)),
            failure=chance.choice(("", *FAILURES)),
            cold_ms=chance.choice([None, 0.0, 0.1, round(chance.uniform(0, 10**5), 1)]),
            warm_ms=chance.choice([None, round(chance.lognormvariate(5, 2), 1)]),
        )
        for _ in range(500)
    ]
    assert unpack_attempts(pack_attempts(attempts)) == tuple(attempts)
    assert extract_attempts(write_samples(attempts)) == tuple(attempts)
    assert len(pack_attempts(attempts)) < 10 * len(attempts)


def test_an_observation_that_is_more_than_attempts_stays_as_it_is() -> None:
    known = write_samples([Sample(at=AT, cold_ms=16.0)])
    assert extract_attempts(known) is not None
    row = ["2026-11-21T03:00:00Z", "", 16.0, None]
    others: tuple[Mapping[str, Any], ...] = (
        {},
        {"samples": []},
        {**known, "more": 1},
        {"samples": [row, "no row"]},
        {"samples": [[*row[:2], 16, None]]},  # as text another one, although the numbers are equal
        {"samples": [[*row[:2], 16.04, None]]},
        {"samples": [[*row[:2], 1e300, None]]},
        {"samples": [["0001-01-01T00:00:00Z", *row[1:]]]},
    )
    for other in others:
        found = extract_attempts(other)
        assert found is None or write_samples(found) == other, other


def test_holes_are_cut_only_where_filling_them_gives_the_same() -> None:
    filling = TemplateValues.of(AT, {"listing": "aa", "access": "bb"})
    body = b'{"as_of":"%s","evidence":{"access":"bb","listing":"aa"},"lines":[]}' % AT.isoformat().encode()
    cut_out = cut_template(body, filling)
    assert cut_out == b',"evidence":{},"lines":[]}'
    assert fill_template(cut_out, filling) == body
    other = TemplateValues.of(datetime(2030, 1, 1, tzinfo=UTC), {})
    assert fill_template(cut_out, other) == b'{"as_of":"2030-01-01T00:00:00+00:00","evidence":{},"lines":[]}'
    for odd in (b"", b"{}", body[1:], body.replace(b"aa", b"ab"), body.replace(b"2026", b"2027")):
        assert cut_template(odd, filling) is None
    twice = body.replace(b"[]", b'["",{"x":1,"evidence":{}}]')
    early = body.replace(b'"evidence"', b'"e":{"x":1,"evidence":{}},"evidence"', 1)
    for hostile in (twice, early):
        found = cut_template(hostile, filling)
        assert found is None or fill_template(found, filling) == hostile


def test_a_receipt_without_its_hole_is_damage() -> None:
    with pytest.raises(CorruptBlob, match="no place"):
        fill_template(b"{}", TemplateValues.of(AT, {}))
