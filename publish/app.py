"""The app: every page, the API, badges and the MCP server, behind one guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Final, TypeAlias

from fastapi import APIRouter, FastAPI

from evidence.derive.secret_scrubbing import are_free_of_secrets
from evidence.store import Store
from publish.api import guide
from publish.api.app import BASE_PATH, create_api
from publish.mcp import endpoint
from publish.site.conditional import Conditional
from publish.site.pages import (
    about,
    assets,
    badges,
    categories,
    comparison,
    dashboard,
    dataset_files,
    datasets,
    feeds,
    glossary,
    health,
    methodologies,
    server_list,
    sitemap,
    status,
)
from publish.site.server_pages import changes, control, disputes, evidence, fixes, receipts, references, retests
from publish.web import errors
from publish.web.backend import SiteBackend
from publish.web.context import SiteContext
from publish.web.headers import SecurityHeaders
from publish.web.rate_limits import RateLimiter
from publish.web.request_guard import RequestGuard
from publish.web.time_limit import TimeLimit
from scoring.engine import catalogue

Routes: TypeAlias = Callable[[SiteContext], APIRouter]

ROUTES: Final[tuple[Routes, ...]] = (
    health.routes,
    assets.routes,
    dashboard.routes,
    server_list.routes,
    categories.routes,
    sitemap.routes,
    feeds.routes,
    glossary.routes,
    status.routes,
    datasets.routes,
    about.routes,
    guide.routes,
    badges.routes,
    endpoint.routes,
    receipts.routes,
    fixes.routes,
    evidence.routes,
    changes.routes,
    comparison.routes,
    methodologies.routes,
    retests.routes,
    disputes.routes,
    control.routes,
    dataset_files.routes,
    references.routes,
)
"""The routes of all modules, in the order of matching."""


def create_app(store: Store, backend: SiteBackend) -> FastAPI:
    """The app over a store. It reads published results, and writes requests of visitors through the backend.

    It sends no requests. Middlewares from outside in: headers, guard, rates, time limit, entity tags.
    """
    site = SiteContext(store, backend)
    app = FastAPI(
        title="Hallmark",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan(site),
    )
    app.state.base_url = backend.base_url
    app.state.templates = site.jinja
    api = create_api(site)
    app.state.openapi = api.openapi
    app.mount(BASE_PATH, api)  # before all pages, since routes are matched in order
    for routes in ROUTES:
        app.include_router(routes(site), include_in_schema=False)
    errors.install_error_handlers(app, site)
    app.add_middleware(Conditional, site=site)
    app.add_middleware(TimeLimit, site=site)
    app.add_middleware(RateLimiter, site=site)
    app.add_middleware(RequestGuard, site=site)
    app.add_middleware(SecurityHeaders, limits=backend.limits, open_path=f"{BASE_PATH}/")
    return app


def _lifespan(site: SiteContext) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        _load(site)
        async with AsyncExitStack() as stack:
            for enter in site.lifespans:
                await stack.enter_async_context(enter())
            yield

    return lifespan


def _load(site: SiteContext) -> None:
    """Load rules, the patterns of secrets and all templates before the first visitor asks."""
    catalogue.list_rules()
    are_free_of_secrets(["key"])
    for name in site.jinja.list_templates(["j2"]):
        site.jinja.get_template(name)
