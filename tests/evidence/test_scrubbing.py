"""What is kept holds no secret, and is otherwise what it was."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from evidence.derive.secret_scrubbing import are_free_of_secrets, scrub_body, scrub_record, scrub_text
from evidence.kinds.samples import Sample, write_samples
from evidence.model import Absent, Observed, Reason, Record, ServerId
from evidence.patterns.secrets import PATTERNS
from evidence.patterns.secrets.samples import write_sample
from tests.sampling import examples, some

TOKEN = write_sample("ghp_<w36>")
SAMPLES = [write_sample(template, "scrub") for one in PATTERNS for template in one.bad]


def record(content: Observed | Absent, kind: str = "exchanges", **observation: object) -> Record:
    return Record(
        server=ServerId("s"),
        kind=kind,
        schema=1,
        collector="c",
        collector_version=1,
        observed_at=datetime(2026, 1, 1, tzinfo=UTC),
        content=content,
        observation=observation,  # type: ignore[arg-type]
    )


def test_bodies_details_and_observations_are_scrubbed() -> None:
    body = scrub_record(record(Observed(json.dumps({"error": {"message": f"bad {TOKEN}"}}).encode())))
    absent = scrub_record(record(Absent(Reason.START_FAILED, f"exit code 1: {TOKEN}")))
    noted = scrub_record(record(Observed(b"{}"), stderr=f"using {TOKEN}", deep=[{"a": TOKEN}]))
    assert TOKEN not in repr((body, absent, noted))
    assert json.loads(body.content.body) == {"error": {"message": "bad [secret]"}}  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["listing", "registration"])
def test_listings_and_entries_stay_raw(kind: str) -> None:
    kept = record(Observed(TOKEN.encode()), kind)
    assert scrub_record(kept) is kept


def test_a_record_without_secrets_is_the_same_one() -> None:
    kept = record(Observed(b'{"a": [1, "b\\u00e9"]}'), ms=1.5, headers={"server": "nginx"})
    assert scrub_record(kept) is kept


def test_json_stays_json_without_any_sample_and_a_second_time_changes_nothing() -> None:
    assert len(SAMPLES) > 500
    assert [sample for sample in SAMPLES if not _is_scrubbed_once_and_for_all(sample)] == []


def _is_scrubbed_once_and_for_all(sample: str) -> bool:
    body = json.dumps({"text": sample, "n": 1, "nested": json.dumps({"said": sample})}).encode()
    clean = scrub_body(body)
    value = json.loads(clean)
    return (
        value["n"] == 1
        and sample not in clean.decode()
        and value["text"] == scrub_text(value["text"]) != sample
        and scrub_body(clean) == clean
        and scrub_text(scrub_text(sample)) == scrub_text(sample)
    )


@pytest.mark.parametrize("before", some(["", "token: example", "password", "api_key ="], 2))
def test_no_sample_hides_among_other_texts(before: str) -> None:
    """What stands before a text must not excuse it, nor make it a part of something else."""
    for sample in SAMPLES:
        assert scrub_text(sample) != sample
        assert not are_free_of_secrets([before, sample, "tools/search/query", before])
    assert are_free_of_secrets([before, "tools/search/query", before, "Searches for invoices.", ""])


@pytest.mark.parametrize("escaped", [TOKEN.replace("g", "\\u0067"), "a\\/" + TOKEN, '\\"' + TOKEN + '\\"'])
def test_a_secret_that_is_written_with_escapes_is_found(escaped: str) -> None:
    assert TOKEN not in json.dumps(json.loads(scrub_body(f'{{"a": "{escaped}"}}'.encode())))


def test_bytes_beside_a_secret_stay_as_they_were() -> None:
    body = b'{ "a" :1.0, "b":"%s" ,"c":"\\u00e9\\ud800" }' % TOKEN.encode()
    assert scrub_body(body) == b'{ "a" :1.0, "b":"[secret]" ,"c":"\\u00e9\\ud800" }'


def test_the_last_of_many_secrets_is_masked_like_the_first() -> None:
    assert TOKEN not in scrub_text(f"{TOKEN} " * 6_000)


def test_what_a_server_counts_by_is_no_secret() -> None:
    body = b'{"params":{"progressToken":"k3J9d0QzX7p1Lm4R","cursor":"eyJwYWdlIjoyfQ=="},"id":"<u>"}'
    assert scrub_body(body) == body


@settings(max_examples=examples(60), deadline=None)
@given(
    st.recursive(
        st.none() | st.floats(allow_nan=False) | st.text() | st.sampled_from(SAMPLES),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_any_json_keeps_its_shape(value: object) -> None:
    clean = scrub_body(json.dumps(value).encode())
    assert _shape(json.loads(clean)) == _shape(value) and scrub_body(clean) == clean


def _shape(value: object) -> object:
    if isinstance(value, dict):
        return [_shape(one) for one in value.values()]
    if isinstance(value, list):
        return [_shape(one) for one in value]
    return "text" if isinstance(value, str) else value


def test_the_times_of_attempts_are_not_looked_through() -> None:
    """There are up to 400 for every server and night, and none of them is anybody's word."""
    taken = write_samples([Sample(datetime(2026, 1, 1, tzinfo=UTC), "", 1.5)])
    kept = replace(record(Observed(b"{}"), "samples"), observation=taken)
    assert scrub_record(kept) is kept
    loose = scrub_record(replace(kept, observation={**taken, "more": TOKEN}))
    assert loose.observation == {"samples": [["2026-01-01T00:00:00Z", "", 1.5, None]], "more": "[secret]"}
