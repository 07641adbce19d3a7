"""What counts as an attempt to connect, and how attempts are carried from run to run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crawler.collectors.protocol.samples.sample_window import make_sample, roll_sample_window
from evidence.kinds import samples
from evidence.kinds.samples import Samples
from evidence.model import Absent, Observed, Reason, Record

NIGHT = datetime(2026, 11, 21, 3, tzinfo=UTC)
OPEN = Observed(b"{}")
GATED = {Reason.OAUTH_REQUIRED, Reason.CREDENTIALS_REQUIRED, Reason.PAYMENT_REQUIRED, Reason.FORBIDDEN}
FAILED = {Reason.UNREACHABLE: "unreachable", Reason.TIMEOUT: "timeout", Reason.TLS_ERROR: "tls_error"}


def nights(*outcomes: Observed | Absent, apart: timedelta = timedelta(days=1)) -> Record:
    """The last record of so many nights."""
    record: Record | None = None
    for number, outcome in enumerate(outcomes):
        at = NIGHT + apart * number
        content, observation = roll_sample_window(record, outcome, at=at, cold_ms=20.0, warm_ms=None)
        record = Record(
            server="srv_1",
            kind=samples.KIND,
            schema=samples.SCHEMA,
            collector="protocol",
            collector_version=1,
            observed_at=at,
            content=content,
            observation=observation,
        )
    assert record
    return record


def seen(record: Record) -> Samples:
    assert isinstance(record.content, Observed), record.content
    return Samples.parse(record.content.body)


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_a_success_a_failure_or_no_sample(reason: Reason) -> None:
    sample = make_sample(Absent(reason, "words"), at=NIGHT)
    if reason in GATED:
        assert sample and not sample.failure
    elif reason in FAILED:
        assert sample and sample.failure == FAILED[reason]
    else:
        assert sample is None


def test_an_http_5xx_is_a_failure_of_its_own() -> None:
    sample = make_sample(Absent(Reason.UNREACHABLE, "HTTP 503 to initialize"), at=NIGHT)
    assert sample and sample.failure == "5xx"


def test_nights_add_up() -> None:
    record = nights(OPEN, Absent(Reason.TIMEOUT, "t"), Absent(Reason.OAUTH_REQUIRED, "o"), OPEN)
    assert seen(record) == Samples(window_days=30, samples=4, successes=3, failures={"timeout": 1}, days=4)
    assert [one.cold_ms for one in samples.read_samples(record.observation)] == [20.0, None, 20.0, 20.0]


def test_a_night_that_says_nothing_keeps_the_window() -> None:
    record = nights(OPEN, Absent(Reason.COLLECTOR_ERROR), Absent(Reason.RATE_LIMITED), OPEN)
    assert seen(record).samples == 2


def test_samples_older_than_the_window_are_dropped() -> None:
    record = nights(*[OPEN] * 40)
    assert (seen(record).samples, seen(record).days) == (30, 30)


def test_a_steady_server_has_equal_evidence_once_the_window_is_full() -> None:
    assert nights(*[OPEN] * 31).digest == nights(*[OPEN] * 45).digest


def test_nothing_said_leaves_no_body() -> None:
    record = nights(Absent(Reason.BLOCKED_BY_WAF, "HTTP 403 with a bot challenge"))
    assert record.content == Absent(Reason.BLOCKED_BY_WAF, "HTTP 403 with a bot challenge")
    assert record.observation == {}


def test_after_an_opt_out_nothing_is_kept() -> None:
    record = nights(OPEN, OPEN, Absent(Reason.OPTED_OUT, "by its owner"))
    assert (record.content, record.observation) == (Absent(Reason.OPTED_OUT, "by its owner"), {})
