"""The context of every page: store, backend, templates."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, TypeAlias

from fastapi import Request
from jinja2 import Environment
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, Response

from evidence.model import Server
from evidence.store import Store
from publish.site.templates import NAME_LIMIT, environment
from publish.text.display import make_visible
from publish.web.assets import Assets
from publish.web.backend import Requester, RequesterRole, SiteBackend
from publish.web.client_address import client_address

CACHE_PUBLIC: Final = "public, max-age=0, s-maxage=0, must-revalidate"
"""Cache-Control of what is the same for all visitors: any cache may keep it, and revalidates it before every use."""

CACHE_PRIVATE: Final = "no-store"
"""Cache-Control of everything else."""

ROBOTS: Final = "x-robots-tag"
NOINDEX: Final = "noindex, nofollow"

_JOINTS: Final = re.compile(r"(?<=[/._@:-])(?=[^\W_])")

Lifespan: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class SiteContext:
    """The store, the backend and the templates. `lifespans` are entered while the app runs."""

    store: Store
    backend: SiteBackend
    assets: Assets = field(default_factory=Assets)
    jinja: Environment = field(default_factory=environment)
    lifespans: list[Lifespan] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.jinja.auto_reload = False  # templates are as old as the code that fills them
        self.jinja.filters["breakable"] = break_name
        self.jinja.globals |= {"asset": self.assets.url, "operator": self.backend.operator}

    def page(
        self,
        template: str,
        *,
        here: str = "",
        status: int = 200,
        index: bool = True,
        keep: bool = True,
        **values: Any,
    ) -> Response:
        """A page. `here` is its entry of the navigation; `index` lets search engines list it.

        `keep` says that it is the same for everybody until something is published, disclosed, disputed or asked for.
        """
        headers = {"cache-control": CACHE_PUBLIC if keep and status == 200 else CACHE_PRIVATE}
        if not index:
            headers[ROBOTS] = NOINDEX
        body = self.jinja.get_template(template).render(here=here, index=index, **values)
        return HTMLResponse(body, status, headers)

    def absolute(self, path: str) -> str:
        """The address of a path as the world sees it; nothing that a request says is in it."""
        return self.backend.base_url + path

    def is_hidden(self, server: Server) -> bool:
        """Whether a server has opted out: it is as unknown as one that never was."""
        return self.backend.opted_out(server) is not None

    def client(self, request: Request, standing: RequesterRole = RequesterRole.ANYONE) -> Requester:
        """Who sent a request, as a digest that leads back to nobody."""
        return self.backend.client(client_address(request.scope, self.backend.limits.proxies), standing)


def break_name(text: str) -> Markup:
    """A name of a stranger, which may be long, with places to break it: behind what joins its parts."""
    return _remembered(text) if len(text) <= NAME_LIMIT else Markup(break_text(text))  # noqa: S704  it is escaped


def break_text(text: str, *, clean: bool = False) -> str:
    """The HTML of the same; one of no more than NAME_LIMIT characters may be `clean` (`publish.text.display`)."""
    return _JOINTS.sub("<wbr>", str(escape(make_visible(text, limit=NAME_LIMIT, clean=clean))))


@lru_cache(20_000)
def _remembered(text: str) -> Markup:
    """A short name: the same servers are on many pages."""
    return Markup(break_text(text))  # noqa: S704  it is escaped
