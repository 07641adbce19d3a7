"""Accepts forms only from pages of this site."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import urlsplit

from fastapi import Header, Request
from starlette.exceptions import HTTPException

_OURS: Final = ("same-origin", "none")


def require_same_origin(
    request: Request,
    host: Annotated[str, Header()] = "",
    origin: Annotated[str, Header()] = "",
    sec_fetch_site: Annotated[str, Header()] = "",
) -> None:
    """A dependency of routes that take forms: 403 for one that a browser sent from another site.

    There are no cookies to abuse; the check prevents other sites from using up a visitor's request limits. Clients
    other than browsers send neither header and are accepted: the limits of their own address apply.
    """
    if sec_fetch_site and sec_fetch_site not in _OURS:
        raise HTTPException(403)
    ours = {host, urlsplit(request.app.state.base_url).netloc}  # a proxy may use another name for this process
    if origin and not sec_fetch_site and _host_of(origin) not in ours:
        raise HTTPException(403)


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # as of "http://["
        return None
