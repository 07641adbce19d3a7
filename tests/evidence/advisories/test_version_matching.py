from __future__ import annotations

from typing import Any

import pytest

from evidence.advisories.osv_record import Affected, parse_advisory
from evidence.advisories.version_matching import VersionMatch, find_fixed_versions, match_version, normalize_version
from tests.evidence.advisories.numbers import Numbers
from tests.servers.osv.records import advisory, affects, span


def parts(*entries: dict[str, Any], ecosystem: str = "PyPI", name: str = "bread") -> tuple[Affected, ...]:
    return parse_advisory(advisory("TEST-1", *entries)).about(ecosystem, name)


def of(*events: tuple[str, str], kind: str = "ECOSYSTEM") -> tuple[Affected, ...]:
    return parts(affects("PyPI", "bread", span(*events, kind=kind)))


@pytest.mark.parametrize(
    ("events", "affected", "clear"),
    [
        ([("introduced", "0"), ("fixed", "2.0")], ["0.1", "1.9", "1.10"], ["2.0", "2.1", "10.0"]),
        ([("introduced", "1.0"), ("last_affected", "1.5")], ["1.0", "1.5"], ["0.9", "1.6"]),
        ([("introduced", "1.0")], ["1.0", "99.0"], ["0.9"]),
        ([("fixed", "2.0"), ("introduced", "0")], ["1.0"], ["2.0"]),
        (
            [("introduced", "0"), ("fixed", "1.2"), ("introduced", "2.0"), ("fixed", "2.3")],
            ["1.1", "2.0", "2.2"],
            ["1.2", "1.9", "2.3"],
        ),
        ([("introduced", "0"), ("limit", "2.0")], ["1.9"], ["2.0", "3.0"]),
        ([("introduced", "0"), ("limit", "1.0"), ("limit", "3.0")], ["2.9"], ["3.0"]),
        ([("introduced", "0"), ("limit", "*")], ["9.9"], []),
        ([("fixed", "1.0")], [], ["0.5", "1.0"]),
    ],
)
def test_a_range_is_walked_from_its_first_event_to_its_last(
    events: list[tuple[str, str]], affected: list[str], clear: list[str]
) -> None:
    for version in affected:
        assert match_version(of(*events), version, Numbers()) is VersionMatch.AFFECTED, version
    for version in clear:
        assert match_version(of(*events), version, Numbers()) is VersionMatch.CLEAR, version


def test_a_version_that_is_fixed_where_it_was_introduced_is_clear() -> None:
    assert match_version(of(("fixed", "1.0"), ("introduced", "1.0")), "1.0", Numbers()) is VersionMatch.CLEAR


def test_the_last_affected_version_is_affected_where_it_was_introduced() -> None:
    assert match_version(of(("last_affected", "1.0"), ("introduced", "1.0")), "1.0", Numbers()) is VersionMatch.AFFECTED


def test_a_listed_version_is_affected_whatever_the_ranges_say() -> None:
    entry = affects("PyPI", "bread", span(("introduced", "0"), ("fixed", "1.0")), versions=["1.5", "2024d"])
    assert match_version(parts(entry), "1.5", Numbers()) is VersionMatch.AFFECTED
    assert match_version(parts(entry), "2024d", Numbers()) is VersionMatch.AFFECTED
    assert match_version(parts(entry), "1.6", Numbers()) is VersionMatch.CLEAR


def test_a_list_of_versions_alone_clears_the_others() -> None:
    assert match_version(parts(affects("PyPI", "bread", versions=["1.0"])), "1.1", Numbers()) is VersionMatch.CLEAR


def test_commits_are_ignored_and_a_package_without_versions_says_nothing() -> None:
    commits = span(("introduced", "0"), kind="GIT")
    assert match_version(parts(affects("PyPI", "bread", commits)), "1.0", Numbers()) is VersionMatch.NO_VERSIONS
    assert match_version(parts(affects("PyPI", "bread")), "1.0", Numbers()) is VersionMatch.NO_VERSIONS


def test_what_cannot_be_ordered_is_never_affected_by_a_range() -> None:
    assert match_version(of(("introduced", "0"), ("fixed", "latest")), "1.0", Numbers()) is VersionMatch.UNORDERED
    assert match_version(of(("introduced", "0")), "latest", Numbers()) is VersionMatch.UNORDERED


def test_a_second_range_decides_when_the_first_cannot() -> None:
    entry = affects("PyPI", "bread", span(("introduced", "one")), span(("introduced", "0"), ("fixed", "2.0")))
    assert match_version(parts(entry), "1.0", Numbers()) is VersionMatch.AFFECTED
    assert match_version(parts(entry), "3.0", Numbers()) is VersionMatch.UNORDERED


def test_the_ecosystem_is_compared_without_its_suffix_and_python_names_as_pep_503_says() -> None:
    entry = affects("PyPI:somewhere", "Rye_Bread.sour", span(("introduced", "0")))
    assert match_version(parts(entry, name="rye-bread-sour"), "1.0", Numbers()) is VersionMatch.AFFECTED


def test_names_elsewhere_are_compared_to_the_letter() -> None:
    record = parse_advisory(advisory("TEST-1", affects("npm", "Bread", span(("introduced", "0"), kind="SEMVER"))))
    assert record.about("npm", "bread") == ()
    assert record.about("npm", "Bread") != ()


def test_fixes_are_those_above_ours_lowest_first() -> None:
    found = of(("introduced", "0"), ("fixed", "1.2"), ("introduced", "2.0"), ("fixed", "2.10"), ("fixed", "2.9"))
    assert find_fixed_versions(found, "2.1", Numbers()) == ["2.9", "2.10"]
    assert find_fixed_versions(found, "3.0", Numbers()) == []


@pytest.mark.parametrize(
    ("ecosystem", "text", "version"),
    [
        ("npm", "1.2.3", "1.2.3"),
        ("npm", "v1.2.3", "1.2.3"),
        ("npm", "latest", None),
        ("npm", "^1.2.3", None),
        ("npm", "workspace:*", None),
        ("npm", "git+https://example.test/bread.git#main", None),
        ("npm", "", None),
        ("Go", "v1.2.3", "1.2.3"),
        ("Go", "1.21rc2", "1.21.0-rc.2"),
        ("Go", "(devel)", None),
        ("PyPI", "1.0.post1", "1.0.post1"),
        ("PyPI", "main", None),
        ("Packagist", "dev-main", None),
        ("Maven", "[1.0,2.0)", None),
        ("Hex", "1.0.0", None),
    ],
)
def test_only_a_version_of_its_ecosystem_is_compared(ecosystem: str, text: str, version: str | None) -> None:
    assert normalize_version(ecosystem, text) == version
