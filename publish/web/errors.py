"""Responses to failed requests: pages for browsers, problem documents for API and MCP."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from publish.web.context import SiteContext
from publish.web.error_handlers import RETRY_SECONDS, ErrorHandlers
from publish.web.headers import add_security_headers
from publish.web.problems import problem_response

_FOR_PROGRAMS: Final = ("/api/", "/mcp")

_WORDS: Final[Mapping[int, tuple[str, str]]] = {
    400: ("This address cannot be read", "A part of it is not valid for this page."),
    403: (
        "This is not allowed from another site",
        "A form was sent from another site. Send it from its own page.",
    ),
    404: ("There is nothing here", "The address may be wrong, or the server is no longer listed."),
    405: ("This page cannot be changed", "It can only be read."),
    408: ("The request took too long", "It did not arrive completely in time. Try again."),
    413: ("The request is too large", "This site accepts only shorter requests."),
    414: ("The address is too long", "No page of this site has such a long address."),
    429: ("Too many requests", "Wait for a moment, then continue. A dataset has all data in one download."),
    500: ("Hallmark failed", "This is our failure, and it is logged. It changes no score."),
    503: (
        "The site is not ready",
        "Its database does not answer, which is our failure. Try again in a moment.",
    ),
}


def failure_response(
    site: SiteContext, path: str, status: int, detail: str = "", headers: Mapping[str, str] | None = None
) -> Response:
    """The answer to a request that failed: `detail` replaces the default text."""
    if path.startswith(_FOR_PROGRAMS):
        return problem_response(status, detail, headers)
    title, usual = _WORDS.get(status, (HTTPStatus(status).phrase, ""))
    page = site.page(
        "error.html.j2", status=status, index=False, keep=False, title=title, words=detail or usual, number=status
    )
    page.headers.update(headers or {})
    return page


def install_error_handlers(app: FastAPI, site: SiteContext) -> None:

    def answer_http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        usual = HTTPStatus(error.status_code).phrase
        detail = "" if error.detail == usual else str(error.detail)
        return failure_response(site, request.url.path, error.status_code, detail, error.headers)

    def answer_invalid_request(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        wrong = "; ".join(f"{'.'.join(map(str, item['loc'][1:]))}: {item['msg']}" for item in error.errors())
        return failure_response(site, request.url.path, 400, wrong)

    def answer_unavailable(request: Request, _: Exception) -> Response:
        return failure_response(site, request.url.path, 503, headers={"retry-after": str(RETRY_SECONDS)})

    def answer_internal_error(request: Request, _: Exception) -> Response:
        # Starlette answers these outside of every middleware.
        return add_security_headers(failure_response(site, request.url.path, 500), site.backend.limits)

    handlers = ErrorHandlers(
        http_error=answer_http_error,
        invalid_request=answer_invalid_request,
        unavailable=answer_unavailable,
        internal_error=answer_internal_error,
    )
    handlers.install(app)
