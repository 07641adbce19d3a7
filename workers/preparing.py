"""The process beside the site that makes pages of servers ahead, after each publication.

`uvicorn --factory workers.preparing:create_app` is the site with that process, as a fleet starts it.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import reduce
from math import inf
from multiprocessing.connection import wait
from multiprocessing.queues import SimpleQueue
from operator import add
from threading import Event, Thread
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from evidence.store import NotMigrated, StoreUnavailable, open_store
from publish.site.ahead import Ahead, Known
from publish.site.pages.server import fitted
from publish.site.prepared import FAILURES, Gone, PreparedPages, is_damaged
from publish.site.preparing import Made, Part, Told, prepare
from publish.site.revisions import learn
from publish.site.site import Site
from workers import log, web
from workers.clock import clock_at
from workers.settings import Settings
from workers.warming import warm
from workers.web import Counter, prepared_pages, store_url

LOOK: Final = 5.0
"""Seconds between two looks at whether something else is published."""

HOLD: Final = 60.0
"""Seconds after which pages are held in memory again: there are more of them by now, or the system had to drop some."""

AGAIN: Final = 600.0
"""Seconds after which it is tried again where the disk is full, or something happened all the time."""

TRIES: Final = 3
"""So often the same pages are begun, and a process that ends soon is started."""

SHORT: Final = 60.0

_OFTEN: Final = 100  # servers between two words about how far a part has come

_LOWEST: Final = 19
_WANTED: Final = frozenset({0, -signal.SIGINT, -signal.SIGTERM})
_LOCK: Final = "lock"


class NothingAhead(Exception):
    """There are no pages to make ahead: the message says why."""


def create_app() -> ASGIApp:
    """The site of `workers.web` by the settings of the environment, with the process that makes its pages ahead.

    Of several at one home folder one makes pages, and the others wait for their turn.
    """
    settings = Settings()
    site = web.create_app(settings)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await site(scope, receive, send)
            return
        with preparing(settings, _warned):
            await site(scope, receive, send)

    return app


def _warned(why: str) -> None:
    log.get_log().warning("pages_ahead_failed", why=why)


def prepare_now(settings: Settings, told: Told, processes: int = 1) -> Made:
    """Make all pages that are missing, without a pause; raise NothingAhead, StoreUnavailable, or OSError."""
    parts = [_prepare(settings, told)] if processes == 1 else _prepare_by_several(settings, told, processes)
    made = reduce(add, (made for _, made in parts))
    stamps = {stamp for stamp, _ in parts}
    pages = prepared_pages(settings, clock_at(settings.clock))
    if pages is not None and made.is_complete and len(stamps) == 1:
        with suppress(*FAILURES):  # then each page is looked for once more
            pages.complete(stamps.pop())
    return made


def _prepare(settings: Settings, told: Told, part: Part | None = None) -> tuple[str, Made]:
    """Make a part of the pages; the stamp under which they are, and how far it came."""
    with _site(settings) as (site, pages):
        for _ in range(TRIES):
            known = learn(site)
            if not known.stamp:
                raise NothingAhead("nothing is published yet: `hallmark run` measures the starter set")
            pages.drop_others(known.stamp)
            try:
                made = prepare(site, known, told=told, part=part)
            except Gone:
                continue
            except sqlite3.Error as error:
                if not is_damaged(error):
                    raise OSError(f"pages cannot be written to {pages.folder}: {error}") from error
                pages.drop(known.stamp)
                continue
            if not made.over:
                return known.stamp, made
    raise NothingAhead("something else was published again and again meanwhile")


def _prepare_by_several(settings: Settings, told: Told, processes: int) -> list[tuple[str, Made]]:
    context = multiprocessing.get_context("spawn")
    heard: SimpleQueue[tuple[int, Made]] = context.SimpleQueue()
    latest: dict[int, Made] = {}
    with ProcessPoolExecutor(processes, context, _heard_by, (heard,)) as pool:
        parts = [pool.submit(_prepare_part, settings, Part(number, processes)) for number in range(processes)]
        while wait_for(parts, timeout=0.2).not_done:
            while not heard.empty():
                number, latest[number] = heard.get()
                told(reduce(add, latest.values()))
        try:
            return [part.result() for part in parts]
        except BrokenProcessPool as error:
            raise OSError("a process that makes pages has died. What was made stays: run it again") from error


_parent: SimpleQueue[tuple[int, Made]]


def _heard_by(parent: SimpleQueue[tuple[int, Made]]) -> None:
    """Called in a process that makes a part, when it starts."""
    global _parent  # noqa: PLW0603  a queue reaches such a process only when it starts
    _parent = parent


def _prepare_part(settings: Settings, part: Part) -> tuple[str, Made]:
    said = 0

    def told(made: Made) -> None:
        nonlocal said
        if made.seen - said >= _OFTEN or made.seen == made.servers:
            said = made.seen
            _parent.put((part.number, made))

    return _prepare(settings, told, part)


@contextmanager
def preparing(settings: Settings, told: Callable[[str], None]) -> Iterator[None]:
    """Have pages made ahead by a process of their own; `told` hears when one dies. It ends with this process."""
    if not settings.web_prepared:
        yield
        return
    beside = _Beside(settings, told)
    watching = Thread(target=beside.watch, name="preparing", daemon=True)
    watching.start()
    try:
        yield
    finally:
        beside.end()
        watching.join()


class _Beside:
    """The process, started again when it dies."""

    def __init__(self, settings: Settings, told: Callable[[str], None]) -> None:
        self._settings, self._told = settings, told
        self._over = Event()

    def watch(self) -> None:
        """Start it until it is to end, or ends again and again."""
        short = 0
        while short < TRIES and not self._over.is_set():
            began = time.monotonic()
            process = multiprocessing.get_context("spawn").Process(
                target=keep, args=(self._settings,), daemon=True, name="preparing"
            )
            process.start()
            while process.is_alive() and not self._over.wait(0.2):
                pass
            if self._over.is_set():
                process.kill()  # what was written is whole, and the rest is made again
            process.join()
            if self._over.is_set() or process.exitcode in _WANTED:
                return
            short = short + 1 if time.monotonic() - began < SHORT else 1
            self._told(f"the process that makes pages ahead ended with {process.exitcode}")

    def end(self) -> None:
        """End it at once."""
        self._over.set()


def keep(settings: Settings) -> None:
    """Make pages whenever something else is published, until the process is ended or left alone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(PermissionError):  # where systemd allows no priorities; it pauses as long as it works all the same
        os.nice(_LOWEST)
    Thread(target=_follow, name="follow", daemon=True).start()
    log.configure(settings.log_level, settings.log_format)
    warm()
    with _site(settings) as (site, pages):
        _alone(pages)
        keeper = Keeper(site, pages)
        while True:
            time.sleep(keeper.turn())


class Keeper:
    """What has been made ahead, and when it is tried again."""

    def __init__(
        self, site: Site, pages: PreparedPages, sleep: Callable[[float], None] = time.sleep, again: float = AGAIN
    ) -> None:
        self._site, self._pages, self._sleep, self._again = site, pages, sleep, again
        self._stamp, self._begun, self._done = "", 0, False
        self._held = ("", -inf)

    def turn(self) -> float:
        """Make what is missing, if anything; after how many seconds to look again."""
        try:
            known = learn(self._site)
            if not known.stamp:
                return LOOK
            self._hold(known.stamp)
            return self._make(known) if self._is_wanted(known.stamp) else LOOK
        except (StoreUnavailable, NotMigrated):
            return LOOK
        except Gone:
            return LOOK
        except FAILURES as error:
            log.get_log().warning("pages_ahead_failed", why=f"{type(error).__name__}: {error}")
            if is_damaged(error):
                with suppress(OSError):
                    self._pages.drop(self._stamp)
            return self._again

    def _hold(self, stamp: str) -> None:
        now, (held, at) = time.monotonic(), self._held
        if stamp != held or now - at >= HOLD:  # a file that is held takes room on the disk even when it is deleted
            self._held = (stamp, now)
            self._pages.hold(stamp)

    def _is_wanted(self, stamp: str) -> bool:
        if stamp != self._stamp:
            self._stamp, self._begun, self._done = stamp, 0, self._pages.is_complete(stamp)
        if self._done and not self._pages.path(stamp).exists():  # somebody deleted it
            self._done = False
        return not self._done and self._begun < TRIES

    def _make(self, known: Known) -> float:
        began, rest = time.monotonic(), _Halves(self._sleep)
        self._begun += 1
        if self._begun == 1:  # once, or two versions of the code would delete each other's files for ever
            self._pages.drop_others(known.stamp)
        log.get_log().info("pages_ahead_begun", stamp=known.stamp)
        made = prepare(self._site, known, rest)
        self._done = not made.over and not made.later
        if made.is_complete:
            self._pages.complete(known.stamp)
        said = log.get_log().warning if made.full else log.get_log().info
        said(
            "pages_ahead_full" if made.full else "pages_ahead_over" if made.over else "pages_ahead_done",
            stamp=known.stamp,
            servers=made.servers,
            made=made.made,
            there=made.there,
            left_out=made.left_out,
            later=made.later,
            seconds=round(time.monotonic() - began),
            bytes=made.size,
        )
        return self._again if made.later else LOOK


class _Halves:
    """A pause as long as the work before it."""

    def __init__(self, sleep: Callable[[float], None]) -> None:
        self._sleep = sleep
        self._since = time.monotonic()

    def __call__(self) -> None:
        self._sleep(time.monotonic() - self._since)
        self._since = time.monotonic()


@contextmanager
def _site(settings: Settings) -> Iterator[tuple[Site, PreparedPages]]:
    clock = clock_at(settings.clock)
    pages = prepared_pages(settings, clock)
    if pages is None:
        raise NothingAhead("HALLMARK_WEB_PREPARED is 0: no pages are made ahead")
    store = open_store(store_url(settings))
    try:
        yield fitted(Site(store, Counter(settings, store, clock), Ahead(pages))), pages
    finally:
        store.close()


def _alone(pages: PreparedPages) -> None:
    """Wait until no other process makes pages in this folder; this one is the only one until it ends."""
    pages.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(pages.folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)


def _follow() -> None:
    """End with the process that started this one, however that ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(0)
