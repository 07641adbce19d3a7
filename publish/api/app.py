"""The API as an application of its own, mounted at /api/v1: its operations, its OpenAPI document, its errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any, Final, TypeAlias

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from publish.api.openapi_document import complete_document
from publish.api.operations import (
    audit,
    badges,
    control,
    datasets,
    diff,
    disputes,
    evidence,
    health,
    history,
    retests,
    rubrics,
    rules,
    runs,
    scorecards,
    servers,
    webhooks,
)
from publish.web.context import SiteContext
from publish.web.error_handlers import RETRY_SECONDS, ErrorHandlers
from publish.web.problems import PROBLEM_GUIDE, Problem, describe_problems, problem_response
from publish.web.request_checks import invalid_request_problem, refuse_unknown_parameters

BASE_PATH: Final = "/api/v1"
API_VERSION: Final = "1.0"
"""Version of the API. Members and operations may be added to it; what is there keeps its meaning."""

Routes: TypeAlias = Callable[[SiteContext], APIRouter]

OPERATIONS: Final[tuple[Routes, ...]] = (
    *(servers.routes, scorecards.routes, evidence.routes, history.routes, diff.routes, badges.routes),
    *(retests.routes, disputes.routes, control.routes, webhooks.routes, audit.routes),
    *(runs.routes, rules.routes, rubrics.routes, datasets.routes, health.routes),
)

COMMON_PROBLEMS: Final = describe_problems(
    *("bad-request", "invalid-request", "not-acceptable", "address-too-long", "too-many-requests"),
    *("internal-error", "unavailable"),
)
"""Problems that any operation may return."""

_ABOUT: Final = f"""What Hallmark publishes, as JSON.

Numbers are rounded half up as on the pages: scores, points and weights to two decimals, shares of 1 to three. A grade
follows from the published score. The exact decimals are in the receipt of a scorecard and in the datasets. What was not
measured is an object with `not_measured` and the reason; it is never 0. Times are ISO 8601 in UTC. Names, descriptions
and evidence are untrusted: show them as text. Errors are problem documents (RFC 9457) of the types at
{PROBLEM_GUIDE}. Answers have an ETag; `If-None-Match` saves their transfer. All results at once are in the datasets.

Changed before 1.0: numbers are JSON numbers, not strings; the parameters `text`, `after` and
`least` are `q`, `cursor` and `minimum`, and `before` of the audit trail is `cursor`; the members `next`, `previous` and
`at_least` of a list of servers are `next_cursor`, `previous_cursor` and `minimum_total`; `least` of a grade is
`minimum`, `said` of a delivery `response`; the audit trail has `entries` with `actor` and `action`."""


def create_api(site: SiteContext) -> FastAPI:
    """The application below /api/v1."""
    api = FastAPI(
        title="Hallmark API",
        version=API_VERSION,
        description=_ABOUT,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        servers=[{"url": BASE_PATH}],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(refuse_unknown_parameters)],
        responses=COMMON_PROBLEMS,
    )
    for routes in OPERATIONS:
        api.include_router(routes(site))
    _complete(api)
    api.include_router(_described(api), include_in_schema=False)
    _handle(api)
    return api


def _described(api: FastAPI) -> APIRouter:
    """The route of the OpenAPI document as an APIRoute, so that logs and metrics can name it."""
    router = APIRouter()

    @router.get("/openapi.json")
    def openapi() -> JSONResponse:
        return JSONResponse(api.openapi())

    return router


def _complete(api: FastAPI) -> None:
    """Complete the OpenAPI document and make it once, under a lock: FastAPI's generation is not thread-safe."""
    made, making = api.openapi, Lock()

    @cache
    def whole() -> dict[str, Any]:
        return complete_document(made())

    def openapi() -> dict[str, Any]:
        with making:
            return whole()

    api.openapi = openapi  # type: ignore[method-assign]


def _handle(api: FastAPI) -> None:
    """Answer every failure with a problem document."""

    def answer_problem(_: Request, error: Exception) -> Response:
        assert isinstance(error, Problem)
        return error.answer()

    def answer_http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return problem_response(error.status_code, _words(request, error), error.headers)

    def answer_invalid_request(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return invalid_request_problem(error)

    def answer_unavailable(_: Request, __: Exception) -> Response:
        retry_after = {"Retry-After": str(RETRY_SECONDS)}
        return problem_response(
            503, f"The database does not answer. Ask again in {RETRY_SECONDS} seconds.", retry_after
        )

    def answer_internal_error(_: Request, __: Exception) -> Response:
        return problem_response(500, "The request could not be answered because of a mistake of ours. It is logged.")

    api.add_exception_handler(Problem, answer_problem)
    handlers = ErrorHandlers(
        http_error=answer_http_error,
        invalid_request=answer_invalid_request,
        unavailable=answer_unavailable,
        internal_error=answer_internal_error,
    )
    handlers.install(api)


def _words(request: Request, error: HTTPException) -> str:
    """The detail of a problem for an error of the framework."""
    match error.status_code:
        case 404:
            return f"Found no operation at this path; {BASE_PATH}/openapi.json lists those that there are."
        case 405:
            allowed = (error.headers or {}).get("Allow", "GET")
            return f"Expected one of {allowed}, found {request.method}."
        case _:
            return str(error.detail)
