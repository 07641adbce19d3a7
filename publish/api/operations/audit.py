"""The audit trail, for operators."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.store.decisions.audit_trail import AuditEntry
from publish.api.contract.authentication import MAY_LACK, check_scope, required_bearer
from publish.api.contract.models import STRICT, Time
from publish.api.contract.responses import bytes_response, encode_json, format_time
from publish.community.tokens import ADMIN_AUDIT, TokenBearer
from publish.web.context import SiteContext
from publish.web.problems import describe_problems


@with_config(STRICT)
class ActItem(TypedDict):
    """One decision that needed a token or the command line."""

    number: int
    at: Time
    who: Annotated[str, Field(description="Login or name of the token.", examples=["triage bot"])]
    token: Annotated[str | None, Field(description="Id of the token; null at the command line.")]
    what: Annotated[str, Field(examples=["dispute.accept"])]
    subject: Annotated[str, Field(examples=["dsp_0123456789abcdef"])]
    before: dict[str, Any]
    after: dict[str, Any]
    note: str


@with_config(STRICT)
class ActList(TypedDict):
    """Decisions, newest first."""

    acts: list[ActItem]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["operator"])
    require = Depends(required_bearer(site))

    @router.get(
        "/audit", operation_id="listActs", summary="The audit trail",
        response_model=ActList, responses=describe_problems(*MAY_LACK),
    )  # fmt: skip
    def list_acts(
        limit: Annotated[int, Query(ge=1, le=200, description="How many.")] = 50,
        before: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Only smaller numbers.")] = None,
        bearer: TokenBearer = require,
    ) -> Response:
        """Every decision that needed a token or the command line. Needs the scope admin:audit."""
        check_scope(bearer, ADMIN_AUDIT)
        return bytes_response(
            encode_json({"acts": [_act(one) for one in site.store.audit.read_entries(limit, before=before)]})
        )

    return router


def _act(one: AuditEntry) -> dict[str, Any]:
    return {
        "number": one.number,
        "at": format_time(one.at),
        "who": one.who,
        "token": one.token,
        "what": one.what,
        "subject": one.subject,
        "before": dict(one.before),
        "after": dict(one.after),
        "note": one.note,
    }
