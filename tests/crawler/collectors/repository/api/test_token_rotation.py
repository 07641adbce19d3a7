"""Budgets of tokens, as answers that overtake each other tell them."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from email.utils import format_datetime

import pytest

from crawler.collectors.repository.api.responses import ApiResponse, OutOfQuota
from crawler.collectors.repository.api.token_rotation import UNLIMITED_REQUESTS, GrantedToken, TokenRotation
from tests.crawler.collectors.repository.local_github import NOW, Time


def purse(time: Time, *values: str, max_wait: float = 75) -> TokenRotation:
    return TokenRotation(values, tick=time.tick, now=time.time, pause=time.pause, pace=0, max_wait=max_wait)


def quota_response(
    remaining: int, *, status: int = 200, resets_in: float = 1800, resource: str = "core", skew: float = 0
) -> ApiResponse:
    github = NOW + timedelta(seconds=skew)
    headers = {
        "x-ratelimit-remaining": str(remaining),
        "x-ratelimit-reset": str(int(github.timestamp() + resets_in)),
        "x-ratelimit-resource": resource,
        "date": format_datetime(github, usegmt=True),
    }
    return ApiResponse(status, headers, '{"message": "API rate limit exceeded"}' if status == 403 else "{}")


def test_the_smallest_number_of_a_window_is_the_newest() -> None:
    async def run() -> None:
        time = Time()
        tokens = purse(time, "one")
        one, other = await tokens.take("core", "a"), await tokens.take("core", "b")
        await tokens.settle(one, quota_response(0))
        await tokens.settle(other, quota_response(1))
        with pytest.raises(OutOfQuota):
            await tokens.take("core", "c")

    asyncio.run(run())


def test_requests_on_their_way_count() -> None:
    async def run() -> None:
        tokens = purse(Time(), "one")
        token = await tokens.take("core", "a")
        await tokens.settle(token, quota_response(2))
        assert await tokens.affords(2)
        await tokens.take("core", "b")
        assert await tokens.affords(1)
        assert not await tokens.affords(2)
        await tokens.take("core", "c")
        with pytest.raises(OutOfQuota):
            await tokens.take("core", "d")

    asyncio.run(run())


def test_budgets_of_rest_and_graphql_are_apart() -> None:
    async def run() -> None:
        tokens = purse(Time(), "one")
        token = await tokens.take("graphql", "a")
        await tokens.settle(token, quota_response(0, resource="graphql"))
        await tokens.take("core", "a")
        with pytest.raises(OutOfQuota):
            await tokens.take("graphql", "a")

    asyncio.run(run())


@pytest.mark.parametrize("skew", [0, 7200, -7200])
def test_a_budget_comes_back_at_the_reset_whatever_our_clock_says(skew: float) -> None:
    async def run() -> None:
        time = Time()
        tokens = purse(time, "one")
        token = await tokens.take("core", "a")
        await tokens.settle(token, quota_response(0, status=403, resets_in=1800, skew=skew))
        time.pass_by(seconds=1700)
        with pytest.raises(OutOfQuota):
            await tokens.take("core", "a")
        time.pass_by(seconds=101)
        assert (await tokens.take("core", "a")).token.position == 1

    asyncio.run(run())


def test_a_token_never_shows_its_value() -> None:
    async def run() -> GrantedToken:
        return await purse(Time(), "ghp_secret").take("core", "a")

    taken = asyncio.run(run())
    assert "ghp_secret" not in repr(taken)
    assert taken.token.digest not in "ghp_secret"
    assert taken.granted.token == taken.token.digest


def test_the_same_token_twice_is_one() -> None:
    assert len(purse(Time(), "one", "one").tokens) == 1


def test_a_query_waits_for_as_many_points_as_it_may_cost() -> None:
    async def run() -> None:
        tokens = purse(Time(), "one")
        await tokens.settle(await tokens.take("graphql", "a", cost=20), quota_response(19, resource="graphql"))
        await tokens.take("graphql", "a", cost=15)
        with pytest.raises(OutOfQuota):
            await tokens.take("graphql", "a", cost=5)

    asyncio.run(run())


def test_an_answer_of_the_window_before_does_not_spend_the_new_one() -> None:
    async def run() -> None:
        time = Time()
        tokens = purse(time, "one")
        first, late = await tokens.take("core", "a"), await tokens.take("core", "b")
        await tokens.settle(first, quota_response(5000, resets_in=3600))
        await tokens.settle(late, quota_response(0, resets_in=1))
        assert await tokens.affords(4000)

    asyncio.run(run())


def test_a_github_without_a_quota_is_not_waited_for() -> None:
    async def run() -> None:
        tokens = purse(Time(), "one")
        await tokens.settle(await tokens.take("core", "a"), ApiResponse(200, {}, "{}"))
        assert await tokens.affords(UNLIMITED_REQUESTS)

    asyncio.run(run())


def test_a_request_that_got_lost_may_have_been_counted() -> None:
    async def run() -> None:
        tokens = purse(Time(), "one")
        await tokens.settle(await tokens.take("core", "a"), quota_response(2))
        await tokens.give_back(await tokens.take("core", "a"))
        await tokens.give_back(await tokens.take("core", "a"), sent=False)
        assert await tokens.affords(1)
        assert not await tokens.affords(2)

    asyncio.run(run())
