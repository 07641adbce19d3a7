"""Re-tests: the request, its progress, and its result compared with the earlier one."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Request
from pydantic import Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from publish.api.contract.authentication import TOKEN_IS_OPTIONAL, optional_bearer
from publish.api.contract.models import STRICT, RunKey, ServerKey, Time
from publish.api.contract.public_access import ServerPath, find_visible_server
from publish.api.contract.responses import bytes_response, encode_json, format_time
from publish.api.operations.diff import ComparedScorecard
from publish.community.tokens import ADMIN_RETESTS, TokenBearer
from publish.formats.run_files import mask_secrets
from publish.views.comparisons.receipts import comparison_as_json
from publish.web.backend import RequesterRole, RetestAccepted, RetestProgress, RetestRefusal
from publish.web.context import SiteContext
from publish.web.problems import describe_problems, make_problem

POLL_SECONDS: Final = 5
AGAIN_SECONDS: Final = 3600


@with_config(STRICT)
class RetestItem(TypedDict):
    """A request to measure a server again."""

    id: Annotated[str, Field(examples=["20260301T090000Z-0123456789ab"])]
    server: ServerKey
    state: Annotated[
        str,
        Field(
            description="waiting, running, done, or failed: our failure, which says nothing of the server.",
            examples=["waiting"],
        ),
    ]
    asked_at: Time
    ready_at: Annotated[Time, Field(description="When it begins at the earliest, or began.")]
    admitted_at: Annotated[Time | None, Field(description="Null while it waits.")]
    finished_at: Annotated[Time | None, Field(description="Null until it has ended.")]
    reason: Annotated[str | None, Field(description="Why it failed.")]
    run: Annotated[RunKey | None, Field(description="Its run, once it was admitted.")]
    before: Annotated[RunKey | None, Field(description="The run that it is compared with.")]


@with_config(STRICT)
class Retest(RetestItem):
    """A request with its result."""

    comparisons: Annotated[
        list[ComparedScorecard], Field(description="One for each receipt when it is done; empty until then.")
    ]


@with_config(STRICT)
class RetestList(TypedDict):
    """The requests about a server, newest first."""

    retests: list[RetestItem]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["re-tests"])
    present = Depends(optional_bearer(site))

    @router.post(
        "/servers/{server}/retests", operation_id="askRetest", summary="Ask for a re-test", status_code=202,
        response_model=RetestItem, openapi_extra=TOKEN_IS_OPTIONAL,
        responses={
            200: {"model": RetestItem, "description": "There is an open request already: this one."},
            **describe_problems("unknown-server", "unauthorized", "conflict"),
        },
    )  # fmt: skip
    def ask_retest(request: Request, server: ServerPath, bearer: TokenBearer | None = present) -> Response:
        """A server has one open request: a second client gets the same one. `Location` is its address.

        It begins an hour after the last re-test of the server, or ten minutes with a token that proves control of it.
        """
        find_visible_server(site, server)
        standing = _standing(bearer, server)
        # A token without a right here counts for the address: otherwise each new token would be a new client.
        known = bearer is not None and standing is not RequesterRole.ANYONE
        who = site.backend.client(bearer.token.id, standing) if bearer and known else site.client(request, standing)
        outcome = site.backend.ask_retest(server, who)
        if not isinstance(outcome, RetestAccepted):
            match outcome.why:
                case RetestRefusal.TOO_MANY:
                    raise make_problem(
                        "too-many-requests", outcome.message, headers={"Retry-After": str(AGAIN_SECONDS)}
                    )
                case RetestRefusal.OPTED_OUT:
                    raise make_problem("conflict", outcome.message)
                case RetestRefusal.UNKNOWN_SERVER:
                    raise make_problem("unknown-server", outcome.message)
        headers = {"Location": f"/api/v1/retests/{outcome.retest.id}", "Retry-After": str(POLL_SECONDS)}
        report = RetestProgress(retest=outcome.retest, ready_at=outcome.ready_at)
        return bytes_response(
            mask_secrets(encode_json(_item(report))), status=200 if outcome.again else 202, headers=headers
        )

    @router.get(
        "/servers/{server}/retests", operation_id="listRetests", summary="Re-tests of a server",
        response_model=RetestList, responses=describe_problems("unknown-server"),
    )  # fmt: skip
    def list_retests(server: ServerPath) -> Response:
        """The last 20 requests, newest first, without their results."""
        find_visible_server(site, server)
        return bytes_response(
            mask_secrets(encode_json({"retests": [_item(one) for one in site.backend.retests(server)]}))
        )

    @router.get(
        "/retests/{retest}", operation_id="getRetest", summary="One re-test",
        response_model=Retest, responses=describe_problems("unknown"),
    )  # fmt: skip
    def get_retest(
        retest: Annotated[
            str, Path(max_length=80, description="Id of a re-test.", examples=["20260301T090000Z-0123456789ab"])
        ],
    ) -> Response:
        """The progress; when it is done, each receipt before and after. `Retry-After`: seconds until the next poll."""
        found = site.backend.retest(retest)
        known = None if found is None else site.store.find_server(found.retest.server)
        if found is None or known is None or site.is_hidden(known):
            raise make_problem(
                "unknown", "There is no re-test with this id; the answer to a request for one has its id."
            )
        document = _item(found) | {"comparisons": [comparison_as_json(one) for one in found.comparisons]}
        headers = {"Retry-After": str(POLL_SECONDS)} if found.retest.is_open else {}
        return bytes_response(mask_secrets(encode_json(document)), headers=headers)

    return router


def _standing(bearer: TokenBearer | None, server: str) -> RequesterRole:
    if bearer is not None and bearer.may(ADMIN_RETESTS):
        return RequesterRole.OPERATOR
    return RequesterRole.OWNER if bearer is not None and bearer.owns(server) else RequesterRole.ANYONE


def _item(report: RetestProgress) -> dict[str, Any]:
    one = report.retest
    return {
        "id": one.id,
        "server": one.server,
        "state": one.state.value,
        "asked_at": format_time(one.asked_at),
        "ready_at": format_time(report.ready_at),
        "admitted_at": None if one.admitted_at is None else format_time(one.admitted_at),
        "finished_at": None if one.finished_at is None else format_time(one.finished_at),
        "reason": one.reason,
        "run": one.run,
        "before": one.before,
    }
