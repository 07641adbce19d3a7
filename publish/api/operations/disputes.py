"""Disputes: of one line of a receipt, with a reason; decided by an operator with a token."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel, ConfigDict, Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.store import IllegalTransition, Store
from publish.api.contract.authentication import (
    MAY_LACK,
    TOKEN_IS_OPTIONAL,
    bearer_as_decider,
    check_scope,
    optional_bearer,
    required_bearer,
)
from publish.api.contract.models import RUBRIC_ID, STRICT, RunKey, ServerKey, Time
from publish.api.contract.public_access import ServerPath, find_visible_server
from publish.api.contract.responses import bytes_response, encode_json, format_time
from publish.community import disputes as disputing
from publish.community.dispute_views import DisputeView, list_public_disputes, view_dispute
from publish.community.disputes import (
    DisputeFiler,
    DisputeRefusal,
    DisputeText,
    FiledDispute,
    IncompleteVerdict,
    Verdict,
)
from publish.community.limits import MAX_ANSWER, MAX_CONTACT, MAX_REASON, MIN_REASON
from publish.community.tokens import ADMIN_DISPUTES, TokenBearer
from publish.formats.run_files import mask_secrets
from publish.web.context import SiteContext
from publish.web.problems import describe_problems, make_problem

AGAIN_SECONDS: Final = 3600

DisputePath: TypeAlias = Annotated[
    str, Path(pattern=r"^dsp_[0-9a-f]{16}$", description="Id of a dispute.", examples=["dsp_0123456789abcdef"])
]


@with_config(STRICT)
class DisputeItem(TypedDict):
    """A dispute of one line. The text of its reason is untrusted."""

    id: Annotated[str, Field(examples=["dsp_0123456789abcdef"])]
    server: ServerKey
    run: RunKey
    rubric: Annotated[str, Field(examples=["lint"])]
    version: Annotated[int, Field(examples=[2])]
    cites: Annotated[str, Field(description="The published id on the line.", examples=["LLM-001"])]
    at: Annotated[str, Field(description="The place on the line.", examples=["tools/search"])]
    rule: Annotated[str | None, Field(description="The rule behind the line.")]
    state: Annotated[str, Field(description="open, accepted or rejected.", examples=["open"])]
    by_maintainer: Annotated[bool, Field(description="By a maintainer who has proven control of the server.")]
    filed_at: Time
    decided_at: Annotated[Time | None, Field(description="Null while it is open.")]
    reason: Annotated[str | None, Field(description="Null until an operator has reviewed it.")]
    answer: Annotated[str | None, Field(description="The answer of the operator, once decided.")]


@with_config(STRICT)
class DisputeList(TypedDict):
    """The disputes of a server, newest first."""

    disputes: list[DisputeItem]


class NewDispute(BaseModel):
    """Which line of the newest receipts is wrong, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rubric: Annotated[str, Field(pattern=RUBRIC_ID, description="The methodology.", examples=["lint"])]
    cites: Annotated[str, Field(max_length=200, description="The id on the line.", examples=["tool-no-description"])]
    at: Annotated[str, Field(max_length=4000, description="The place on the line.", examples=["tools/search"])] = ""
    reason: Annotated[
        str,
        Field(
            min_length=MIN_REASON,
            max_length=MAX_REASON,
            description="What is wrong about the line. Public after an operator has reviewed it.",
            examples=["The title says what the tool does, and clients show it instead of a description."],
        ),
    ]
    contact: Annotated[
        str, Field(max_length=MAX_CONTACT, description="For the operator only; never shown.", examples=[""])
    ] = ""


class Deciding(BaseModel):
    """The words of an operator. The answer is public, the note is for the audit trail."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: Annotated[str, Field(max_length=MAX_ANSWER, examples=["The rule reads all sentences since 3."])] = ""
    note: Annotated[str, Field(max_length=MAX_ANSWER, examples=["see the change of today"])] = ""


VerdictPath: TypeAlias = Annotated[Verdict, Path(description="What is decided.", examples=["reject"])]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["disputes"])
    present, require = Depends(optional_bearer(site)), Depends(required_bearer(site))

    @router.post(
        "/servers/{server}/disputes", operation_id="fileDispute", summary="Dispute a line", status_code=201,
        response_model=DisputeItem, openapi_extra=TOKEN_IS_OPTIONAL,
        responses={
            200: {"model": DisputeItem, "description": "You dispute this line already: this is what you said."},
            **describe_problems("unknown-server", "unknown", "unauthorized"),
        },
    )  # fmt: skip
    def file_dispute(
        request: Request, server: ServerPath, new: NewDispute, bearer: TokenBearer | None = present
    ) -> Response:
        """The dispute is shown beside the line at once; your words are shown after an operator has reviewed them.

        With a token that proves control of the server it is marked as from its maintainer.
        """
        find_visible_server(site, server)
        owns = bearer is not None and bearer.owns(server)
        client = bearer.token.id if bearer and owns else site.client(request).client
        words = DisputeText(server=server, **new.model_dump())
        outcome = disputing.file_dispute(
            site.store, site.backend.community, site.backend.now(), words, DisputeFiler(client=client, owns=owns)
        )
        if not isinstance(outcome, FiledDispute):
            raise _not_filed(outcome)
        headers = {"Location": f"/api/v1/disputes/{outcome.dispute.id}"}
        return _dispute_response(
            _shown(site.store, outcome.dispute.id), status=200 if outcome.again else 201, headers=headers
        )

    @router.get(
        "/servers/{server}/disputes", operation_id="listDisputes", summary="Disputes of a server",
        response_model=DisputeList, responses=describe_problems("unknown-server"),
    )  # fmt: skip
    def list_disputes(server: ServerPath) -> Response:
        """Open and decided ones, at most 200, newest first."""
        find_visible_server(site, server)
        return bytes_response(
            mask_secrets(encode_json({"disputes": [_item(one) for one in list_public_disputes(site.store, server)]}))
        )

    @router.get(
        "/disputes/{dispute}", operation_id="getDispute", summary="One dispute",
        response_model=DisputeItem, responses=describe_problems("unknown"),
    )  # fmt: skip
    def get_dispute(dispute: DisputePath) -> Response:
        """The public part of a dispute."""
        view = _shown(site.store, dispute)
        find_visible_server(site, view.server)
        return _dispute_response(view)

    @router.post(
        "/disputes/{dispute}/{verdict}", operation_id="decideDispute", summary="Decide about a dispute",
        status_code=204, responses=describe_problems("unknown", "conflict", *MAY_LACK),
    )  # fmt: skip
    def decide_dispute(
        dispute: DisputePath, verdict: VerdictPath, decision: Deciding, bearer: TokenBearer = require
    ) -> Response:
        """Accept it (a false alarm), reject it with an answer, reopen it, show or hide its text, or drop it.

        Needs a token with the scope admin:disputes. Every decision is in the audit trail.
        """
        check_scope(bearer, ADMIN_DISPUTES)
        known = site.store.disputes.find_dispute(dispute)
        if known is None:
            raise _unknown()
        try:
            by, now = bearer_as_decider(bearer), site.backend.now()
            disputing.decide_dispute(site.store, known, verdict, by, at=now, answer=decision.answer, note=decision.note)
        except (IncompleteVerdict, IllegalTransition) as error:
            raise make_problem("conflict", str(error)) from error
        return Response(status_code=204)

    return router


def _not_filed(outcome: disputing.DisputeRefused) -> Exception:
    match outcome.why:
        case DisputeRefusal.TOO_MANY:
            return make_problem("too-many-requests", outcome.message, headers={"Retry-After": str(AGAIN_SECONDS)})
        case DisputeRefusal.UNKNOWN_LINE:
            return make_problem("unknown", outcome.message)
        case _:
            where = "contact" if outcome.why is DisputeRefusal.UNFIT_CONTACT else "reason"
            return make_problem(
                "invalid-request", outcome.message, errors=[{"where": where, "expected": outcome.message}]
            )


def _shown(store: Store, dispute: str) -> DisputeView:
    found = view_dispute(store, dispute)
    if found is None:
        raise _unknown()
    return found


def _unknown() -> Exception:
    return make_problem(
        "unknown", "There is no dispute with this id; /api/v1/servers/{id}/disputes lists those of a server."
    )


def _dispute_response(view: DisputeView, **how: Any) -> Response:
    return bytes_response(mask_secrets(encode_json(_item(view))), **how)


def _item(one: DisputeView) -> dict[str, Any]:
    return {
        "id": one.id,
        "server": one.server,
        "run": one.run,
        "rubric": one.rubric,
        "version": one.version,
        "cites": one.cites,
        "at": one.at,
        "rule": one.rule,
        "state": one.state,
        "by_maintainer": one.by_maintainer,
        "filed_at": format_time(one.filed_at),
        "decided_at": None if one.decided_at is None else format_time(one.decided_at),
        "reason": one.reason,
        "answer": one.answer,
    }
