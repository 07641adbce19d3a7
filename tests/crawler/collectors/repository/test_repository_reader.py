"""What is recorded of a repository, by GraphQL with a token and by REST without."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crawler.collectors.repository.graphql_client import PARTIAL, _outcome
from crawler.collectors.repository.parsing.graphql_facts import read_graphql_facts
from evidence.kinds import repository
from tests.crawler.collectors.repository.local_github import (
    ANN,
    BEN,
    CAT,
    NOW,
    Looker,
    absent,
    ago,
    at,
    body,
    lively,
    server,
)
from tests.servers.github.server import serve
from tests.servers.github.world import Account, Commit, Discussion, Repository, Said


def test_every_member_is_read() -> None:
    with serve() as local:
        local.world.add(lively())
        records = Looker(local).one(at("octo/lively"))
    read = body(records["repository"])
    assert read == {
        "host": "github", "name": "octo/lively", "asked": None, "subfolder": None, "default_branch": "main",
        "head": read["head"], "protected": False,
        "archived": False, "fork": False, "disabled": False, "template": False,
        "created_at": "2024-01-01T00:00:00Z", "pushed_at": "2026-10-01T00:00:00Z", "last_commit_at": ago(days=2),
        "commits_year": 5, "licence": "MIT", "topics": ["mcp"], "language": "Python", "size_kb": 120, "stars": 7,
        "forks": 2, "open_issues": 4, "open_pulls": 1,
        "contributors": {"count": 4, "capped": False, "year": 3, "shares": [2, 1, 1, 1]}, "bus_factor": 2,
        "releases": {"count": 2, "latest_at": ago(days=7), "latest_tag": "v2.0.0",
                     "dates": [ago(days=7), ago(days=100)]},
        "tags": {"count": 3, "latest_tag": "v2.0.0"},
        "issues": {"sampled": 2, "opened_year": 4, "answered": 1, "median_response_s": 7200,
                   "median_close_s": 2 * 86400, "unanswered": 1},
        "pulls": {"sampled": 2, "opened_year": 2, "answered": 2, "median_response_s": (24 + 3) * 1800,
                  "median_close_s": 86400, "unanswered": 0},
        "community": {"health": 57, "contributing": True, "code_of_conduct": False, "issue_template": True,
                      "pull_template": False, "security": True},
        "ci": True, "changelog": True, "readme": True,
        "owner": {"login": "octo", "type": "Organization", "verified": True, "website": "https://owner.example/"},
        "advisories": [],
    }  # fmt: skip
    assert absent(records["alerts"])[0] == "forbidden"


@pytest.mark.parametrize(
    ("given", "protected"),
    [({"protected": True}, True), ({"rules": ("pull_request",)}, True), ({}, False), ({"branch": None}, None)],
)
def test_a_branch_is_protected_by_a_rule_of_either_kind(given: dict[str, Any], protected: bool | None) -> None:
    with serve() as local:
        local.world.add(lively(**given))
        records = Looker(local).one(at("octo/lively"))
    assert body(records["repository"])["protected"] is protected


def test_rules_that_the_token_may_not_read_leave_only_the_protection_unknown() -> None:
    error = {"type": "FORBIDDEN", "path": ["r0", "defaultBranchRef", "rules"], "message": "Resource not accessible"}
    node = {"nameWithOwner": "octo/lively", "defaultBranchRef": {"name": "main", "refUpdateRule": None, "rules": None}}
    found = _outcome(node, [error])
    assert isinstance(found, dict)
    assert PARTIAL not in found
    assert read_graphql_facts(found, NOW)["protected"] is None
    hidden = {**node, "defaultBranchRef": {"name": "main", "refUpdateRule": None, "rules": {"nodes": []}}}
    one = _outcome(hidden, [{**error, "path": ["r0", "defaultBranchRef", "refUpdateRule"]}])
    assert isinstance(one, dict)
    assert read_graphql_facts(one, NOW)["protected"] is None
    assert read_graphql_facts(hidden, NOW)["protected"] is False
    assert PARTIAL in (_outcome(node, [{**error, "path": ["r0", "issues"]}]) or {})


def test_without_a_token_few_rest_calls_tell_what_they_can() -> None:
    with serve() as local:
        local.world.add(lively())
        records = Looker(local, tokens=()).one(at("octo/lively"))
        paths = local.world.paths()
    read = body(records["repository"])
    assert len(paths) == 9
    assert not [path for path in paths if "graphql" in path]
    assert read["pulls"] is None
    assert read["tags"] is None
    assert read["owner"]["verified"] is None
    assert read["issues"] == {
        "sampled": 2, "opened_year": 4, "answered": 1, "median_response_s": 7200, "median_close_s": 2 * 86400,
        "unanswered": 1,
    }  # fmt: skip
    assert read["commits_year"] == 5
    assert read["contributors"] == {"count": 4, "capped": False, "year": 3, "shares": [2, 1, 1, 1]}
    assert (read["open_issues"], read["open_pulls"]) == (4, 1)
    assert (read["ci"], read["changelog"], read["community"]["security"]) == (True, True, None)
    assert absent(records["alerts"])[0] == "not_collected"


def test_both_ways_agree_on_what_both_know() -> None:
    with serve() as local:
        local.world.add(lively())
        by_graphql = body(Looker(local).one(at("octo/lively"))["repository"])
        by_rest = body(Looker(local, tokens=()).one(at("octo/lively"))["repository"])
    differing = {name for name in by_graphql if by_graphql[name] != by_rest[name]}
    assert differing == {"protected", "tags", "pulls", "owner", "community"}


def test_an_empty_repository_has_no_head_and_no_commits() -> None:
    for tokens in (("one",), ()):
        with serve() as local:
            local.world.add(Repository("octo/empty", branch=None, files=[], contributors=[]))
            read = body(Looker(local, tokens=tokens).one(at("octo/empty"))["repository"])
        assert read["head"] is None
        assert read["last_commit_at"] is None
        assert read["contributors"] == {"count": 0, "capped": False, "year": 0, "shares": []}
        assert read["bus_factor"] is None
        assert read["issues"]["sampled"] == 0


def test_bots_are_not_persons() -> None:
    commits = [Commit(ago(days=day), "renovate[bot]", Account("renovate[bot]", "Bot")) for day in range(1, 40)]
    with serve() as local:
        local.world.add(lively(commits=[*commits, Commit(ago(days=200), "Ann", ANN)]))
        read = body(Looker(local).one(at("octo/lively"))["repository"])
    assert read["last_commit_at"] == ago(days=200)
    assert read["contributors"] == {"count": 1, "capped": False, "year": 1, "shares": [1]}
    assert read["commits_year"] == 40


def test_the_bus_factor_is_the_fewest_with_half_of_the_commits() -> None:
    listed = [
        {"login": f"p{place}", "type": "User", "contributions": made} for place, made in enumerate([50, 30, 20, 10])
    ]
    with serve() as local:
        local.world.add(lively(contributors=listed))
        read = body(Looker(local).one(at("octo/lively"))["repository"])
    assert read["bus_factor"] == 2


def test_more_contributors_than_are_listed_are_capped() -> None:
    listed = [{"login": f"p{place}", "type": "User", "contributions": 1} for place in range(130)]
    with serve() as local:
        local.world.add(lively(contributors=listed))
        read = body(Looker(local).one(at("octo/lively"))["repository"])
    assert read["contributors"]["count"] == 100
    assert read["contributors"]["capped"] is True
    assert len(read["contributors"]["shares"]) == 10


def test_a_history_too_long_to_list_leaves_contributors_unknown() -> None:
    with serve() as local:
        local.world.add(lively(contributors_status=403))
        records = Looker(local).one(at("octo/lively"))
    assert body(records["repository"])["contributors"] is None
    assert "unread" not in records["repository"].observation


def test_statistics_are_asked_politely_while_github_counts() -> None:
    weeks = [{"w": int(NOW.timestamp()) - 86400 * 30, "c": 3}]
    old = [{"w": int(NOW.timestamp()) - 86400 * 500, "c": 3}]
    statistics = [
        {"author": {"login": "ann", "type": "User"}, "weeks": weeks},
        {"author": {"login": "ben", "type": "User"}, "weeks": old},
        {"author": {"login": "dependabot[bot]", "type": "Bot"}, "weeks": weeks},
    ]
    busy = [Commit(ago(hours=hour), "Ann", ANN) for hour in range(1, 150)]
    with serve() as local:
        local.world.add(lively(commits=busy, statistics=statistics, statistics_pending=2))
        looker = Looker(local)
        read = body(looker.one(at("octo/lively"))["repository"])
    assert read["contributors"]["year"] == 1
    assert read["commits_year"] == 149
    assert looker.time.pauses.count(3.0) == 2


def test_statistics_that_never_come_are_unknown_and_looked_for_the_next_night() -> None:
    busy = [Commit(ago(hours=hour), "Ann", ANN) for hour in range(1, 150)]
    with serve() as local:
        local.world.add(lively(commits=busy, statistics_pending=99))
        looker = Looker(local)
        first = looker.one(at("octo/lively"))["repository"]
        asked = len([path for path in local.world.paths() if "stats" in path])
        local.world.repositories["octo/lively"].statistics_pending = 0
        local.world.repositories["octo/lively"].statistics = []
        second = looker.one(at("octo/lively"))["repository"]
    assert asked == 3
    assert body(first)["contributors"]["year"] is None
    assert first.observation["unread"] == ["statistics"]
    assert body(second)["contributors"]["year"] == 0
    assert "unread" not in second.observation


def test_an_answer_that_was_not_read_decides_nothing() -> None:
    chatter = [Said(ago(days=9, hours=-hour), CAT) for hour in range(9)]
    with serve() as local:
        local.world.add(lively(issues=[Discussion(ago(days=10), BEN, comments=chatter)]))
        read = body(Looker(local).one(at("octo/lively"))["repository"])
    assert read["issues"] == {
        "sampled": 0, "opened_year": 1, "answered": 0, "median_response_s": None, "median_close_s": None,
        "unanswered": 0,
    }  # fmt: skip


def test_more_issues_than_are_sampled_leave_the_year_uncounted() -> None:
    many = [Discussion(ago(days=day), CAT) for day in range(1, 45)]
    with serve() as local:
        local.world.add(lively(issues=many))
        read = body(Looker(local).one(at("octo/lively"))["repository"])
    assert read["issues"]["sampled"] == 30
    assert read["issues"]["opened_year"] is None
    assert read["open_issues"] == 44


def test_published_advisories_are_listed_per_package() -> None:
    advisory = {
        "ghsa_id": "GHSA-aaaa-bbbb-cccc", "cve_id": "CVE-2026-1", "severity": "high", "state": "published",
        "published_at": "2026-05-01T00:00:00Z", "withdrawn_at": None,
        "vulnerabilities": [
            {"package": {"ecosystem": "npm", "name": "a"}, "vulnerable_version_range": "< 2", "patched_versions": "2"},
            {"package": {"ecosystem": "npm", "name": "b"}, "vulnerable_version_range": "< 3", "patched_versions": None},
        ],
    }  # fmt: skip
    with serve() as local:
        local.world.add(lively(advisories=[advisory, {**advisory, "state": "draft"}]))
        read = body(Looker(local).one(at("octo/lively"))["repository"])
    assert [(one["id"], one["package"], one["vulnerable"], one["patched"]) for one in read["advisories"]] == [
        ("GHSA-aaaa-bbbb-cccc", "a", "< 2", "2"),
        ("GHSA-aaaa-bbbb-cccc", "b", "< 3", None),
    ]


def test_published_advisories_of_all_pages_are_listed() -> None:
    many = [{"ghsa_id": f"GHSA-{place:04}", "state": "published", "vulnerabilities": []} for place in range(250)]
    with serve() as local:
        local.world.add(lively(advisories=many))
        looker = Looker(local)
        first, second = (body(looker.one(at("octo/lively"))["repository"]) for _ in range(2))
    assert [one["id"] for one in first["advisories"]] == [one["ghsa_id"] for one in many]
    assert second == first


def test_more_pages_of_advisories_than_are_read_leave_them_unknown() -> None:
    many = [{"ghsa_id": f"GHSA-{place:04}", "state": "published", "vulnerabilities": []} for place in range(1101)]
    with serve() as local:
        local.world.add(lively(advisories=many))
        record = Looker(local).one(at("octo/lively"))["repository"]
    assert body(record)["advisories"] is None
    assert record.observation["unread"] == ["advisories"]


def test_neither_addresses_nor_credentials_are_kept() -> None:
    with serve() as local:
        local.world.add(lively(website="https://user:secret@owner.example/a?key=hidden"))
        looker = Looker(local)
        records = looker.night(server("https://user:secret@github.com/octo/lively"))[0]
    kept = json.dumps(body(records["repository"])).encode() + repr(records["repository"].observation).encode()
    assert b"@" not in kept
    assert b"secret" not in kept
    assert b"hidden" not in kept


def test_the_view_reads_back_what_is_recorded() -> None:
    with serve() as local:
        local.world.add(lively())
        record = Looker(local).one(at("octo/lively"))["repository"]
    view = repository.Repository.parse(json.dumps(body(record)).encode())
    assert view.name == "octo/lively"
    assert view.issues is not None
    assert view.issues.median_response_s == 7200
    assert view.contributors is not None
    assert view.contributors.shares == (2, 1, 1, 1)
    assert view.advisories == ()
