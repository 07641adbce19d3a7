"""Control of a server: claiming and proving it, subscribing to changes, and opting out."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel, ConfigDict, Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.store.community.claim_values import Claim, ProofMethod
from publish.api.contract.authentication import MAY_LACK, check_owner, required_bearer
from publish.api.contract.models import STRICT, ServerKey, Time
from publish.api.contract.public_access import ServerPath, find_visible_server
from publish.api.contract.responses import bytes_response, encode_json, format_time
from publish.community import claims, opt_outs
from publish.community.claims import ClaimRefusal, ClaimWithToken
from publish.community.tokens import ADMIN_OPT_OUTS, TokenBearer
from publish.web.context import SiteContext
from publish.web.problems import describe_problems, make_problem

ClaimPath: TypeAlias = Annotated[
    str, Path(pattern=r"^clm_[0-9a-f]{16}$", description="Id of a claim.", examples=["clm_0123456789abcdef"])
]


@with_config(STRICT)
class ClaimItem(TypedDict):
    """A claim to control a server, and how far its proof has come."""

    id: Annotated[str, Field(examples=["clm_0123456789abcdef"])]
    server: ServerKey
    way: Annotated[str, Field(description="well-known, dns, repository or server.", examples=["dns"])]
    place: Annotated[str, Field(description="Where the proof is looked for.", examples=["_hallmark.mcp.example.com"])]
    challenge: Annotated[str, Field(description="The line to put there.")]
    state: Annotated[str, Field(description="waiting, proven, expired, lapsed or withdrawn.", examples=["waiting"])]
    asked_at: Time
    seen_at: Annotated[Time | None, Field(description="When it was last found.")]
    note: Annotated[str, Field(description="The result of the last check.")]


@with_config(STRICT)
class StartedClaim(ClaimItem):
    """A new claim with its token, which is returned only this once and is valid while the claim is proven."""

    token: Annotated[str, Field(description="For `Authorization: Bearer`. Save it: it is not stored.")]


@with_config(STRICT)
class PlaceItem(TypedDict):
    """One way in which control of a server can be proven."""

    way: Annotated[str, Field(examples=["dns"])]
    place: Annotated[str, Field(examples=["_hallmark.mcp.example.com"])]


@with_config(STRICT)
class PlaceList(TypedDict):
    """The ways in which control of a server can be proven."""

    places: list[PlaceItem]


class NewClaim(BaseModel):
    """How control will be proven."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    way: Annotated[ProofMethod, Field(description="One of those that the server has.", examples=["server"])]


class Why(BaseModel):
    """Why a server opts out, or opts in again; kept with the entry."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    note: Annotated[str, Field(max_length=1000, examples=["we are not ready to be measured"])] = ""


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["control"])
    require = Depends(required_bearer(site))

    @router.get(
        "/servers/{server}/claims", operation_id="listWays", summary="How control can be proven",
        response_model=PlaceList, responses=describe_problems("unknown-server"),
    )  # fmt: skip
    def list_ways(server: ServerPath) -> Response:
        """Each way that is possible for this server, the most reliable one first."""
        listed = find_visible_server(site, server)
        found = claims.list_proof_places(site.store, site.backend.community, listed.server)
        return bytes_response(encode_json({"places": [{"way": one.way.value, "place": one.place} for one in found]}))

    @router.post(
        "/servers/{server}/claims", operation_id="startClaim", summary="Claim to control a server", status_code=201,
        response_model=StartedClaim, responses=describe_problems("unknown-server", "conflict"),
    )  # fmt: skip
    def start_claim(request: Request, server: ServerPath, new: NewClaim) -> Response:
        """Put the challenge at the place; it is looked for within minutes, and then at longer and longer intervals.

        The token counts from then on, for as long as the challenge stays there.
        """
        listed, client = find_visible_server(site, server), site.client(request).client
        outcome = claims.start_claim(
            site.store, site.backend.community, site.backend.now(), listed.server, way=new.way, client=client
        )
        if not isinstance(outcome, ClaimWithToken):
            if outcome.why is ClaimRefusal.TOO_MANY:
                raise make_problem("too-many-requests", outcome.message, headers={"Retry-After": "3600"})
            raise make_problem("conflict", outcome.message)
        headers = {"Location": f"/api/v1/claims/{outcome.claim.id}"}
        return bytes_response(
            encode_json(_claim(outcome.claim) | {"token": outcome.token}), status=201, headers=headers
        )

    @router.get(
        "/claims/{claim}", operation_id="getClaim", summary="One claim", response_model=ClaimItem,
        responses=describe_problems("unknown", *MAY_LACK),
    )  # fmt: skip
    def get_claim(claim: ClaimPath) -> Response:
        """The state of the claim, and the result of the last check of its proof."""
        return bytes_response(encode_json(_claim(_known(site, claim))))

    @router.post(
        "/claims/{claim}/check", operation_id="checkClaim", summary="Look for a proof soon", status_code=202,
        response_model=ClaimItem, responses=describe_problems("unknown", "conflict"),
    )  # fmt: skip
    def check_claim(claim: ClaimPath) -> Response:
        """Check the proof within two minutes; at most one check per minute."""
        known = _known(site, claim)
        if not site.store.claims.schedule_check(claim, site.backend.now()):
            raise make_problem("conflict", f"The claim is {known.state.value}: make another one.")
        return bytes_response(encode_json(_claim(known)), status=202)

    @router.put(
        "/servers/{server}/opt-out", operation_id="optOut", summary="Opt out", status_code=204,
        responses=describe_problems("unknown-server", *MAY_LACK),
    )  # fmt: skip
    def opt_out(server: ServerPath, why: Why, bearer: TokenBearer = require) -> Response:
        """From the next task on the server is not measured, and no page names it.

        Needs a token that proves control of it, or one with the scope admin:opt-outs.
        """
        _check_opting(site, server, bearer)
        opt_outs.opt_out_server(site.store, site.backend.now(), server, bearer, why.note)
        return Response(status_code=204)

    @router.delete(
        "/servers/{server}/opt-out", operation_id="optIn", summary="Opt in again", status_code=204,
        responses=describe_problems("unknown-server", "conflict", *MAY_LACK),
    )  # fmt: skip
    def opt_in(server: ServerPath, bearer: TokenBearer = require) -> Response:
        """Measure the server again. Only the operator can end an entry for its host or domain."""
        _check_opting(site, server, bearer)
        if not opt_outs.opt_in_server(site.store, site.backend.now(), server, bearer, ""):
            raise make_problem("conflict", "No entry that names this server alone is in force.")
        return Response(status_code=204)

    return router


def _known(site: SiteContext, claim: str) -> Claim:
    found = site.store.claims.find_claim(claim)
    if found is None:
        raise make_problem("unknown", "There is no claim with this id; it is in the answer that made it.")
    return found


def _check_opting(site: SiteContext, server: str, bearer: TokenBearer) -> None:
    """Raise Problem if the bearer may not opt the server in or out. A server that has opted out is visible here."""
    if not bearer.may(ADMIN_OPT_OUTS):
        check_owner(bearer, server)
    if site.store.find_server(server) is None:
        raise make_problem("unknown-server", "There is no server with this id.")


def _claim(one: Claim) -> dict[str, Any]:
    return {
        "id": one.id,
        "server": one.server,
        "way": one.way.value,
        "place": one.place,
        "challenge": one.challenge,
        "state": one.state.value,
        "asked_at": format_time(one.asked_at),
        "seen_at": None if one.seen_at is None else format_time(one.seen_at),
        "note": one.note,
    }
