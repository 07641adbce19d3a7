"""Questions are gathered into queries, and no question waits longer than needed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from crawler.collectors.repository.api.batching import Batcher, QueryTooHeavy
from crawler.collectors.repository.api.responses import (
    CollectionPrevented,
    GitHubTimedOut,
    GitHubUnreachable,
    RepositoryGone,
)


class Asked:
    """Answers each name with itself, and notes the queries."""

    def __init__(self, *, most: int = 99, error: type[Exception] = QueryTooHeavy) -> None:
        self.queries: list[tuple[str, ...]] = []
        self.most = most
        self.error = error

    async def __call__(self, names: Sequence[str]) -> Mapping[str, str | RepositoryGone | CollectionPrevented]:
        self.queries.append(tuple(names))
        await asyncio.sleep(0)
        if len(names) > self.most:
            raise self.error()
        return {name: name for name in names if name != "forgotten"}


async def never(seconds: float) -> None:
    await asyncio.Event().wait()


async def one(batcher: Batcher[str], name: str) -> str:
    with batcher.announce() as ask:
        return await ask(name)


async def many(batcher: Batcher[str], count: int) -> list[str]:
    return await asyncio.gather(*(one(batcher, f"n{place}") for place in range(count)))


def test_a_single_question_leaves_at_once() -> None:
    asked = Asked()
    assert asyncio.run(one(Batcher(asked, never), "a")) == "a"


def test_a_query_is_full_and_the_rest_follows() -> None:
    asked = Asked()
    assert len(asyncio.run(many(Batcher(asked, never, size=20), 45))) == 45
    assert [len(names) for names in asked.queries] == [20, 20, 5]


def test_a_question_waits_for_those_who_are_coming_but_not_longer_than_it_lingers() -> None:
    async def run() -> tuple[int, str]:
        waited = asyncio.Event()

        async def linger(seconds: float) -> None:
            assert seconds == 7
            await waited.wait()

        batcher: Batcher[str] = Batcher(asked, linger, linger=7)
        with batcher.announce():
            question = asyncio.create_task(one(batcher, "a"))
            for _ in range(5):
                await asyncio.sleep(0)
            before = len(asked.queries)
            waited.set()
            return before, await question

    asked = Asked()
    assert asyncio.run(run()) == (0, "a")


def test_an_announcement_without_a_question_delays_no_other_question() -> None:
    async def run() -> str:
        batcher: Batcher[str] = Batcher(asked, never)
        with batcher.announce():
            question = asyncio.create_task(one(batcher, "a"))
            await asyncio.sleep(0)
        return await question

    asked = Asked()
    assert asyncio.run(run()) == "a"


@pytest.mark.parametrize("error", [QueryTooHeavy, GitHubTimedOut])
def test_after_a_query_that_was_too_heavy_smaller_ones_are_sent_and_grow_again(error: type[Exception]) -> None:
    asked = Asked(most=5, error=error)
    batcher: Batcher[str] = Batcher(asked, never, size=20)
    asyncio.run(many(batcher, 20))
    assert batcher.size <= 6
    asked.most, asked.queries = 99, []
    for _ in range(30):
        asyncio.run(many(batcher, 20))
    assert batcher.size == 20


def test_a_size_that_was_too_heavy_is_not_tried_for_every_query() -> None:
    asked = Asked(most=4)
    batcher: Batcher[str] = Batcher(asked, never, size=20)
    asyncio.run(many(batcher, 60))
    asked.queries.clear()
    asyncio.run(many(batcher, 60))
    assert len(asked.queries) <= 19, "15 full queries, and a few to see whether a larger one is answered again"


def test_a_repository_that_is_too_heavy_alone_does_not_keep_queries_small() -> None:
    class HeavyOne(Asked):
        async def __call__(self, names: Sequence[str]) -> Mapping[str, str | RepositoryGone | CollectionPrevented]:
            answers = await super().__call__(names)
            if "n3" in names:
                raise QueryTooHeavy
            return answers

    async def run() -> list[str | BaseException]:
        batcher: Batcher[str] = Batcher(asked, never, size=20)
        return list(await asyncio.gather(*(one(batcher, f"n{place}") for place in range(60)), return_exceptions=True))

    asked = HeavyOne()
    answers = asyncio.run(run())
    assert [place for place, answer in enumerate(answers) if isinstance(answer, GitHubUnreachable)] == [3]
    assert len(asked.queries) <= 16


def test_when_every_query_fails_each_repository_is_asked_for_once() -> None:
    async def run() -> list[str | BaseException]:
        batcher: Batcher[str] = Batcher(asked, never, size=20)
        return list(await asyncio.gather(*(one(batcher, f"n{place}") for place in range(20)), return_exceptions=True))

    asked = Asked(most=0)
    assert all(isinstance(answer, GitHubUnreachable) for answer in asyncio.run(run()))
    assert len(asked.queries) == 20 + 4


def test_a_failed_question_fails_only_for_its_own_caller() -> None:
    async def run() -> list[object]:
        batcher: Batcher[str] = Batcher(Asked(), never)
        return list(await asyncio.gather(one(batcher, "a"), one(batcher, "forgotten"), return_exceptions=True))

    first, second = asyncio.run(run())
    assert first == "a"
    assert isinstance(second, GitHubUnreachable)


def test_a_bug_reaches_who_asked() -> None:
    class Bug(Exception):
        pass

    with pytest.raises(Bug):
        asyncio.run(one(Batcher(Asked(most=0, error=Bug), never), "a"))


def test_one_repository_is_asked_for_once() -> None:
    async def run() -> list[str]:
        batcher: Batcher[str] = Batcher(asked, never)
        return list(await asyncio.gather(one(batcher, "a"), one(batcher, "a")))

    asked = Asked()
    assert asyncio.run(run()) == ["a", "a"]
    assert asked.queries == [("a",)]
