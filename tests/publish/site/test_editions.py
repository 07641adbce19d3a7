"""Which edition a request gets, and which pages of it are the same as in the one before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from threading import Event

import pytest
from anyio.to_thread import current_default_thread_limiter

from evidence.model import Dossier
from evidence.store import Store
from publish.site.editions import Edition, Editions
from publish.web.context import SiteContext
from tests.publish.site.plain_backend import PlainBackend

MakeStore = Callable[[Sequence[Dossier]], Store]
ONE, OTHER = "srv_00000000000000000001", "srv_00000000000000000002"


class Asked:
    """A store whose revision is `now`, which answers while `gate` is open, and how often it was asked."""

    def __init__(self, store: Store) -> None:
        self.now, self.times, self.gate = "1", 0, Event()
        self.gate.set()
        store.changed_servers.read_revisions = self._revisions  # type: ignore[method-assign]
        self.editions = Editions(SiteContext(store, PlainBackend()))

    def _revisions(self) -> tuple[str, str]:
        self.times += 1
        found = self.now
        assert self.gate.wait(300)
        return found, "0"

    async def current(self) -> str:
        edition = await asyncio.wait_for(self.editions.current(), 30)
        assert edition is not None
        return edition.revision.split()[0]


@pytest.fixture
def asked(make_store: MakeStore) -> Asked:
    return Asked(make_store([]))


def test_every_request_sees_what_was_written_before_it(asked: Asked) -> None:
    async def scenario() -> None:
        for revision in ("1", "2", "3"):
            asked.now = revision
            assert await asked.current() == revision

    asyncio.run(scenario())


def test_a_request_that_comes_while_it_is_read_waits_for_another_read(asked: Asked) -> None:
    async def scenario() -> None:
        asked.gate.clear()
        first = asyncio.create_task(asked.current())
        while not asked.times:
            await asyncio.sleep(0)
        asked.now = "2"
        later = [asyncio.create_task(asked.current()) for _ in range(20)]
        await asyncio.sleep(0)
        asked.gate.set()
        assert await first in {"1", "2"}
        assert [await one for one in later] == ["2"] * 20
        assert asked.times == 2

    asyncio.run(scenario())


def test_pages_that_take_every_thread_do_not_hold_it_up(asked: Asked) -> None:
    async def scenario() -> None:
        pages = current_default_thread_limiter()
        pages.total_tokens = 1
        await pages.acquire()
        assert await asked.current() == "1"
        pages.release()

    asyncio.run(scenario())


def test_a_cancelled_request_cancels_no_other(asked: Asked) -> None:
    async def scenario() -> None:
        asked.gate.clear()
        tasks = [asyncio.create_task(asked.current()) for _ in range(2)]
        while not asked.times:
            await asyncio.sleep(0)
        tasks[0].cancel()
        asked.gate.set()
        assert await tasks[1] == "1"

    asyncio.run(scenario())


def test_the_page_of_a_server_follows_from_the_run_until_the_server_changes() -> None:
    before, after = Edition("1", "night"), Edition("2", "night", frozenset({ONE}))
    assert before.of(f"/servers/{OTHER}", b"") == after.of(f"/servers/{OTHER}", b"")
    assert before.of(f"/servers/{ONE}", b"") != after.of(f"/servers/{ONE}", b"")
    for path, query in (("/", b""), (f"/servers/{OTHER}/history", b""), (f"/servers/{OTHER}", b"run=1")):
        assert before.of(path, query) != after.of(path, query)
    assert Edition("1").of(f"/servers/{ONE}", b"") != Edition("2").of(f"/servers/{ONE}", b"")
