"""Webhooks of whoever controls a server."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, ConfigDict, Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.store.webhook_rows import Delivery, Webhook
from publish.api.answers import bytes_answer, encoded, moment
from publish.api.bearer import MAY_LACK, check_owner, requiring
from publish.api.problem import problem, problems
from publish.api.shapes import STRICT, RunKey, ServerKey, Time
from publish.api.visible import ServerPath, visible_server
from publish.people import webhooks
from publish.people.limits import LONGEST_URL
from publish.people.tokens import Bearer
from publish.people.webhooks import Registered, WhyNotRegistered
from publish.site.site import Site

WebhookPath: TypeAlias = Annotated[
    str, Path(pattern=r"^whk_[0-9a-f]{16}$", description="Id of a webhook.", examples=["whk_0123456789abcdef"])
]


@with_config(STRICT)
class WebhookItem(TypedDict):
    """Whom we tell when a score or grade of a server changes at a publication."""

    id: Annotated[str, Field(examples=["whk_0123456789abcdef"])]
    server: ServerKey
    url: Annotated[str, Field(examples=["https://ci.example/hallmark"])]
    made_at: Time
    failures: Annotated[int, Field(description="Messages in a row that were not taken.", examples=[0])]
    ended_at: Annotated[Time | None, Field(description="Since when nothing is sent.")]
    why: Annotated[str | None, Field(description="Why nothing is sent.")]


@with_config(STRICT)
class NewWebhookItem(WebhookItem):
    """A new webhook with the secret of its signatures, which is told this once."""

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
    said: Annotated[str, Field(description="What the last attempt came to.", examples=["HTTP 200"])]


@with_config(STRICT)
class DeliveryList(TypedDict):
    """The last 50 messages of a webhook, newest first."""

    deliveries: list[DeliveryItem]


class NewWebhook(BaseModel):
    """Where to send the messages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Annotated[str, Field(max_length=LONGEST_URL, examples=["https://ci.example/hallmark"])]


def routes(site: Site) -> APIRouter:
    """The operations about webhooks."""
    router = APIRouter(tags=["webhooks"])
    require = Depends(requiring(site))

    @router.post(
        "/servers/{server}/webhooks", operation_id="registerWebhook", summary="Be told of changes", status_code=201,
        response_model=NewWebhookItem, responses=problems("unknown-server", "conflict", *MAY_LACK),
    )  # fmt: skip
    def register_webhook(server: ServerPath, new: NewWebhook, bearer: Bearer = require) -> Response:
        """A signed message when a score or grade changes at a publication. Needs a token of whoever controls it."""
        check_owner(bearer, server)
        visible_server(site, server)
        desk = site.desk
        made = webhooks.register(
            site.store, desk.people, desk.sealed, desk.now(), server=server, url=new.url, by=bearer
        )
        if not isinstance(made, Registered):
            if made.why is WhyNotRegistered.TOO_MANY:
                raise problem("conflict", made.message)
            raise problem("invalid-request", made.message, errors=[{"where": "url", "expected": made.message}])
        return bytes_answer(encoded(_webhook(made.webhook) | {"secret": made.secret}), status=201)

    @router.get(
        "/servers/{server}/webhooks", operation_id="listWebhooks", summary="Webhooks of a server",
        response_model=WebhookList, responses=problems(*MAY_LACK),
    )  # fmt: skip
    def list_webhooks(server: ServerPath, bearer: Bearer = require) -> Response:
        """Also those that have ended. Needs a token of whoever controls the server."""
        check_owner(bearer, server)
        known = site.store.webhooks.read(server=server, ended=True)
        return bytes_answer(encoded({"webhooks": [_webhook(one) for one in known]}))

    @router.delete(
        "/webhooks/{webhook}", operation_id="endWebhook", summary="End a webhook", status_code=204,
        responses=problems("unknown", *MAY_LACK),
    )  # fmt: skip
    def end_webhook(webhook: WebhookPath, bearer: Bearer = require) -> Response:
        """Nothing more is sent, also not what waits for another attempt."""
        webhooks.end(site.store, site.desk.now(), _known(site, webhook, bearer), bearer)
        return Response(status_code=204)

    @router.get(
        "/webhooks/{webhook}/deliveries", operation_id="listDeliveries", summary="Messages of a webhook",
        response_model=DeliveryList, responses=problems("unknown", *MAY_LACK),
    )  # fmt: skip
    def list_deliveries(webhook: WebhookPath, bearer: Bearer = require) -> Response:
        """The log of what was sent."""
        known = _known(site, webhook, bearer)
        sent = site.store.webhooks.deliveries(known.id)
        return bytes_answer(encoded({"deliveries": [_delivery(one) for one in sent]}))

    return router


def _known(site: Site, webhook: str, bearer: Bearer) -> Webhook:
    """A webhook of somebody else is as unknown as one that there is not."""
    found = site.store.webhooks.find(webhook)
    if found is None or not bearer.owns(found.server):
        raise problem("unknown", "There is no webhook with this id, or it is not yours to see.")
    return found


def _webhook(one: Webhook) -> dict[str, Any]:
    return {
        "id": one.id,
        "server": one.server,
        "url": one.url,
        "made_at": moment(one.made_at),
        "failures": one.failures,
        "ended_at": None if one.ended_at is None else moment(one.ended_at),
        "why": one.why,
    }


def _delivery(one: Delivery) -> dict[str, Any]:
    return {
        "id": one.id,
        "run": one.run,
        "made_at": moment(one.made_at),
        "state": one.state.value,
        "attempts": one.attempts,
        "tried_at": None if one.tried_at is None else moment(one.tried_at),
        "due_at": None if one.due_at is None else moment(one.due_at),
        "said": one.said,
    }
