"""Which revision of the store pages are made from, and who waits for the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from anyio.to_thread import current_default_thread_limiter

from evidence.model import Dossier
from evidence.store import Store
from publish.site.desk import Limits
from publish.site.revisions import Revisions
from publish.site.site import Site
from tests.publish.site.desks import PlainDesk

MakeStore = Callable[[Sequence[Dossier]], Store]


class Asked:
    """A store whose revision is `now`, told when `gate` is open, and how often it was asked for."""

    def __init__(self, store: Store) -> None:
        self.now, self.times, self.gate, self.desk = "1", 0, Event(), PlainDesk()
        self.gate.set()
        store.board.revision = self._revision  # type: ignore[method-assign]
        self.revisions = Revisions(Site(store, self.desk))

    def _revision(self) -> str:
        self.times += 1
        told = self.now
        assert self.gate.wait(30)
        return told

    async def current(self) -> str:
        return (await asyncio.wait_for(self.revisions.current(), 30)).split()[0]

    async def overtaken(self) -> asyncio.Task[str]:
        """A question whose answer is under way when something is written; the gate is closed."""
        self.gate.clear()
        asking = asyncio.create_task(self.current())
        while not self.times:
            await asyncio.sleep(0)
        self.now = "2"
        self.revisions.forget()
        return asking


@pytest.fixture
def asked(make_store: MakeStore) -> Asked:
    return Asked(make_store([]))


def _run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(scenario)


def test_where_visitors_keep_coming_none_of_them_waits_for_it(asked: Asked) -> None:
    async def scenario() -> None:
        assert await asked.current() == "1"
        asked.now = "2"
        asked.desk.seconds += 0.6
        asked.gate.clear()
        assert [await asked.current() for _ in range(3)] == ["1"] * 3
        asked.gate.set()
        assert asked.revisions._renewing is not None
        await asked.revisions._renewing
        assert asked.times == 2
        asked.desk.seconds += 0.5
        assert await asked.current() == "2"

    _run(scenario())


def test_what_is_too_old_is_shown_to_nobody(asked: Asked) -> None:
    async def scenario() -> None:
        assert await asked.current() == "1"
        asked.now = "2"
        asked.desk.seconds += 1.0
        assert [await one for one in [asyncio.create_task(asked.current()) for _ in range(3)]] == ["2"] * 3
        assert asked.times == 2

    _run(scenario())


def test_an_answer_that_was_under_way_when_something_was_written_is_not_kept(asked: Asked) -> None:
    async def scenario() -> None:
        first = await asked.overtaken()
        asked.gate.set()
        assert await first == "1"
        assert await asked.current() == "2"

    _run(scenario())


def test_who_comes_while_it_is_asked_for_sees_what_was_written_before(asked: Asked) -> None:
    async def scenario() -> None:
        first = await asked.overtaken()
        second = asyncio.create_task(asked.current())
        await asyncio.sleep(0)
        asked.gate.set()
        assert (await first, await second, asked.times) == ("1", "2", 2)

    _run(scenario())


def test_where_nothing_is_fresh_each_asks_once(asked: Asked) -> None:
    asked.desk.limits = Limits(fresh=timedelta(0))

    async def scenario() -> None:
        for _ in range(3):
            await asked.current()
        assert asked.times == 3

    _run(scenario())


def test_all_who_wait_for_it_go_on_together(asked: Asked) -> None:
    """One after the other would each let all new requests go first."""

    async def scenario() -> None:
        turns, gone_on = 0, list[int]()

        async def wait() -> None:
            await asked.revisions.current()
            gone_on.append(turns)

        asked.gate.clear()
        waiting = [asyncio.create_task(wait()) for _ in range(20)]
        while not asked.times:
            await asyncio.sleep(0)
        asked.gate.set()
        while not all(one.done() for one in waiting):
            await asyncio.sleep(0)
            turns += 1
        assert len(set(gone_on)) == 1

    _run(scenario())


def test_pages_that_take_every_thread_do_not_hold_it_up(asked: Asked) -> None:
    async def scenario() -> None:
        pages = current_default_thread_limiter()
        pages.total_tokens = 1
        await pages.acquire()
        assert await asked.current() == "1"
        pages.release()

    _run(scenario())
