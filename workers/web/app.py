"""The site as a process: `hallmark web`, or `uvicorn --factory workers.web.app:create_app`. It asks itself only."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from functools import cached_property
from threading import Lock

from anyio import to_thread
from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from jinja2 import Environment
from sqlalchemy.engine import make_url
from starlette.types import ASGIApp

from crawler.opt_outs import OptOutList
from evidence.model import Server, ServerId
from evidence.store import NotMigrated, Store, StoreUnavailable, open_store
from evidence.store.listing.index import ListingIndex
from publish.app import create_app as create_site
from publish.community.limits import CommunityLimits
from publish.web.backend import (
    Operator,
    Requester,
    RequesterRole,
    RequestLimits,
    RetestAccepted,
    RetestProgress,
    RetestRefused,
)
from workers import log
from workers.clock import Clock, clock_at
from workers.community import client_limits
from workers.opt_outs import load_opt_outs
from workers.preload import preload_modules
from workers.publication import listing_index
from workers.retests import retest_requests
from workers.settings.environment import InvalidSetting, Settings, read_settings
from workers.web.first_requests import request_pages
from workers.web.request_metrics import RequestMetrics

OPT_OUT_SECONDS = 1.0
"""How long a list of opt-outs is used before it is read again."""

_YOUNG = 10_000
"""New objects that start a garbage collection; with five times as many a collection took 100 ms."""

_KIB = 1024
_LOCAL = "http://localhost"


class SiteServices:
    """The backend of the site (`publish.web.backend`): settings, clock, opt-outs and re-tests."""

    def __init__(self, settings: Settings, store: Store, clock: Clock) -> None:
        self._settings = settings
        self._store = store
        self._clock = clock
        self._hidden: tuple[float, OptOutList] | None = None
        self._heeded = ""
        self._seen = ("", "")
        self._lock = Lock()

    @property
    def base_url(self) -> str:
        return self._settings.web_url

    @cached_property
    def limits(self) -> RequestLimits:
        mine = self._settings
        return RequestLimits(
            rate=mine.web_rate,
            burst=mine.web_burst,
            body=mine.web_body * _KIB,
            answer_seconds=2 * find_query_limit(mine).total_seconds(),
            hsts=mine.web_hsts,
            proxies=tuple(mine.web_proxies),
        )

    @cached_property
    def operator(self) -> Operator:
        return Operator(contact_url=self._settings.contact_url, user_agent=self._settings.user_agent)

    @cached_property
    def community(self) -> CommunityLimits:
        return client_limits.read_community_limits(self._settings)

    def sealed(self, purpose: str) -> bytes:
        return client_limits.derive_key(self._settings, purpose)

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    @property
    def datasets(self) -> str:
        return self._settings.datasets

    def opted_out(self, server: Server) -> str | None:
        found = self._opt_outs().why(server)
        return None if found is None else found.detail

    def mark(self, revision: str) -> str:
        """The version of the file of opt-outs. Both lists are read again when it or `revision` changed.

        When the file has changed, the listing index is updated before a request is answered.
        """
        found = self._of_file()
        with self._lock:
            if self._seen != (revision, found):
                self._seen, self._hidden = (revision, found), None
        if found != self._heeded:
            try:
                listing_index.hide_opted_out(self._settings, self._store)
            except InvalidSetting as error:  # the index stays as it is, and pages of servers are not shown
                log.get_log().error("opt_outs_unreadable", error=str(error))
            self._heeded = found
        return found

    def client(self, address: str, standing: RequesterRole = RequesterRole.ANYONE) -> Requester:
        return retest_requests.identify_asker(self._settings, address, standing)

    def ask_retest(self, server: ServerId, who: Requester) -> RetestAccepted | RetestRefused:
        return retest_requests.request_retest(self._store, self._settings, self.now(), server, who)

    def retest(self, retest: str) -> RetestProgress | None:
        return retest_requests.report_retest(self._store, self._settings, retest)

    def retests(self, server: ServerId, limit: int = 20) -> Sequence[RetestProgress]:
        found = self._store.retests.list_retests(limit, server)
        return [
            RetestProgress(retest=one, ready_at=retest_requests.find_retest_start(self._settings, one)) for one in found
        ]

    def _of_file(self) -> str:
        path = self._settings.opt_outs
        try:
            return "" if path is None else str(path.stat().st_mtime_ns)
        except OSError:
            return "gone"

    def _opt_outs(self) -> OptOutList:
        with self._lock:
            now = self.monotonic()
            if self._hidden is None or now - self._hidden[0] >= OPT_OUT_SECONDS:
                self._hidden = (now, load_opt_outs(self._settings, self._store))
            return self._hidden[1]


def create_app(settings: Settings | None = None, clock: Clock | None = None) -> ASGIApp:
    """The app for these settings, by default those of the environment. It does not migrate the database."""
    mine = settings or read_settings()
    time = clock or clock_at(mine.clock)
    store = open_store(bound_store_url(mine))
    app = create_site(store, SiteServices(mine, store, time))
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        log.configure_logging(mine.log_level, mine.log_format)
        current_default_thread_limiter().total_tokens = mine.web_threads
        await to_thread.run_sync(_warm, app, store.listing)
        async with inner(app):
            await request_pages(app, mine.web_url or _LOCAL, mine.web_threads)
            yield
        store.close()

    app.router.lifespan_context = lifespan
    return RequestMetrics(app, time, mine.web_metrics)


def _warm(app: FastAPI, index: ListingIndex) -> None:
    """Load templates and rules, so that the first request of a process does not take a second longer."""
    templates: Environment = app.state.templates
    for name in templates.list_templates(extensions=["j2"]):
        templates.get_template(name)
    app.state.openapi()  # every operation looks up its parameters
    with suppress(StoreUnavailable, NotMigrated):  # pages report it
        index.read_revision()
    preload_modules()
    gc.set_threshold(_YOUNG)


def find_query_limit(settings: Settings) -> timedelta:
    """The time limit of a query: that of the settings on PostgreSQL; SQLite, in this process, has none."""
    is_sqlite = make_url(settings.store_url).get_backend_name() == "sqlite"
    return timedelta(0) if is_sqlite else settings.web_query_time


def bound_store_url(settings: Settings) -> str:
    """The URL of the store, on PostgreSQL with a time limit for every query."""
    limit = find_query_limit(settings)
    if not limit:
        return settings.store_url
    bound = f"-c statement_timeout={int(limit.total_seconds() * 1000)}"
    return make_url(settings.store_url).update_query_dict({"options": bound}).render_as_string(hide_password=False)
