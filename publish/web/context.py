"""The context of every page: store, backend, templates."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from typing import Any, Final, TypeAlias

from fastapi import Request
from jinja2 import Environment
from markupsafe import Markup, escape
from msgspec import Struct, field
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


class SiteContext(Struct, frozen=True):
    """The store, the backend and the templates. `lifespans` are entered while the app runs."""

    store: Store
    backend: SiteBackend
    assets: Assets = field(default_factory=Assets)
    jinja: Environment = field(default_factory=environment)
    lifespans: list[Lifespan] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.jinja.auto_reload = False  # templates are deployed together with the code
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

        `keep`: the page is the same for all visitors until the next publication, disclosure, dispute or request.
        """
        headers = {"cache-control": CACHE_PUBLIC if keep and status == 200 else CACHE_PRIVATE}
        if not index:
            headers[ROBOTS] = NOINDEX
        body = self.jinja.get_template(template).render(here=here, index=index, **values)
        return HTMLResponse(body, status, headers)

    def absolute(self, path: str) -> str:
        """The public URL of a path, independent of the request's headers."""
        return self.backend.base_url + path

    def is_hidden(self, server: Server) -> bool:
        """Whether a server has opted out; it is then treated as unknown."""
        return self.backend.opted_out(server) is not None

    def client(self, request: Request, standing: RequesterRole = RequesterRole.ANYONE) -> Requester:
        """The requester as a digest that cannot be reversed to an address."""
        return self.backend.client(client_address(request.scope, self.backend.limits.proxies), standing)


def break_name(text: str) -> Markup:
    """A name from a registry, which may be long, with line-break opportunities after its separators."""
    return _break_short_name(text) if len(text) <= NAME_LIMIT else Markup(break_text(text))  # noqa: S704  it is escaped


def break_text(text: str, *, clean: bool = False) -> str:
    """The HTML of a text with line-break opportunities; `clean` as in `publish.text.display.make_visible`."""
    return _JOINTS.sub("<wbr>", str(escape(make_visible(text, limit=NAME_LIMIT, clean=clean))))


@lru_cache(20_000)
def _break_short_name(text: str) -> Markup:
    """Cached for short names, since the same servers are on many pages."""
    return Markup(break_text(text))  # noqa: S704  it is escaped
