"""Tokens in rotation, their budgets, and what is recorded when there is nothing left to ask with."""

from __future__ import annotations

import pytest
import structlog.testing

from tests.crawler.collectors.repository.local_github import Looker, absent, at, body, limits, lively, server
from tests.servers.github.server import serve
from tests.servers.github.world import Answer, Fault, Repository, secondary, too_many

PLENTY = [f"octo/r{place}" for place in range(12)]


def names(count: int) -> list[str]:
    return [f"octo/r{place}" for place in range(count)]


def test_several_tokens_share_the_work() -> None:
    with serve() as local:
        local.world.add(*(lively(name) for name in PLENTY))
        Looker(local, tokens=("one", "two", "three")).night(*(server(at(name)) for name in PLENTY))
        used = {one.token for one in local.world.asked}
    assert used == {"one", "two", "three"}


def test_a_repository_is_asked_for_with_the_same_token_every_night() -> None:
    """An ETag may be good with the token it was given to only."""
    with serve() as local:
        local.world.add(lively())
        looker = Looker(local, tokens=("one", "two", "three"))
        for _ in range(3):
            looker.one(at("octo/lively"))
        used = {one.token for one in local.world.asked if one.path.startswith("/repos/")}
    assert len(used) == 1


def test_a_spent_token_is_replaced_by_one_with_budget() -> None:
    with serve() as local:
        local.world.tokens = {"poor": 3}
        local.world.add(*(lively(name) for name in PLENTY))
        nights = Looker(local, tokens=("poor", "rich")).night(*(server(at(name)) for name in PLENTY))
        by_poor = [one for one in local.world.asked if one.token == "poor" and one.status == 403]
    assert {body(night["repository"])["name"] for night in nights} == set(PLENTY)
    assert len(by_poor) < 4, "a token known to be spent is not tried again"


def test_a_refused_token_is_set_aside_and_named_by_its_position() -> None:
    with serve() as local, structlog.testing.capture_logs() as logs:
        local.world.refused = {"ghp_bad"}
        local.world.add(*(lively(name) for name in PLENTY))
        nights = Looker(local, tokens=("ghp_bad", "good")).night(*(server(at(name)) for name in PLENTY))
        tries = [one for one in local.world.asked if one.token == "ghp_bad"]
    assert {body(night["repository"])["name"] for night in nights} == set(PLENTY)
    assert [(log["event"], log["position"]) for log in logs if log["event"] == "github_token_refused"] == [
        ("github_token_refused", 1)
    ]
    assert "ghp_bad" not in repr(logs)
    assert len(tries) <= 8, "only those on their way when it was refused"


def test_when_every_token_is_refused_the_public_path_is_left() -> None:
    with serve() as local:
        local.world.refused = {"bad"}
        local.world.add(lively())
        record = Looker(local, tokens=("bad",)).one(at("octo/lively"))["repository"]
    assert record.observation["way"] == "rest"
    assert body(record)["name"] == "octo/lively"


@pytest.mark.parametrize("together", [True, False])
def test_without_a_token_repositories_beyond_the_quota_are_rate_limited_and_none_is_half_read(together: bool) -> None:
    with serve() as local:
        local.world.add(*(lively(name) for name in names(20)))
        looker = Looker(local, tokens=())
        servers = [server(at(name)) for name in names(20)]
        runs = looker.night(*servers) if together else [looker.night(one)[0] for one in servers]
        nights = [night["repository"] for night in runs]
        spent = local.world.anonymous - local.world.quota(None, "core").remaining
    read = [record for record in nights if record.observation]
    refused = [absent(record)[0] for record in nights if not record.observation]
    assert len(read) == 6
    assert refused == ["rate_limited"] * 14
    assert all("unread" not in record.observation for record in read)
    assert spent <= 60


def test_what_was_seen_stands_while_the_quota_is_spent_but_not_for_ever() -> None:
    with serve() as local:
        local.world.add(lively())
        looker = Looker(local)
        first = looker.one(at("octo/lively"))["repository"]
        local.world.tokens = {"one": 0}
        local.world.quotas.clear()
        looker.time.pass_by(days=13)
        second = looker.one(at("octo/lively"))["repository"]
        assert (second.content, second.observation) == (first.content, first.observation)
        looker.time.pass_by(days=2)
        assert absent(looker.one(at("octo/lively"))["repository"])[0] == "rate_limited"


def test_that_a_repository_was_gone_stands_too_and_of_no_other_one() -> None:
    with serve() as local:
        looker = Looker(local)
        first = looker.night(server(at("octo/gone"), ref="npm:same"))[0]["repository"]
        assert absent(first)[0] == "no_repository"
        local.world.tokens = {"one": 0}
        local.world.quotas.clear()
        looker.time.pass_by(days=13)
        stands = looker.night(server(at("octo/gone"), ref="npm:same"))[0]["repository"]
        assert (stands.content, stands.observation) == (first.content, first.observation)
        other = looker.night(server(at("octo/other"), ref="npm:same"))[0]["repository"]
        assert absent(other)[0] == "rate_limited"
        looker.time.pass_by(days=2)
        assert absent(looker.night(server(at("octo/gone"), ref="npm:same"))[0]["repository"])[0] == "rate_limited"


def test_a_change_that_cannot_be_read_whole_is_not_read_in_half() -> None:
    with serve() as local:
        local.world.add(lively())
        looker = Looker(local, tokens=())
        first = looker.one(at("octo/lively"))["repository"]
        local.world.repositories["octo/lively"].stars = 8
        local.world.quota(None, "core").remaining = 5
        second = looker.one(at("octo/lively"))["repository"]
        left = local.world.quota(None, "core").remaining
    assert (second.content, second.observation) == (first.content, first.observation)
    assert left == 4


def test_what_was_seen_of_another_repository_does_not_stand() -> None:
    with serve() as local:
        local.world.add(lively())
        looker = Looker(local)
        before = server(at("octo/lively"), ref="npm:same")
        looker.night(before)
        local.world.tokens = {"one": 0}
        local.world.quotas.clear()
        after = looker.night(server(at("octo/other"), ref="npm:same"))[0]
    assert absent(after["repository"])[0] == "rate_limited"


def test_a_spent_quota_is_not_waited_for() -> None:
    with serve() as local:
        local.world.tokens = {"one": 0}
        local.world.add(lively())
        looker = Looker(local)
        assert absent(looker.one(at("octo/lively"))["repository"])[0] == "rate_limited"
    assert looker.time.pauses == []


def test_the_reset_follows_the_clock_of_github_and_not_ours() -> None:
    with serve() as local:
        local.world.add(lively("octo/a"), lively("octo/b"))
        looker = Looker(local)
        looker.local.world.clock = lambda: looker.time.tick() - 7200
        local.world.tokens = {"one": 0}
        github = [absent(night["repository"])[0] for night in looker.night(server(at("octo/a")))]
    assert github == ["rate_limited"]


def proxied() -> Answer:
    return Answer(403, raw=b"<html>slow down</html>", headers={"Retry-After": "2"})


@pytest.mark.parametrize("refusal", [lambda: secondary(2), lambda: too_many(2), proxied])
def test_a_retry_after_is_waited_for(refusal: object) -> None:
    with serve() as local:
        local.world.add(lively())
        local.world.faults = [Fault("/repos/octo/lively", refusal)]  # type: ignore[arg-type]
        looker = Looker(local)
        assert body(looker.one(at("octo/lively"))["repository"])["name"] == "octo/lively"
    assert sum(looker.time.pauses) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("refusal", [lambda: secondary(None), lambda: too_many(None)])
def test_a_limit_without_retry_after_is_rested_for_a_minute(refusal: object) -> None:
    with serve() as local:
        local.world.add(lively())
        local.world.faults = [Fault("/repos/octo/lively", refusal)]  # type: ignore[arg-type]
        looker = Looker(local)
        assert body(looker.one(at("octo/lively"))["repository"])["name"] == "octo/lively"
    assert sum(looker.time.pauses) == pytest.approx(60, abs=0.1)


def test_another_token_goes_on_while_one_rests() -> None:
    with serve() as local:
        local.world.add(*(lively(name) for name in PLENTY))
        local.world.faults = [Fault("/repos", lambda: secondary(70), times=99, token="one")]
        looker = Looker(local, tokens=("one", "two"))
        nights = looker.night(*(server(at(name)) for name in PLENTY))
    assert {body(night["repository"])["name"] for night in nights} == set(PLENTY)
    assert sum(looker.time.pauses) < 70


def test_a_limit_that_does_not_end_is_rate_limited() -> None:
    with serve() as local:
        local.world.add(lively())
        local.world.faults = [Fault("/repos", lambda: secondary(None), times=999)]
        looker = Looker(local)
        assert absent(looker.one(at("octo/lively"))["repository"])[0] == "rate_limited"
    assert sum(looker.time.pauses) < 300


def test_a_graphql_quota_that_is_spent_is_rate_limited() -> None:
    limited = Answer(200, {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1."}]})
    with serve() as local:
        local.world.add(lively())
        local.world.faults = [Fault("/graphql", lambda: limited, times=999)]
        looker = Looker(local)
        assert absent(looker.one(at("octo/lively"))["repository"])[0] == "rate_limited"


def test_a_forbidden_last_request_is_forbidden_and_not_a_limit() -> None:
    with serve() as local:
        local.world.tokens = {"one": 1}
        local.world.add(Repository("octo/closed", status=403, message="Resource protected by organization SAML"))
        reason, detail = absent(Looker(local).one(at("octo/closed"))["repository"])
    assert (reason, "403" in detail) == ("forbidden", True)


def test_requests_of_one_token_keep_their_pace() -> None:
    with serve() as local:
        local.world.add(*(lively(name) for name in PLENTY))
        looker = Looker(local, given=limits(pace=0.5))
        looker.night(*(server(at(name)) for name in PLENTY))
        asked = len(local.world.asked)
        spent = looker.time.tick() - Looker(local).time.tick()
    assert spent >= (asked - 1) * 0.5 * 0.9
