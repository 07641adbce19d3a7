"""What other followers ask of GitHub: the bill of materials, and where an archive is fetched from."""

from __future__ import annotations

import asyncio
import logging
import urllib.request
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from crawler.collectors.repository import GitHub, GitHubLimits, SbomPart
from crawler.collectors.repository.api.token_budgets import Granted, LocalTokenBudgets, ReportedBudget
from crawler.collectors.repository.api.token_rotation import Token
from crawler.collectors.repository.parsing.sbom import parse_package_url
from evidence.model import Absent
from tests.crawler.collectors.repository.local_github import NOW, Looker, lively
from tests.servers.github.server import Local, serve
from tests.servers.github.world import Answer, Fault

T = TypeVar("T")


def ask(local: Local, question: Callable[[GitHub], Awaitable[T]], tokens: tuple[str, ...] = ("one",)) -> T:
    async def run() -> T:
        github = Looker(local, tokens=tokens).github()
        try:
            return await question(github)
        finally:
            github.close()

    return asyncio.run(run())


def test_a_bill_is_parts_by_package_url() -> None:
    sbom = [
        "pkg:npm/%40scope/name@1.2.3",
        "pkg:pypi/Flask_Login@0.6.3",
        "pkg:npm/ranged",
        "pkg:npm/%40scope/name@1.2.3",
    ]
    with serve() as local:
        local.world.add(lively(sbom=sbom))
        parts = ask(local, lambda github: github.sbom("octo/lively"))
    assert parts == (
        SbomPart(ecosystem="PyPI", name="flask-login", version="0.6.3"),
        SbomPart(ecosystem="npm", name="@scope/name", version="1.2.3"),
        SbomPart(ecosystem="npm", name="ranged", version=None),
    )


@pytest.mark.parametrize(
    ("purl", "expected"),
    [
        ("pkg:golang/github.com/a/b/v2@v2.0.1", ("Go", "github.com/a/b/v2", "v2.0.1")),
        ("pkg:maven/org.a.b/c@1.0", ("Maven", "org.a.b:c", "1.0")),
        ("pkg:gem/rails@7.0.0?platform=java#x", ("RubyGems", "rails", "7.0.0")),
        ("pkg:cargo/serde@1.0.1%2Bbuild", ("crates.io", "serde", "1.0.1+build")),
        ("pkg:composer/Vendor/Package@1", ("Packagist", "vendor/package", "1")),
        ("pkg:githubactions/actions/checkout@4", ("GitHub Actions", "actions/checkout", "4")),
        ("pkg:github/octo/lively@main", None),
        ("pkg:npm/", None),
        ("npm:left-pad", None),
        ("pkg:npm/%00bad@1", None),
        ("", None),
    ],
)
def test_package_urls(purl: str, expected: tuple[str, str, str | None] | None) -> None:
    found = parse_package_url(purl)
    assert (found and (found.ecosystem, found.name, found.version)) == expected


@pytest.mark.parametrize("said", [b"<html>", b"[]", b'{"sbom": 3}', b'{"sbom": {"packages": {}}}'])
def test_a_misshapen_bill_is_an_absence(said: bytes) -> None:
    with serve() as local:
        local.world.add(lively())
        local.world.faults = [Fault("sbom", lambda: Answer(200, raw=said))]
        found = ask(local, lambda github: github.sbom("octo/lively"))
    assert isinstance(found, Absent)
    assert found.reason == "unreachable"


def test_a_repository_without_a_dependency_graph_has_no_bill() -> None:
    with serve() as local:
        local.world.add(lively())
        found = ask(local, lambda github: github.sbom("octo/lively"))
    assert isinstance(found, Absent)
    assert "404" in found.detail


def test_the_archive_is_where_github_says_and_needs_no_token() -> None:
    with serve() as local:
        local.world.add(lively(archive=b"tar"))
        address = ask(local, lambda github: github.tarball_address("octo/lively", "feature/x y"))
        assert isinstance(address, str)
        with urllib.request.urlopen(address) as response:  # a plain fetch, as the guard makes one
            assert response.read() == b"tar"
        asked = [one for one in local.world.asked if "/_archive/" in one.path]
    assert [one.token for one in asked] == [None]
    assert "feature/x%20y" in address


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(404, {"message": "Not Found"}), "no_repository"),
        (Answer(302, None, {"Location": "ftp://127.0.0.1/x"}), "unreachable"),
        (Answer(302, None, {"Location": "file:///etc/passwd"}), "unreachable"),
        (Answer(302, None, {"Location": "http://[bad"}), "unreachable"),
        (Answer(200, {}), "unreachable"),
    ],
)
def test_an_archive_that_is_nowhere_is_an_absence(answer: Answer, reason: str) -> None:
    with serve() as local:
        local.world.add(lively(archive=b"tar"))
        local.world.faults = [Fault("tarball", lambda: answer)]
        found = ask(local, lambda github: github.tarball_address("octo/lively", "main"))
    assert isinstance(found, Absent)
    assert found.reason == reason


@pytest.mark.parametrize("name", ["octo", "octo/..", "../user/x", "octo/a/b", "octo/a?x", "oc to/x", ""])
def test_nothing_but_a_name_is_asked_for(name: str) -> None:
    with serve() as local:
        found = ask(local, lambda github: github.tarball_address(name, "main"))
        assert local.world.asked == []
    assert isinstance(found, Absent)


def test_without_quota_neither_is_asked_for() -> None:
    with serve() as local:
        local.world.anonymous = 0
        local.world.add(lively(archive=b"tar", sbom=[]))
        bill = ask(local, lambda github: github.sbom("octo/lively"), tokens=())
        archive = ask(local, lambda github: github.tarball_address("octo/lively", "main"), tokens=())
    assert isinstance(bill, Absent)
    assert isinstance(archive, Absent)
    assert (bill.reason, archive.reason) == ("rate_limited", "rate_limited")


def test_a_spent_quota_leaves_the_host_of_public_archives() -> None:
    async def run() -> str | Absent:
        spent = LocalTokenBudgets(lambda: 0.0)
        granted = await spent.reserve(Token(0, None).digest, "core", 1, 0)
        assert isinstance(granted, Granted)
        await spent.settle(granted, reported=ReportedBudget(remaining=0, resets_in=3600), spent=0, rest=0)
        limits = GitHubLimits(max_wait=0)
        github = GitHub(now=lambda: NOW, user_agent="x", limits=limits, budgets=spent, tick=lambda: 0.0)
        return await github.tarball_address("octo/lively", "v1.0 beta")

    assert asyncio.run(run()) == "https://codeload.github.com/octo/lively/tar.gz/v1.0%20beta"


def test_where_a_signed_archive_lies_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    with serve() as local, caplog.at_level(logging.DEBUG):
        local.world.add(
            lively(archive=b"tar", alerts=[{"security_advisory": {"ghsa_id": "GHSA-hidden"}}], writers=("one",))
        )
        address = ask(local, lambda github: github.tarball_address("octo/lively", "main"))
        assert "GHSA-hidden" in str(Looker(local).one("https://github.com/octo/lively")["alerts"].content)
    assert isinstance(address, str)
    assert "signed" in address
    assert "signed" not in caplog.text
    assert "GHSA-hidden" not in caplog.text


def test_every_request_names_us_and_the_version_of_the_api() -> None:
    with serve() as local:
        local.world.add(lively())
        Looker(local).one("https://github.com/octo/lively")
        agents = {one.agent for one in local.world.asked}
    assert agents == {"hallmark-tests"}


def test_an_enterprise_server_is_spoken_to_below_its_prefix() -> None:
    with serve(prefix="/api/v3") as local:
        local.world.add(lively())
        record = Looker(local).one("https://github.com/octo/lively")["repository"]
        paths = local.world.paths()
    assert record.observation["way"] == "graphql"
    assert "POST /api/graphql" in paths
