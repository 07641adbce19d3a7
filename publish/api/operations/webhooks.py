"""Webhooks of maintainers who have proven control of a server."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, ConfigDict, Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.store.community.webhook_values import Delivery, Webhook
from publish.api.contract.authentication import MAY_LACK, check_owner, required_bearer
from publish.api.contract.models import STRICT, RunKey, ServerKey, Time
from publish.api.contract.public_access import ServerPath, find_visible_server
from publish.api.contract.responses import bytes_response, encode_json, format_time
from publish.community import webhooks
from publish.community.limits import MAX_URL
from publish.community.tokens import TokenBearer
from publish.community.webhooks import RegisteredWebhook, WebhookRefusal
from publish.web.context import SiteContext
from publish.web.problems import describe_problems, make_problem

WebhookPath: TypeAlias = Annotated[
    str, Path(pattern=r"^whk_[0-9a-f]{16}$", description="Id of a webhook.", examples=["whk_0123456789abcdef"])
]


@with_config(STRICT)
class WebhookItem(TypedDict):
    """A webhook: the receiver of messages about changed scores and grades of a server."""

    id: Annotated[str, Field(examples=["whk_0123456789abcdef"])]
    server: ServerKey
    url: Annotated[str, Field(examples=["https://ci.example/hallmark"])]
    made_at: Time
    failures: Annotated[int, Field(description="Failed messages in a row.", examples=[0])]
    ended_at: Annotated[Time | None, Field(description="The time since which nothing is sent.")]
    why: Annotated[str | None, Field(description="Why nothing is sent.")]


@with_config(STRICT)
class NewWebhookItem(WebhookItem):
    """A new webhook with the secret of its signatures, which is returned only this once."""

    secret: Annotated[str, Field(description="Key of the HMAC-SHA256, Base64 after `whsec_`.")]


@with_config(STRICT)
class WebhookList(TypedDict):
    """The webhooks of a server."""

    webhooks: list[WebhookItem]


@with_config(STRICT)
class DeliveryItem(TypedDict):
    """One message and how its last attempt ended."""

    id: Annotated[str, Field(description="The `webhook-id` of every attempt.", examples=["dlv_0123456789abcdef"])]
    run: RunKey
    made_at: Time
    state: Annotated[str, Field(description="waiting, delivered or failed.", examples=["delivered"])]
    attempts: Annotated[int, Field(examples=[1])]
    tried_at: Time | None
    due_at: Annotated[Time | None, Field(description="When it is tried again.")]
    response: Annotated[str, Field(description="The result of the last attempt.", examples=["HTTP 200"])]


@with_config(STRICT)
class DeliveryList(TypedDict):
    """The last 50 messages of a webhook, newest first."""

    deliveries: list[DeliveryItem]


class NewWebhook(BaseModel):
    """Where to send the messages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Annotated[str, Field(max_length=MAX_URL, examples=["https://ci.example/hallmark"])]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["webhooks"])
    require = Depends(required_bearer(site))

    @router.post(
        "/servers/{server}/webhooks", operation_id="registerWebhook", summary="Receive changes", status_code=201,
        response_model=NewWebhookItem, responses=describe_problems("unknown-server", "conflict", *MAY_LACK),
    )  # fmt: skip
    def register_webhook(server: ServerPath, new: NewWebhook, bearer: TokenBearer = require) -> Response:
        """A signed message when a score or grade changes at a publication. Needs a token that proves control of it."""
        check_owner(bearer, server)
        find_visible_server(site, server)
        backend = site.backend
        made = webhooks.register_webhook(
            site.store, backend.community, backend.sealed, backend.now(), server=server, url=new.url, by=bearer
        )
        if not isinstance(made, RegisteredWebhook):
            if made.why is WebhookRefusal.TOO_MANY:
                raise make_problem("conflict", made.message)
            raise make_problem("invalid-request", made.message, errors=[{"where": "url", "expected": made.message}])
        return bytes_response(encode_json(_webhook(made.webhook) | {"secret": made.secret}), status=201)

    @router.get(
        "/servers/{server}/webhooks", operation_id="listWebhooks", summary="Webhooks of a server",
        response_model=WebhookList, responses=describe_problems(*MAY_LACK),
    )  # fmt: skip
    def list_webhooks(server: ServerPath, bearer: TokenBearer = require) -> Response:
        """Also those that have ended. Needs a token that proves control of the server."""
        check_owner(bearer, server)
        known = site.store.webhooks.list_webhooks(server=server, ended=True)
        return bytes_response(encode_json({"webhooks": [_webhook(one) for one in known]}))

    @router.delete(
        "/webhooks/{webhook}", operation_id="endWebhook", summary="End a webhook", status_code=204,
        responses=describe_problems("unknown", *MAY_LACK),
    )  # fmt: skip
    def end_webhook(webhook: WebhookPath, bearer: TokenBearer = require) -> Response:
        """Stop all messages of the webhook, including those that wait for another attempt."""
        webhooks.end_webhook(site.store, site.backend.now(), _known(site, webhook, bearer), bearer)
        return Response(status_code=204)

    @router.get(
        "/webhooks/{webhook}/deliveries", operation_id="listDeliveries", summary="Messages of a webhook",
        response_model=DeliveryList, responses=describe_problems("unknown", *MAY_LACK),
    )  # fmt: skip
    def list_deliveries(webhook: WebhookPath, bearer: TokenBearer = require) -> Response:
        """The log of what was sent."""
        known = _known(site, webhook, bearer)
        sent = site.store.webhooks.list_deliveries(known.id)
        return bytes_response(encode_json({"deliveries": [_delivery(one) for one in sent]}))

    return router


def _known(site: SiteContext, webhook: str, bearer: TokenBearer) -> Webhook:
    """The webhook; raise Problem if it is unknown or the bearer does not own its server."""
    found = site.store.webhooks.find_webhook(webhook)
    if found is None or not bearer.owns(found.server):
        raise make_problem("unknown", "There is no webhook with this id, or it is not yours to see.")
    return found


def _webhook(one: Webhook) -> dict[str, Any]:
    return {
        "id": one.id,
        "server": one.server,
        "url": one.url,
        "made_at": format_time(one.made_at),
        "failures": one.failures,
        "ended_at": None if one.ended_at is None else format_time(one.ended_at),
        "why": one.why,
    }


def _delivery(one: Delivery) -> dict[str, Any]:
    return {
        "id": one.id,
        "run": one.run,
        "made_at": format_time(one.made_at),
        "state": one.state.value,
        "attempts": one.attempts,
        "tried_at": None if one.tried_at is None else format_time(one.tried_at),
        "due_at": None if one.due_at is None else format_time(one.due_at),
        "response": one.said,
    }
