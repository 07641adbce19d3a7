from __future__ import annotations

from typing import Any

import pytest

from evidence.advisories.osv_record import InvalidAdvisory, Vector, parse_advisory, parse_timestamp
from tests.servers.osv.records import CRITICAL, advisory, affects, span


def test_a_record_is_read_as_far_as_matching_needs_it() -> None:
    found = parse_advisory(
        advisory(
            "GHSA-aaaa-bbbb-cccc",
            affects("npm", "bread", span(("introduced", "0"), ("fixed", "1.2.3"), kind="SEMVER"), versions=["0.9.0"]),
            aliases=["CVE-2026-1", "GHSA-aaaa-bbbb-cccc", "CVE-2026-1", "not an id"],
            severity=[{"type": "CVSS_V3", "score": CRITICAL}],
            database_specific={"severity": "CRITICAL"},
        )
    )
    assert found.aliases == ("CVE-2026-1",)
    assert found.vectors == (Vector(type="CVSS_V3", score=CRITICAL),)
    assert (found.word, found.withdrawn, found.malicious) == ("critical", False, False)
    (part,) = found.affected
    assert part.versions == frozenset({"0.9.0"})
    assert [(event.kind, event.version) for event in part.ranges[0].events] == [("introduced", "0"), ("fixed", "1.2.3")]


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        {},
        {"id": "A-1"},
        {"id": 7, "modified": "2026-01-01T00:00:00Z"},
        {"id": "../../etc", "modified": "2026-01-01T00:00:00Z"},
        {"id": "A-1\n", "modified": "2026-01-01T00:00:00Z"},
        {"id": "A-1", "modified": "yesterday"},
        {"id": "A-1", "modified": "0001-01-01T00:00:00Z"},
        {"id": "A-1", "modified": "2026-13-01T00:00:00Z"},
    ],
)
def test_what_is_no_record_is_refused(raw: Any) -> None:
    with pytest.raises(InvalidAdvisory):
        parse_advisory(raw)


@pytest.mark.parametrize("rubbish", [None, 7, "text", [None], [[]], {"a": []}, [{"package": []}], [{"package": {}}]])
def test_rubbish_inside_of_a_record_is_left_out(rubbish: Any) -> None:
    members = dict.fromkeys(("aliases", "severity", "summary", "published", "database_specific"), rubbish)
    found = parse_advisory({**advisory("A-1"), **members, "affected": rubbish})
    assert (found.vectors, found.affected) == ((), ())


def test_a_summary_is_one_visible_line_without_addresses() -> None:
    summary = "Bread \u202e\u200bburns\x1b[31m at 400 °C, says baker@oven.example  \nand more"
    found = parse_advisory(advisory("A-1", summary=summary))
    assert found.summary == "Bread burns [31m at 400 °C, says …"


def test_a_long_summary_is_cut_and_a_missing_one_is_taken_from_the_details() -> None:
    assert len(parse_advisory(advisory("A-1", summary="bread " * 1000)).summary) == 200
    assert parse_advisory(advisory("A-1", summary="", details="# Title\n\ntext")).summary == "Title"


def test_rustsec_s_own_members_are_known() -> None:
    entry = affects("crates.io", "bread", span(("introduced", "0.0.0-0"), kind="SEMVER"))
    unmaintained = {**entry, "database_specific": {"informational": "unmaintained", "cvss": None, "categories": []}}
    scored = {**entry, "database_specific": {"informational": None, "cvss": CRITICAL, "categories": ["malicious"]}}
    assert parse_advisory(advisory("RUSTSEC-1", unmaintained)).informational == "unmaintained"
    assert parse_advisory(advisory("RUSTSEC-2", scored)).vectors == (Vector(type="CVSS_V3", score=CRITICAL),)
    assert parse_advisory(advisory("RUSTSEC-2", scored)).malicious


def test_dates_of_nanoseconds_are_compared_to_the_microsecond() -> None:
    assert parse_timestamp("2026-01-02T03:04:05.123456789Z") == parse_timestamp("2026-01-02T03:04:05.123456Z")
    assert parse_timestamp("2026-01-02T03:04:05.1Z") == parse_timestamp("2026-01-02T04:04:05.100000+01:00")
