"""A window of samples gives stable counts, keeps what is recent, and reads anything."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evidence.kinds.samples import (
    MAX_SAMPLES,
    WINDOW,
    Percentiles,
    Sample,
    Samples,
    compose_samples,
    compute_cold_latency,
    compute_warm_latency,
    read_samples,
    select_window,
    write_samples,
)

NOW = datetime(2026, 11, 21, 3, tzinfo=UTC)

_TIMES = st.datetimes().map(lambda at: f"{at:%Y-%m-%dT%H:%M:%SZ}")
_NEARLY = st.from_regex(r"\A\d{1,5}-\d{1,2}-\d{1,2}[Tt ]?\d{1,3}:?\d{1,2}:\d{1,2}(\.\d+)?(Z|z|\+00:00)?\n?\Z")
_MARRED = st.tuples(_TIMES, st.integers(0, 20), st.text(max_size=2)).map(lambda one: one[0][: one[1]] + one[2])


def test_counts_of_a_window() -> None:
    taken = [Sample(at=NOW - timedelta(hours=6 * number)) for number in range(5)]
    seen = Samples.parse(
        compose_samples([*taken, Sample(at=NOW, failure="timeout"), Sample(at=NOW, failure="5xx")]).body
    )
    assert seen == Samples(window_days=30, samples=7, successes=5, failures={"timeout": 1, "5xx": 1}, days=2)


def test_a_body_tells_no_time_and_no_latency() -> None:
    later = NOW + timedelta(days=3)
    assert (
        compose_samples([Sample(at=NOW, cold_ms=3)]).body
        == compose_samples([Sample(at=later, cold_ms=900, warm_ms=1)]).body
    )


def test_days_are_those_of_utc() -> None:
    east = datetime(2026, 11, 22, 1, tzinfo=UTC).astimezone(datetime.fromisoformat("2026-11-22T00:00+05:00").tzinfo)
    assert Samples.parse(compose_samples([Sample(at=east), Sample(at=east + timedelta(hours=1))]).body).days == 1


def test_the_window_ends_after_30_days_and_holds_no_future() -> None:
    inside = Sample(at=NOW - WINDOW + timedelta(seconds=1))
    others = [Sample(at=NOW - WINDOW), Sample(at=NOW + timedelta(seconds=1))]
    assert select_window([*others, inside], NOW) == (inside,)


def test_the_newest_samples_are_kept_when_there_are_too_many() -> None:
    many = [Sample(at=NOW - timedelta(minutes=number)) for number in range(MAX_SAMPLES + 50)]
    kept = select_window(many, NOW)
    assert (len(kept), kept[-1].at, kept[0].at) == (MAX_SAMPLES, NOW, NOW - timedelta(minutes=MAX_SAMPLES - 1))


def test_a_carried_sample_that_is_recorded_again_counts_once() -> None:
    sample = Sample(at=NOW.replace(microsecond=250_000), failure="timeout")
    carried = read_samples(write_samples([sample]))
    assert len(select_window([*carried, sample], NOW + timedelta(seconds=1))) == 1


def test_an_observation_is_read_as_it_was_written() -> None:
    taken = (Sample(at=NOW, cold_ms=12.3, warm_ms=4.0), Sample(at=NOW + timedelta(seconds=5), failure="tls_error"))
    assert read_samples(json.loads(json.dumps(dict(write_samples(taken))))) == taken


@pytest.mark.parametrize(
    "row",
    [
        None,
        "2026-11-21T03:00:00Z",
        [],
        ["2026-11-21T03:00:00Z", ""],
        ["yesterday", "", None, None],
        [3, "", None, None],
        ["2026-11-21T03:00:00Z", "bad luck", None, None],
        ["2026-11-21T03:00:00Z", [], None, None],
    ],
)
def test_rows_that_are_no_samples_are_left_out(row: Any) -> None:
    good: Any = ["2026-11-21T03:00:00Z", "", True, -4]
    assert read_samples({"samples": [row, good]}) == (Sample(at=NOW),)


@given(st.one_of(_TIMES, _NEARLY, _MARRED, st.text()))
@example("2026-11-21T24:00:00Z")
@example("2026-02-30T00:00:00Z")
@example("2026-11-21T23:59:60Z")
@example("0000-01-01T00:00:00Z")
@example("2026-1-2T3:4:5Z")
@example("٢٠٢٦-11-21T03:00:00Z")
@example("2026-11-21T03:00:00Z\n")
def test_times_are_read_as_strptime_reads_them(stated: str) -> None:
    try:
        expected = [Sample(at=datetime.strptime(stated, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC))]
    except ValueError:
        expected = []
    assert list(read_samples({"samples": [[stated, "", None, None]]})) == expected


@pytest.mark.parametrize("observation", [{}, {"samples": "text"}, {"samples": {"a": 1}}])
def test_an_observation_without_samples_holds_none(observation: Any) -> None:
    assert read_samples(observation) == ()


def test_percentiles_by_nearest_rank() -> None:
    taken = [Sample(at=NOW, cold_ms=float(number)) for number in range(1, 101)]
    assert compute_cold_latency(taken) == Percentiles(p50=50.0, p95=95.0, samples=100)
    assert compute_cold_latency(taken[:1]) == Percentiles(p50=1.0, p95=1.0, samples=1)
    assert compute_warm_latency(taken) is None


@pytest.mark.parametrize("body", [b"[]", b'{"samples":"many","failures":[1],"days":true}'])
def test_a_body_of_another_shape_counts_nothing(body: bytes) -> None:
    assert Samples.parse(body) == Samples(window_days=0, samples=0, successes=0, failures={}, days=0)
