"""Views over the kinds `repository` and `alerts` take anything that JSON can hold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evidence.canonical import NotJson
from evidence.kinds.alerts import Alert, Alerts
from evidence.kinds.repository import Community, Owner, Releases, Repository, Threads

WRONG: list[Any] = [None, 3, -1, 1.5, "x", True, [], {}, [3], {"count": "x"}, {"sampled": True}, [[{}]]]
MEMBERS = [
    "name", "host", "asked", "subfolder", "default_branch", "head", "archived", "created_at", "commits_year", "topics",
    "stars", "contributors", "bus_factor", "releases", "tags", "issues", "pulls", "community", "ci", "owner",
    "advisories",
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_misshapen_member_is_unknown(wrong: Any) -> None:
    view = Repository.parse(json.dumps(dict.fromkeys(MEMBERS, wrong)).encode())
    assert view.commits_year in {None, 3}
    assert view.releases is None
    assert view.issues is None
    assert view.archived in {None, True}


@pytest.mark.parametrize("body", [b"[]", b"null", b"3", b"{}"])
def test_a_body_that_is_no_object_says_nothing(body: bytes) -> None:
    view = Repository.parse(body)
    assert (view.name, view.contributors, view.advisories, view.community) == ("", None, None, Community())
    assert Alerts.parse(body) == Alerts()


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(NotJson):
        Repository.parse(b"<html>")
    with pytest.raises(NotJson):
        Alerts.parse(b"")


def test_members_are_read_with_their_types() -> None:
    body = {
        "name": "octo/one", "host": "github", "topics": ["mcp", 3], "stars": 0, "archived": False,
        "releases": {"count": 1, "latest_at": "2026-01-01T00:00:00Z", "latest_tag": "v1",
                     "dates": ["2026-01-01T00:00:00Z"]},
        "issues": {"sampled": 2, "answered": 1, "median_response_s": 60, "unanswered": 1},
        "community": {"health": 71, "security": True}, "owner": {"login": "octo", "type": "User", "verified": None},
        "advisories": [{"id": "GHSA-1", "package": "a"}, {"package": "without an id"}, 3],
    }  # fmt: skip
    view = Repository.parse(json.dumps(body).encode())
    assert (view.topics, view.stars, view.archived) == (("mcp",), 0, False)
    assert view.releases == Releases(
        count=1, latest_at="2026-01-01T00:00:00Z", latest_tag="v1", dates=("2026-01-01T00:00:00Z",)
    )
    assert view.issues == Threads(sampled=2, answered=1, median_response_s=60, unanswered=1)
    assert view.community == Community(health=71, security=True)
    assert view.owner == Owner(login="octo", type="User")
    assert view.advisories is not None
    assert [(one.id, one.package) for one in view.advisories] == [("GHSA-1", "a")]


def test_alerts_without_an_id_are_left_out() -> None:
    body = {"alerts": [{"id": "GHSA-1", "severity": "high", "scope": 3}, {}, None], "complete": True}
    assert Alerts.parse(json.dumps(body).encode()) == Alerts(
        alerts=(Alert(id="GHSA-1", severity="high"),), complete=True
    )
