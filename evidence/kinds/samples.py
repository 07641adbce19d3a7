"""Kind `samples`: the share of successful connections to a server over the last 30 days.

Body, schema 1 (canonical JSON; counts only, so that equal histories have equal bodies):

    {"window_days": 30, "samples": INT, "successes": INT, "failures": {FAILURE: INT, ...}, "days": INT}

A sample is one attempt to connect, in a run or as an availability sample between two runs. It succeeded when the server
opened or asked for credentials or payment. FAILURE is one of `FAILURES`; an attempt that failed for another reason does
not show the server's stability and is not a sample. `days` counts distinct days in UTC.

The record's observation holds the samples themselves, oldest first and at most MAX_SAMPLES of them. It is carried from
run to run, also beside an Absent content:

    {"samples": [[TIME, "" | FAILURE, COLD_MS | null, WARM_MS | null], ...]}

TIME is ISO 8601 in UTC to the second. COLD_MS is the latency of the first question, connecting included; WARM_MS that
of a later one on the same connection; a failure has neither.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

from msgspec import Struct

from evidence.canonical import Json, canonical_json, parse_json
from evidence.json_members import count_or_zero, object_or_empty, read_members
from evidence.kinds.traits import FACTS, Traits
from evidence.model import Observed

KIND: Final = "samples"
SCHEMA: Final = 1
TRAITS: Final = Traits(licence=FACTS)

WINDOW: Final = timedelta(days=30)
MAX_SAMPLES: Final = 400

UNREACHABLE: Final = "unreachable"
TIMEOUT: Final = "timeout"
TLS_ERROR: Final = "tls_error"
SERVER_ERROR: Final = "5xx"
FAILURES: Final = (UNREACHABLE, TIMEOUT, TLS_ERROR, SERVER_ERROR)

_MEMBER: Final = "samples"
_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"
_WRITTEN: Final = re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\dZ", re.ASCII)


class Sample(NamedTuple):
    """One attempt to connect. `failure` is empty for a success, else one of FAILURES; latencies in milliseconds.

    A tuple, because every nightly run handles all attempts of 30 days and a data class takes several times as long to
    make.
    """

    at: datetime
    failure: str = ""
    cold_ms: float | None = None
    warm_ms: float | None = None


class SampleObservation(Mapping[str, Json]):
    """The observation with the samples; its rows are built when they are first read.

    A nightly run passes the window of every server on three times without reading it.
    """

    __slots__ = ("_find", "_found")

    def __init__(self, find: Callable[[], tuple[Sample, ...]]) -> None:
        self._find = find
        self._found: tuple[Sample, ...] | None = None

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The samples with the precision of their rows: seconds and tenths of milliseconds."""
        if self._found is None:
            self._found = self._find()
        return self._found

    def __getitem__(self, name: str) -> Json:
        if name != _MEMBER:
            raise KeyError(name)
        return [_row(sample) for sample in self.samples]

    def __iter__(self) -> Iterator[str]:
        return iter((_MEMBER,))

    def __len__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        return self.samples == other.samples if isinstance(other, SampleObservation) else super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(dict(self))


class Percentiles(Struct, frozen=True):
    """Median and 95th percentile in milliseconds, by nearest rank, and the number of samples."""

    p50: float
    p95: float
    samples: int


class Samples(Struct, frozen=True):
    """Typed, tolerant view of a samples body."""

    window_days: int
    samples: int
    successes: int
    failures: Mapping[str, int]
    days: int

    @staticmethod
    def parse(body: bytes) -> Samples:
        """View over the body; raise NotJson when the bytes are not JSON. A malformed count is 0."""
        members = object_or_empty(parse_json(body))
        failures = object_or_empty(members.get("failures"))
        return read_members(Samples, members, failures={name: count_or_zero(n) for name, n in failures.items()})


def compose_samples(samples: Sequence[Sample]) -> Observed:
    """The content for the samples of a window, which must not be empty."""
    failures = Counter(sample.failure for sample in samples if sample.failure)
    body: dict[str, Json] = {
        "window_days": WINDOW.days,
        "samples": len(samples),
        "successes": len(samples) - failures.total(),
        "failures": dict(failures),
        "days": len({(at if at.tzinfo is UTC else at.astimezone(UTC)).date() for at, *_ in samples}),
    }
    return Observed(canonical_json(body))


def select_window(samples: Iterable[Sample], now: datetime) -> tuple[Sample, ...]:
    """The samples of the 30 days before `now`, oldest first, one per second, at most the newest MAX_SAMPLES."""
    since = now - WINDOW
    by_time = {
        sample.at.replace(microsecond=0) if sample.at.microsecond else sample.at: sample
        for sample in samples
        if since < sample.at <= now
    }
    return tuple(by_time[at] for at in sorted(by_time))[-MAX_SAMPLES:]


def read_samples(observation: Mapping[str, Json]) -> tuple[Sample, ...]:
    """The samples of an observation; malformed rows are left out."""
    if isinstance(observation, SampleObservation):
        return observation.samples
    rows = observation.get(_MEMBER)
    found = (_sample(row) for row in rows) if isinstance(rows, Sequence) and not isinstance(rows, str) else ()
    return tuple(sample for sample in found if sample is not None)


def write_samples(samples: Iterable[Sample]) -> SampleObservation:
    """The observation for these samples, the inverse of `read_samples`."""
    return SampleObservation(partial(_stated, tuple(samples)))


def compute_cold_latency(samples: Iterable[Sample]) -> Percentiles | None:
    """Latencies of the first answer on a new connection; None without measurements."""
    return _percentiles([sample.cold_ms for sample in samples if sample.cold_ms is not None])


def compute_warm_latency(samples: Iterable[Sample]) -> Percentiles | None:
    """Latencies of later answers on the same connection; None without measurements."""
    return _percentiles([sample.warm_ms for sample in samples if sample.warm_ms is not None])


def _percentiles(values: Sequence[float]) -> Percentiles | None:
    if not values:
        return None
    ordered = sorted(values)
    return Percentiles(_rank(ordered, 0.5), _rank(ordered, 0.95), len(ordered))


def _rank(ordered: Sequence[float], share: float) -> float:
    return ordered[math.ceil(share * len(ordered)) - 1]


def _stated(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """Samples with the precision of rows; those that were read from rows have it already."""
    return tuple(sample if _is_stated(sample) else _as_stated(sample) for sample in samples)


def _is_stated(sample: Sample) -> bool:
    at, _, cold_ms, warm_ms = sample
    are_tenths = (cold_ms is None or cold_ms == round(cold_ms, 1)) and (warm_ms is None or warm_ms == round(warm_ms, 1))
    return are_tenths and at.tzinfo is UTC and not at.microsecond


def _as_stated(sample: Sample) -> Sample:
    at = sample.at.astimezone(UTC).replace(microsecond=0)
    return Sample(at, sample.failure, _tenth(sample.cold_ms), _tenth(sample.warm_ms))


def _row(sample: Sample) -> Json:
    return [sample.at.astimezone(UTC).strftime(_TIME), sample.failure, _tenth(sample.cold_ms), _tenth(sample.warm_ms)]


def _tenth(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def _sample(row: Json) -> Sample | None:
    if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != 4:
        return None
    at, failure, cold_ms, warm_ms = row
    if not isinstance(at, str) or not isinstance(failure, str) or (failure and failure not in FAILURES):
        return None
    try:
        moment = _moment(at)
    except ValueError:
        return None
    return Sample(at=moment, failure=failure, cold_ms=_milliseconds(cold_ms), warm_ms=_milliseconds(warm_ms))


def _moment(at: str) -> datetime:
    """The time in the format `_TIME`. Exactly written times avoid `strptime`, which takes twenty times as long."""
    return datetime.fromisoformat(at) if _WRITTEN.fullmatch(at) else datetime.strptime(at, _TIME).replace(tzinfo=UTC)


def _milliseconds(value: Json) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and value >= 0 else None  # type: ignore[arg-type,operator]
