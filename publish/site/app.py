"""The app: every page, the API, badges and the MCP server, behind one guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Final, TypeAlias

from fastapi import APIRouter, FastAPI

from evidence.store import Store
from publish.api import guide
from publish.api.app import BASE, create_api
from publish.site import errors
from publish.site.conditional import Conditional
from publish.site.desk import Desk
from publish.site.guard import Guard
from publish.site.headers import Headers
from publish.site.pages import (
    about,
    badges,
    comparing,
    control,
    dashboard,
    dataset_files,
    datasets,
    disputes,
    health,
    indexes,
    mcp,
    methods,
    retests,
    server,
    server_changes,
    server_evidence,
    server_fixes,
    server_references,
    servers,
    static,
    status,
)
from publish.site.rates import Rates
from publish.site.site import Site

Routes: TypeAlias = Callable[[Site], APIRouter]

ROUTES: Final[tuple[Routes, ...]] = (
    health.routes,
    static.routes,
    dashboard.routes,
    servers.routes,
    indexes.routes,
    status.routes,
    datasets.routes,
    about.routes,
    guide.routes,
    badges.routes,
    mcp.routes,
    server.routes,
    server_fixes.routes,
    server_evidence.routes,
    server_changes.routes,
    comparing.routes,
    methods.routes,
    retests.routes,
    disputes.routes,
    control.routes,
    dataset_files.routes,
    server_references.routes,
)
"""The modules of routes, in the order in which they are asked."""


def create_app(store: Store, desk: Desk) -> FastAPI:
    """The app over a store. It reads published results, and writes what visitors ask for through the desk.

    It sends no requests. Middlewares from outside in: headers, guard, rates, entity tags.
    """
    site = Site(store, desk)
    app = FastAPI(
        title="Hallmark",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan(site),
    )
    app.state.base_url = desk.base_url
    app.state.templates = site.jinja
    api = create_api(site)
    app.state.openapi = api.openapi
    app.mount(BASE, api)  # before all pages, since each route is asked whether it is meant
    for routes in ROUTES:
        app.include_router(routes(site), include_in_schema=False)
    errors.handle(app, site)
    app.add_middleware(Conditional, site=site)
    app.add_middleware(Rates, site=site)
    app.add_middleware(Guard, site=site)
    app.add_middleware(Headers, limits=desk.limits)
    return app


def _lifespan(site: Site) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for enter in site.lifespans:
                await stack.enter_async_context(enter())
            yield

    return lifespan
