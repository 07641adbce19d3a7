"""An unchanged repository costs a 304; many servers share one probe; renames are followed and recorded."""

from __future__ import annotations

import asyncio
import traceback

import pytest

from crawler.collectors.repository.api.responses import GitHubUnreachable, RepositoryGone
from tests.crawler.collectors.repository.local_github import Looker, absent, at, body, lively, server
from tests.servers.github.server import serve
from tests.servers.github.world import Fault, Repository, broken


def test_an_unchanged_repository_costs_a_304_and_no_quota() -> None:
    with serve() as local:
        local.world.add(lively())
        looker = Looker(local)
        first = looker.one(at("octo/lively"))["repository"]
        local.world.asked.clear()
        looker.time.pass_by(days=1)
        second = looker.one(at("octo/lively"))["repository"]
        asked = [one for one in local.world.asked if one.path.startswith("/repos")]
    assert [(one.status, one.cost) for one in asked] == [(304, 0)]
    assert second.content == first.content
    assert second.observation["looked_at"] != first.observation["looked_at"]
    assert second.observation["full_at"] == first.observation["full_at"]


def test_a_changed_repository_is_read_again() -> None:
    with serve() as local:
        local.world.add(lively())
        looker = Looker(local)
        looker.one(at("octo/lively"))
        local.world.repositories["octo/lively"].stars = 8
        assert body(looker.one(at("octo/lively"))["repository"])["stars"] == 8


def test_an_unchanged_repository_is_read_whole_every_seven_days() -> None:
    """A release, or an answered issue, leaves the repository's own ETag as it is."""
    with serve() as local:
        local.world.add(lively())
        looker = Looker(local)
        looker.one(at("octo/lively"))
        local.world.repositories["octo/lively"].releases.clear()
        looker.time.pass_by(days=6)
        assert body(looker.one(at("octo/lively"))["repository"])["releases"]["count"] == 2
        looker.time.pass_by(days=1)
        assert body(looker.one(at("octo/lively"))["repository"])["releases"]["count"] == 0


def test_a_look_that_was_prevented_is_not_remembered() -> None:
    async def run(looker: Looker) -> str:
        github = looker.github()
        with pytest.raises(GitHubUnreachable):
            await github.probe("octo/lively", None)
        look = await github.probe("octo/lively", None)
        github.close()
        return look.way

    with serve() as local:
        local.world.add(lively())
        local.world.faults = [Fault("/repos/octo/lively", lambda: broken(500), times=3)]
        assert asyncio.run(run(Looker(local))) == "graphql"


def test_a_look_is_shared_for_an_hour_and_no_longer() -> None:
    async def run(looker: Looker) -> list[int]:
        github = looker.github()
        stars = []
        for hours in (0.0, 0.9, 0.2):
            looker.time.pass_by(hours=hours)
            stars.append(int(str((await github.probe("octo/lively", None)).facts["stars"])))
            local.world.repositories["octo/lively"].stars += 1
        github.close()
        return stars

    with serve() as local:
        local.world.add(lively())
        assert asyncio.run(run(Looker(local))) == [7, 7, 9]


def test_parts_that_did_not_change_cost_nothing_when_the_rest_did() -> None:
    with serve() as local:
        local.world.add(lively(advisories=[{"ghsa_id": "GHSA-1", "state": "published", "vulnerabilities": []}]))
        looker = Looker(local)
        first = body(looker.one(at("octo/lively"))["repository"])
        local.world.repositories["octo/lively"].stars = 8
        local.world.asked.clear()
        second = body(looker.one(at("octo/lively"))["repository"])
        costs = {one.path.removeprefix("/repos/octo/lively"): one.cost for one in local.world.asked}
    assert costs == {"": 1, "/contributors": 0, "/community/profile": 0, "/security-advisories": 0, "/graphql": 1,
                     "/user/repos": 1}  # fmt: skip
    assert second == {**first, "stars": 8}


def test_servers_of_one_repository_share_one_look() -> None:
    servers = [server(f"{at('octo/lively')}#packages/{place}", ref=f"npm:{place}") for place in range(30)]
    with serve() as local:
        local.world.add(lively())
        nights = Looker(local).night(*servers)
        paths = local.world.paths()
    assert paths.count("GET /repos/octo/lively") == 1
    assert paths.count("POST /graphql") == 1
    assert [body(night["repository"])["subfolder"] for night in nights][:2] == ["packages/0", "packages/1"]


def test_repositories_of_one_owner_are_asked_for_in_one_query() -> None:
    with serve() as local:
        local.world.add(*(lively(f"octo/r{place}") for place in range(20)))
        nights = Looker(local).night(*(server(at(f"octo/r{place}")) for place in range(20)))
        paths = local.world.paths()
    assert paths.count("POST /graphql") == 1
    assert [body(night["repository"])["name"] for night in nights] == [f"octo/r{place}" for place in range(20)]


@pytest.mark.parametrize("tokens", [("one",), ()])
def test_a_rename_is_followed_and_recorded(tokens: tuple[str, ...]) -> None:
    with serve() as local:
        local.world.add(lively("octo/old"))
        local.world.move("octo/old", "acme/new")
        looker = Looker(local, tokens=tokens)
        read = body(looker.one(at("octo/old"))["repository"])
        looker.time.pass_by(days=1)
        local.world.asked.clear()
        again = body(looker.one(at("octo/old"))["repository"])
        statuses = [one.status for one in local.world.asked if "/repos" in one.path]
    assert (read["name"], read["asked"]) == ("acme/new", "octo/old")
    assert again == read
    assert 304 in statuses or any(one.status == 304 for one in local.world.asked)


def test_another_spelling_of_the_name_is_no_rename() -> None:
    with serve() as local:
        local.world.add(Repository("Octo/Lively"))
        read = body(Looker(local).one(at("octo/lively"))["repository"])
    assert (read["name"], read["asked"]) == ("Octo/Lively", None)


@pytest.mark.parametrize(
    ("status", "message", "said"),
    [
        (404, "Not Found", "HTTP 404"),
        (410, "Gone", "HTTP 410"),
        (451, "Repository access blocked", "HTTP 451"),
        (403, "Repository access blocked", "HTTP 403"),
    ],
)
def test_a_repository_that_is_not_there_is_said_to_be_so(status: int, message: str, said: str) -> None:
    with serve() as local:
        local.world.add(Repository("octo/gone", status=status, message=message))
        records = Looker(local).one(at("octo/gone"))
    for kind in ("repository", "alerts"):
        reason, detail = absent(records[kind])
        assert reason == "no_repository"
        assert said in detail


def test_a_repository_that_disappears_is_gone_at_once_and_not_carried_over() -> None:
    with serve() as local:
        local.world.add(lively())
        looker = Looker(local)
        looker.one(at("octo/lively"))
        local.world.repositories.clear()
        assert absent(looker.one(at("octo/lively"))["repository"])[0] == "no_repository"


@pytest.mark.parametrize("internal", [False, True])
def test_a_repository_only_the_operator_may_see_is_recorded_as_missing(internal: bool) -> None:
    with serve() as local:
        local.world.add(lively("octo/secret", private=True, internal=internal, writers=("one",)))
        looker = Looker(local)
        reason, detail = absent(looker.one(at("octo/secret"))["repository"])
        assert reason == "no_repository"
        assert detail == absent(looker.one(at("octo/missing"))["repository"])[1]


def test_archived_forked_disabled_and_template_repositories_are_recorded() -> None:
    with serve() as local:
        local.world.add(lively(archived=True, fork=True, disabled=True, template=True))
        read = body(Looker(local).one(at("octo/lively"))["repository"])
    assert [read[name] for name in ("archived", "fork", "disabled", "template")] == [True] * 4
    assert read["community"]["health"] is None, "GitHub keeps no profile of forks"


def test_what_many_share_does_not_grow_with_them() -> None:
    async def run(looker: Looker) -> int:
        github = looker.github()
        depths = []
        for _ in range(50):
            try:
                await github.probe("octo/gone", None)
            except RepositoryGone as error:
                depths.append(len(traceback.extract_tb(error.__traceback__)))
        github.close()
        return depths[-1] - depths[1]

    with serve() as local:
        assert asyncio.run(run(Looker(local))) == 0
        assert local.world.paths() == ["GET /repos/octo/gone"]
