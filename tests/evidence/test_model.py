"""The nouns of evidence: identity, digests, absence."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evidence.canonical import sha256
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Status, TargetType, server_id

AS_OF = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


def test_server_id_depends_on_the_reference_alone() -> None:
    one = Server(ref="npm:weather", name="Weather")
    other = Server(ref="npm:weather", name="Renamed", seen_in=("starter",))
    assert one.id == other.id == server_id("npm:weather") == "srv_" + sha256(b"npm:weather")[:20]
    assert one.id != Server(ref="pypi:weather", name="Weather").id


def test_observed_is_addressed_by_its_raw_bytes_and_compared_by_its_canonical_form() -> None:
    one, other = Observed(b'{"a":1,"b":2}'), Observed(b'{ "b": 2.0, "a": 1 }')
    assert one.digest == sha256(one.body)
    assert one.digest != other.digest
    assert one.canonical == other.canonical == sha256(b'{"a":1,"b":2}')


def test_uncanonicalisable_body_still_has_a_digest() -> None:
    content = Observed(b"<html>")
    assert content.canonical is None
    assert len(content.digest) == 64


def test_absence_is_cited_by_reason_and_detail() -> None:
    absences = [Absent(Reason.TIMEOUT), Absent(Reason.TIMEOUT, "after 10 s"), Absent(Reason.UNREACHABLE)]
    assert len({absence.digest for absence in absences}) == 3
    assert Absent(Reason.TIMEOUT).digest == absences[0].digest


def test_a_kind_that_was_not_collected_is_absent() -> None:
    server = Server(ref="npm:weather", name="Weather")
    record = Record(
        server=server.id,
        kind="listing",
        schema=1,
        collector="protocol",
        collector_version=1,
        observed_at=AS_OF,
        content=Observed(b"{}"),
    )
    dossier = Dossier(server=server, as_of=AS_OF, records={"listing": record})
    assert dossier.read("listing") == Observed(b"{}")
    assert record.digest == sha256(b"{}")
    missing = dossier.read("registration")
    assert isinstance(missing, Absent)
    assert missing.reason is Reason.NOT_COLLECTED


@pytest.mark.parametrize("type_", list(TargetType))
def test_only_urls_are_remote(type_: TargetType) -> None:
    assert type_.is_remote == (type_.value in {"streamable-http", "sse"})


def test_published_words_are_the_documented_ones() -> None:
    assert {status.value for status in Status} == {"active", "deprecated", "deleted", "invalid"}
    assert all(reason.value == reason.name.lower() for reason in Reason)
    assert len(Reason) == 29
