"""What a project and its package show, and how days are counted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from scoring.example_builders.project import (
    build_project,
    build_published_package,
    build_source_only_project,
    days_ago,
    issue_threads,
)
from scoring.example_builders.source_files import build_readme, build_secret_scan, build_variable, leaked_secret
from scoring.results.outcome import Undecided
from scoring.text import timestamps

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2026-10-31T12:00:00Z", 1),
        ("2026-10-31T12:00:01Z", 0),
        ("2026-10-30T14:00:00+02:00", 2),
        ("2026-10-01", 31),
        ("2027-07-09T00:00:00Z", 0),
        ("2026-10-31 12:00:00", 1),
        ("yesterday", None),
        ("", None),
        (None, None),
    ],
)
def test_days_are_whole_and_never_negative(text: str | None, days: int | None) -> None:
    assert timestamps.days_between(text, NOON) == days


def test_the_newest_of_some_times_is_by_moment_and_not_by_text() -> None:
    assert (
        timestamps.newest_timestamp(["2026-10-31T23:00:00-05:00", "2026-11-01T01:00:00Z", None, "x"])
        == "2026-10-31T23:00:00-05:00"
    )
    assert timestamps.newest_timestamp([None, ""]) is None


def test_a_project_is_as_large_as_its_year() -> None:
    size = build_project(
        contributors={"count": 90, "year": 3}, stars=7, issues=issue_threads(opened_year=12), pulls=issue_threads()
    ).size
    assert (size.contributors, size.stars, size.issues) == (3, 7, 22)
    assert build_project().size.contributors == 0
    assert build_published_package(maintainers=["a", "b"]).size.contributors == 2


@pytest.mark.parametrize(
    ("members", "known"),
    [
        ({"community": {"security": False}, "source": {"security_policy": "/SECURITY.md"}}, True),
        ({"community": {"security": True}, "source": {"complete": True, "origin": "github"}}, True),
        ({"source": {"complete": True, "origin": "github"}}, False),
        ({"community": {"security": False}}, False),
    ],
)
def test_a_file_that_either_the_host_or_the_source_shows_is_there(members: dict[str, Any], known: bool) -> None:
    assert build_project(**members).has("security_policy") is known


def test_a_package_shows_its_licence_and_no_file_that_packages_leave_out() -> None:
    packed = {"origin": "npm", "complete": True, "changelog": "CHANGELOG.md", "licence": "LICENSE"}
    alone = replace(build_project(source=packed, package={"version_exists": True}), repository=None)
    assert alone.has("licence")
    with pytest.raises(Undecided):
        alone.has("changelog")
    assert build_project(source=packed, changelog=False).has("changelog"), "the host may not know the name of the file"
    bare = replace(build_project(source={**packed, "licence": None}, package={"version_exists": True}), repository=None)
    assert not bare.has("licence")


def test_a_host_that_listed_the_files_listed_the_licence() -> None:
    assert not build_project(licence=None, readme=True).has("licence")
    with pytest.raises(Undecided):
        build_project(licence=None).has("licence")


@pytest.mark.parametrize(
    "seen",
    [
        build_project(),
        build_source_only_project(origin="npm"),
        build_source_only_project(origin="npm", ci=["x"]),
        build_source_only_project(complete=False),
    ],
)
def test_a_file_without_evidence_is_neither_present_nor_missing(seen: Any) -> None:
    with pytest.raises(Undecided):
        seen.has("ci")


def test_the_newest_release_is_that_of_repository_or_package() -> None:
    both = build_project(package={"latest_published": days_ago(3)}, releases={"count": 1, "latest_at": days_ago(40)})
    assert both.days_since(both.released_at) == 3
    assert build_project(releases={"count": 0}).released_at is None


def test_a_name_inside_another_explains_nothing() -> None:
    assert not build_variable("NOTES_API", environment="NOTES_API_KEY: key").is_documented
    assert build_readme().seen.readme is not None


def test_a_secret_in_two_places_is_one_secret() -> None:
    found = build_secret_scan(
        leaked_secret(),
        leaked_secret(path="b.ts"),
        leaked_secret(path="c.ts", hash="01"),
        leaked_secret(hash="02", confidence="generic"),
    )
    assert [each.path for each in found.leaked] == ["src/index.ts", "c.ts"]
