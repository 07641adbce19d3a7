"""Re-tests: asking for one, following it, and its result beside what was before."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Request
from pydantic import Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from publish.api.answers import bytes_answer, encoded, moment
from publish.api.bearer import TOKEN_IS_OPTIONAL, presenting
from publish.api.diff import ComparedScorecard
from publish.api.problem import problem, problems
from publish.api.shapes import STRICT, RunKey, ServerKey, Time
from publish.api.visible import ServerPath, visible_server
from publish.comparison import as_json
from publish.forms import masked
from publish.people.tokens import ADMIN_RETESTS, Bearer
from publish.site.desk import Accepted, Report, Standing, WhyRefused
from publish.site.site import Site

POLL_SECONDS: Final = 5
AGAIN_SECONDS: Final = 3600


@with_config(STRICT)
class RetestItem(TypedDict):
    """A request to look at a server again."""

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
    finished_at: Annotated[Time | None, Field(description="Null until it is over.")]
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


def routes(site: Site) -> APIRouter:
    """The operations about re-tests."""
    router = APIRouter(tags=["re-tests"])
    present = Depends(presenting(site))

    @router.post(
        "/servers/{server}/retests", operation_id="askRetest", summary="Ask for a re-test", status_code=202,
        response_model=RetestItem, openapi_extra=TOKEN_IS_OPTIONAL,
        responses={
            200: {"model": RetestItem, "description": "There is an open request already: this one."},
            **problems("unknown-server", "unauthorized", "conflict"),
        },
    )  # fmt: skip
    def ask_retest(request: Request, server: ServerPath, bearer: Bearer | None = present) -> Response:
        """A server has one open request: whoever asks next gets the same one. `Location` is where it is followed.

        It begins an hour after the last re-test of the server, ten minutes for a token of whoever controls it.
        """
        visible_server(site, server)
        standing = _standing(bearer, server)
        # A token that proves nothing here counts as where it comes from: else each new one would be a new client.
        known = bearer is not None and standing is not Standing.ANYONE
        who = site.desk.client(bearer.token.id, standing) if bearer and known else site.client(request, standing)
        asked = site.desk.ask_retest(server, who)
        if not isinstance(asked, Accepted):
            match asked.why:
                case WhyRefused.TOO_MANY:
                    raise problem("too-many-requests", asked.message, headers={"Retry-After": str(AGAIN_SECONDS)})
                case WhyRefused.OPTED_OUT:
                    raise problem("conflict", asked.message)
                case WhyRefused.UNKNOWN_SERVER:
                    raise problem("unknown-server", asked.message)
        headers = {"Location": f"/api/v1/retests/{asked.retest.id}", "Retry-After": str(POLL_SECONDS)}
        report = Report(retest=asked.retest, ready_at=asked.ready_at)
        return bytes_answer(masked(encoded(_item(report))), status=200 if asked.again else 202, headers=headers)

    @router.get(
        "/servers/{server}/retests", operation_id="listRetests", summary="Re-tests of a server",
        response_model=RetestList, responses=problems("unknown-server"),
    )  # fmt: skip
    def list_retests(server: ServerPath) -> Response:
        """The last 20 requests, newest first, without their results."""
        visible_server(site, server)
        return bytes_answer(masked(encoded({"retests": [_item(one) for one in site.desk.retests(server)]})))

    @router.get(
        "/retests/{retest}", operation_id="getRetest", summary="One re-test",
        response_model=Retest, responses=problems("unknown"),
    )  # fmt: skip
    def get_retest(
        retest: Annotated[
            str, Path(max_length=80, description="Id of a re-test.", examples=["20260301T090000Z-0123456789ab"])
        ],
    ) -> Response:
        """How far it has come; when it is done, each receipt before and after. `Retry-After`: when to ask again."""
        found = site.desk.retest(retest)
        known = None if found is None else site.store.server(found.retest.server)
        if found is None or known is None or site.is_hidden(known):
            raise problem("unknown", "There is no re-test with this id; the answer to a request for one has its id.")
        told = _item(found) | {"comparisons": [as_json(one) for one in found.comparisons]}
        headers = {"Retry-After": str(POLL_SECONDS)} if found.retest.is_open else {}
        return bytes_answer(masked(encoded(told)), headers=headers)

    return router


def _standing(bearer: Bearer | None, server: str) -> Standing:
    if bearer is not None and bearer.may(ADMIN_RETESTS):
        return Standing.OPERATOR
    return Standing.OWNER if bearer is not None and bearer.owns(server) else Standing.ANYONE


def _item(report: Report) -> dict[str, Any]:
    one = report.retest
    return {
        "id": one.id,
        "server": one.server,
        "state": one.state.value,
        "asked_at": moment(one.asked_at),
        "ready_at": moment(report.ready_at),
        "admitted_at": None if one.admitted_at is None else moment(one.admitted_at),
        "finished_at": None if one.finished_at is None else moment(one.finished_at),
        "reason": one.reason,
        "run": one.run,
        "before": one.before,
    }
