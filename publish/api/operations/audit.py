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
class AuditItem(TypedDict):
    """One decision that needed a token or the command line."""

    number: int
    at: Time
    actor: Annotated[str, Field(description="Login or name of the token.", examples=["triage bot"])]
    token: Annotated[str | None, Field(description="Id of the token; null at the command line.")]
    action: Annotated[str, Field(description="What was decided.", examples=["dispute.accept"])]
    subject: Annotated[str, Field(examples=["dsp_0123456789abcdef"])]
    before: dict[str, Any]
    after: dict[str, Any]
    note: str


@with_config(STRICT)
class AuditList(TypedDict):
    """One page of decisions, newest first."""

    entries: list[AuditItem]
    next_cursor: Annotated[
        str | None, Field(description="Give it as `cursor` for the page after this one.", examples=["17"])
    ]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["operator"])
    require = Depends(required_bearer(site))

    @router.get(
        "/audit", operation_id="listAudit", summary="The audit trail",
        response_model=AuditList, responses=describe_problems(*MAY_LACK),
    )  # fmt: skip
    def list_audit(
        limit: Annotated[int, Query(ge=1, le=200, description="The maximum of entries on a page.")] = 50,
        cursor: Annotated[
            str | None, Query(pattern=r"^[1-9][0-9]{0,8}$", description="`next_cursor` of another page.")
        ] = None,
        bearer: TokenBearer = require,
    ) -> Response:
        """Every decision that needed a token or the command line. Needs the scope admin:audit."""
        check_scope(bearer, ADMIN_AUDIT)
        found = site.store.audit.read_entries(limit + 1, before=None if cursor is None else int(cursor))
        shown = found[:limit]
        following = str(shown[-1].number) if len(found) > limit else None
        return bytes_response(encode_json({"entries": list(map(_entry, shown)), "next_cursor": following}))

    return router


def _entry(one: AuditEntry) -> dict[str, Any]:
    return {
        "number": one.number,
        "at": format_time(one.at),
        "actor": one.who,
        "token": one.token,
        "action": one.what,
        "subject": one.subject,
        "before": dict(one.before),
        "after": dict(one.after),
        "note": one.note,
    }
