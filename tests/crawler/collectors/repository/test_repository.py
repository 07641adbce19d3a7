"""What is recorded of a repository, by GraphQL with a token and by REST without."""

from __future__ import annotations

from tests.crawler.collectors.repository.looking import Looker, absent, ago, at, body, lively
from tests.servers.github.server import serve


def test_every_member_is_read() -> None:
    with serve() as local:
        local.world.add(lively())
        records = Looker(local).one(at("octo/lively"))
    read = body(records["repository"])
    assert read == {
        "host": "github", "name": "octo/lively", "asked": None, "subfolder": None, "default_branch": "main",
        "head": read["head"], "archived": False, "fork": False, "disabled": False, "template": False,
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
