"""Settings of disputes, claims of control and webhooks."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from msgspec import Meta

from workers.settings.web import WebSettings


class CommunitySettings(WebSettings, frozen=True, kw_only=True):
    """A part of `Settings`, with those before it."""

    disputes_per_client: Annotated[int, Meta(ge=0), "Disputes per client in 24 hours. 0: none."] = 10
    disputes_per_server: Annotated[int, Meta(ge=0), "Open disputes per server."] = 100
    claims_per_client: Annotated[int, Meta(ge=0), "Claims of control per client in 24 hours. 0: none."] = 10
    claim_time: Annotated[timedelta, "How long a claim may wait for its proof."] = timedelta(days=7)
    claim_again: Annotated[timedelta, "How often a proof is checked again."] = timedelta(days=1)
    claim_lapse: Annotated[
        timedelta, "How long a proof may be missing before its token ends; four times as long when we could not look."
    ] = timedelta(days=7)
    webhooks_per_server: Annotated[int, Meta(ge=0), "Webhooks per server."] = 3
    webhook_failures: Annotated[
        int, Meta(ge=1), "Failed messages in a row (six tries in 15 hours each) before a webhook ends."
    ] = 5
    people_every: Annotated[timedelta, "How often beat checks proofs and sends webhooks. 0: never."] = timedelta(
        minutes=1
    )
