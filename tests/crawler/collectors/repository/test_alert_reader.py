"""Dependabot's alerts: of the operator's own repositories only, and never of anybody else's."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.kinds import alerts
from tests.crawler.collectors.repository.local_github import Looker, absent, at, body, lively, server
from tests.servers.github.server import serve
from tests.servers.github.world import Answer, Fault, broken


def alert(number: int, **given: Any) -> dict[str, Any]:
    return {
        "number": number,
        "state": "open",
        "dependency": {
            "package": {"ecosystem": "pip", "name": "django"},
            "manifest_path": "requirements.txt",
            "scope": "runtime",
        },
        "security_advisory": {
            "ghsa_id": f"GHSA-{number:04}",
            "cve_id": "CVE-2026-1",
            "severity": "high",
            "summary": "long text",
        },
        "security_vulnerability": {
            "package": {"ecosystem": "pip", "name": "django"},
            "severity": "high",
            "vulnerable_version_range": "< 2.0.2",
            "first_patched_version": {"identifier": "2.0.2"},
        },
        **given,
    }


def test_alerts_of_an_own_repository_are_read() -> None:
    with serve() as local:
        local.world.add(lively(writers=("own",), alerts=[alert(1)]))
        record = Looker(local, tokens=("stranger", "own")).one(at("octo/lively"))["alerts"]
    assert body(record) == {
        "alerts": [
            {"id": "GHSA-0001", "cve": "CVE-2026-1", "ecosystem": "pip", "package": "django", "range": "< 2.0.2",
             "fixed": "2.0.2", "severity": "high", "state": "open", "scope": "runtime", "manifest": "requirements.txt"},
        ],
        "complete": True,
    }  # fmt: skip


def test_alerts_are_asked_with_the_token_that_may_and_with_no_other() -> None:
    with serve() as local:
        local.world.add(lively(writers=("own",), alerts=[alert(1)]), lively("octo/strange"))
        nights = Looker(local, tokens=("stranger", "own")).night(server(at("octo/lively")), server(at("octo/strange")))
        asked = [one for one in local.world.asked if "dependabot" in one.path]
        lists = [one for one in local.world.asked if one.path == "/user/repos"]
    assert [(one.token, one.path) for one in asked] == [("own", "/repos/octo/lively/dependabot/alerts")]
    assert absent(nights[1]["alerts"])[0] == "forbidden"
    assert sorted(str(one.token) for one in lists) == ["own", "stranger"]


def test_alerts_are_read_page_by_page_and_in_an_order_of_their_own() -> None:
    listed = [alert(number) for number in range(250, 0, -1)]
    with serve() as local:
        local.world.add(lively(writers=("own",), alerts=listed))
        looker = Looker(local, tokens=("own",))
        read = alerts.Alerts.parse(looker.one(at("octo/lively"))["alerts"].content.body)  # type: ignore[union-attr]
    assert [one.id for one in read.alerts] == [f"GHSA-{number:04}" for number in range(1, 251)]
    assert read.complete


def test_more_alerts_than_are_read_are_recorded_as_incomplete() -> None:
    with serve() as local:
        local.world.add(lively(writers=("own",), alerts=[alert(number) for number in range(1200)]))
        read = body(Looker(local, tokens=("own",)).one(at("octo/lively"))["alerts"])
    assert (len(read["alerts"]), read["complete"]) == (1000, False)


@pytest.mark.parametrize("status", [403, 404])
def test_alerts_that_are_switched_off_are_forbidden(status: int) -> None:
    with serve() as local:
        local.world.add(lively(writers=("own",), alerts_status=status))
        reason, detail = absent(Looker(local, tokens=("own",)).one(at("octo/lively"))["alerts"])
    assert (reason, str(status) in detail) == ("forbidden", True)


def test_an_installation_of_an_app_reads_where_it_is_installed() -> None:
    own = {"repositories": [{"full_name": "octo/lively"}]}
    with serve() as local:
        local.world.add(lively(writers=("app",), alerts=[alert(1)]))
        local.world.faults = [
            Fault("/user/repos", lambda: Answer(403, {"message": "Resource not accessible by integration"}), times=9),
            Fault("/installation/repositories", lambda: Answer(200, own), times=9),
        ]
        record = Looker(local, tokens=("app",)).one(at("octo/lively"))["alerts"]
    assert len(body(record)["alerts"]) == 1


def test_alerts_that_cannot_be_asked_for_are_those_of_the_last_night() -> None:
    with serve() as local:
        local.world.add(lively(writers=("own",), alerts=[alert(1)]))
        looker = Looker(local, tokens=("own",))
        first = looker.one(at("octo/lively"))["alerts"]
        local.world.faults = [Fault("dependabot", lambda: broken(500), times=9)]
        second = looker.one(at("octo/lively"))["alerts"]
        looker.earlier.clear()
        local.world.faults = [Fault("dependabot", lambda: broken(500), times=9)]
        third = looker.one(at("octo/lively"))["alerts"]
    assert (second.content, second.observation) == (first.content, first.observation)
    assert absent(third)[0] == "unreachable"
