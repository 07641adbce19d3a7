"""Adds one attempt to connect to the window of the last 30 days (evidence/kinds/samples.py)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from evidence.canonical import Json
from evidence.kinds import samples
from evidence.kinds.samples import Sample
from evidence.model import Absent, Observed, Reason, Record

# The server answered and requires something that we do not have.
_GATED: Final = frozenset(
    {Reason.OAUTH_REQUIRED, Reason.CREDENTIALS_REQUIRED, Reason.PAYMENT_REQUIRED, Reason.FORBIDDEN}
)
_FAILED: Final = {
    Reason.UNREACHABLE: samples.UNREACHABLE,
    Reason.TIMEOUT: samples.TIMEOUT,
    Reason.TLS_ERROR: samples.TLS_ERROR,
}


def roll_sample_window(
    earlier: Record | None,
    outcome: Observed | Absent,
    *,
    at: datetime,
    cold_ms: float | None,
    warm_ms: float | None,
) -> tuple[Observed | Absent, Mapping[str, Json]]:
    """Content and observation of a samples record: the earlier window and the outcome of connecting at `at`.

    `earlier` is the server's samples record of the run before, whatever its content. `outcome` is the content of this
    run's listing record. Absent with the reason of `outcome` when the window holds no sample, and after an opt-out, of
    which nothing is kept.
    """
    if isinstance(outcome, Absent) and outcome.reason is Reason.OPTED_OUT:
        return outcome, {}
    known = samples.read_samples(earlier.observation) if earlier else ()
    tonight = make_sample(outcome, at=at, cold_ms=cold_ms, warm_ms=warm_ms)
    kept = samples.select_window((*known, tonight) if tonight else known, at)
    if kept:
        return samples.compose_samples(kept), samples.write_samples(kept)
    return outcome if isinstance(outcome, Absent) else Absent(Reason.NOT_COLLECTED), {}


def make_sample(
    outcome: Observed | Absent, *, at: datetime, cold_ms: float | None = None, warm_ms: float | None = None
) -> Sample | None:
    """One attempt to connect as a sample; None when it shows nothing about the server's stability.

    That is so for our own faults and limits, for a refusal by robots rules or for too many requests, and for what is no
    MCP server. The duration of a failure is not kept: it shows only our own deadline.
    """
    if isinstance(outcome, Observed) or outcome.reason in _GATED:
        return Sample(at=at, cold_ms=cold_ms, warm_ms=warm_ms)
    failure = _FAILED.get(outcome.reason)
    if failure is None:
        return None
    is_status = failure == samples.UNREACHABLE and outcome.detail.startswith("HTTP 5")
    return Sample(at=at, failure=samples.SERVER_ERROR if is_status else failure)
