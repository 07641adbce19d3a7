"""Names of runs sort by time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from workers.runs.identifiers import make_run_id

AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def test_runs_of_one_second_sort_by_their_beginning() -> None:
    moments = [AT + timedelta(microseconds=step) for step in (0, 1, 9, 16, 4096, 99_999, 500_000, 999_999)]
    assert sorted(names := [make_run_id(at) for at in moments]) == names
    assert sorted(retests := [make_run_id(at, "retest") for at in moments]) == retests


def test_two_runs_of_one_moment_have_two_names() -> None:
    assert make_run_id(AT) != make_run_id(AT)
