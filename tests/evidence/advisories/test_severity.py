from __future__ import annotations

from evidence.advisories.osv_record import Advisory, parse_advisory
from evidence.advisories.severity import Rating, rate_flaw
from evidence.kinds.advisories import Severity
from tests.servers.osv.records import CRITICAL, MEDIUM, advisory

V4 = "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N"
V2 = "AV:N/AC:L/Au:N/C:C/I:C/A:C"


def scored(*vectors: tuple[str, str], word: str = "", name: str = "A-1") -> Advisory:
    severity = [{"type": kind, "score": score} for kind, score in vectors]
    return parse_advisory(advisory(name, severity=severity, database_specific={"severity": word}))


def test_a_severity_is_the_rating_of_the_base_score() -> None:
    assert rate_flaw([scored(("CVSS_V3", CRITICAL))]) == Rating(Severity.CRITICAL, "9.8", CRITICAL)
    assert rate_flaw([scored(("CVSS_V3", MEDIUM))]) == Rating(Severity.MEDIUM, "4.8", MEDIUM)
    assert rate_flaw([scored(("CVSS_V4", V4))]) == Rating(Severity.CRITICAL, "9.3", V4)


def test_the_newest_cvss_counts_and_of_it_the_highest_score() -> None:
    assert rate_flaw([scored(("CVSS_V3", CRITICAL), ("CVSS_V4", V4))]).vector == V4
    both = [scored(("CVSS_V3", MEDIUM)), scored(("CVSS_V3", CRITICAL), name="A-2")]
    assert rate_flaw(both) == rate_flaw(both[::-1]) == Rating(Severity.CRITICAL, "9.8", CRITICAL)


def test_version_2_has_no_critical() -> None:
    assert rate_flaw([scored(("CVSS_V2", V2))]) == Rating(Severity.HIGH, "10.0", V2)


def test_the_word_of_a_database_stands_where_no_vector_can_be_read() -> None:
    assert rate_flaw([scored(word="MODERATE")]) == Rating(Severity.MEDIUM)
    assert rate_flaw([scored(("CVSS_V3", "CVSS:3.1/AV:bread"), word="HIGH")]) == Rating(Severity.HIGH)
    assert rate_flaw([scored(("CVSS_V3", MEDIUM), word="CRITICAL")]).severity is Severity.MEDIUM


def test_without_vector_and_word_it_is_unknown() -> None:
    assert rate_flaw([scored()]) == rate_flaw([scored(("Ubuntu", "medium"), word="dreadful")]) == Rating()


def test_malware_is_critical() -> None:
    assert rate_flaw([scored(name="MAL-2026-1")]).severity is Severity.CRITICAL


def test_what_is_no_vulnerability_by_itself_is_low() -> None:
    entry = {"package": {"ecosystem": "crates.io", "name": "bread"}, "database_specific": {"informational": "notice"}}
    notice = parse_advisory(advisory("RUSTSEC-1", entry))
    assert rate_flaw([notice]).severity is Severity.LOW
    assert rate_flaw([notice, scored()]).severity is Severity.UNKNOWN
