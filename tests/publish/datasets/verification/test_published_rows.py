"""A table is parsed only where it is not what this code writes."""

from __future__ import annotations

from typing import Any

import pytest

from publish.datasets.format.columns import Columns, encode_lines
from publish.datasets.format.tables import OUTCOMES, RUN, TABLES
from publish.datasets.snapshot.reader import UnreadableFile
from publish.datasets.verification.published_rows import PublishedRows, RowParsers

ROW: dict[str, Any] = {
    "server": "s",
    RUN: "night",
    "rule": "tool-has-no-name",
    "params": "{}",
    "pages": "all",
    "state": "measured",
    "not_measured": None,
    "detail": "“x”\n",
    "checked": 2,
    "findings": 1,
    "tolerated": 0,
    "skipped": 0,
}
MINE: Columns = {name: [value, value] for name, value in ROW.items()}
LINES = encode_lines(MINE).splitlines()


def published(*lines: bytes) -> PublishedRows:
    return PublishedRows({OUTCOMES.name: b"\n".join((*lines, b""))} if lines else {}, RowParsers(comparable=False))


def test_rows_that_this_code_writes_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = published(*LINES)
    monkeypatch.setattr(RowParsers, "parse", lambda *_: pytest.fail("parsed"))

    assert rows.match({OUTCOMES.name: MINE}) == {OUTCOMES.name}
    assert rows.columns(OUTCOMES.name) == MINE
    assert rows[OUTCOMES.name] == [ROW, ROW]


@pytest.mark.parametrize(
    "lines",
    [
        LINES[:1],
        [*LINES, LINES[0]],
        [LINES[0], LINES[1].replace(b'"checked":2', b'"checked":3')],
        [LINES[0], LINES[1].replace(b'"checked":2', b'"checked": 2')],
    ],
    ids=["fewer", "more", "another value", "other bytes"],
)
def test_rows_of_other_bytes_are_those_that_are_published(lines: list[bytes]) -> None:
    rows = published(*lines)

    assert rows.match({OUTCOMES.name: MINE}) == frozenset()
    checked = [3 if b'"checked":3' in line else 2 for line in lines]
    assert [row["checked"] for row in rows[OUTCOMES.name]] == checked
    assert rows.columns(OUTCOMES.name)["checked"] == checked


def test_rows_of_other_bytes_are_checked_when_they_are_read() -> None:
    twice = LINES[1].replace(b'"checked":2', b'"checked":3,"checked":2')
    rows = published(LINES[0], twice)

    assert rows.match({OUTCOMES.name: MINE}) == frozenset()
    with pytest.raises(UnreadableFile, match="each column once"):
        rows.columns(OUTCOMES.name)


def test_a_table_without_rows_equals_one_that_should_have_none() -> None:
    assert published().match({OUTCOMES.name: {}}) == {OUTCOMES.name}
    assert published().match({OUTCOMES.name: MINE}) == frozenset()
    assert [published().columns(table.name) for table in TABLES] == [{} for _ in TABLES]
