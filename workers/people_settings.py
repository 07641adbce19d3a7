"""The settings of what people do: how much they may dispute and claim, and how webhooks and proofs are kept."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field
from pydantic_settings import BaseSettings

from workers.night_settings import Duration


class PeopleSettings(BaseSettings):
    """A part of `Settings`, of which there is one."""

    disputes_per_client: int = Field(
        default=10, ge=0, description="Lines that one client may dispute in 24 hours. 0: nobody may."
    )
    disputes_per_server: int = Field(
        default=100, ge=0, description="Disputes of one server that may be open at the same time."
    )
    claims_per_client: int = Field(
        default=10, ge=0, description="Claims to control a server that one client may make in 24 hours. 0: nobody may."
    )
    claim_time: Duration = Field(
        default=timedelta(days=7), description="How long whoever claims a server may take to prove it."
    )
    claim_again: Duration = Field(
        default=timedelta(days=1), description="How often it is looked whether a proof is still there."
    )
    claim_lapse: Duration = Field(
        default=timedelta(days=7),
        description="How long a proof may be gone before its token opens nothing any more. Where we could not look, "
        "four times as long.",
    )
    webhooks_per_server: int = Field(default=3, ge=0, description="Webhooks of one server.")
    webhook_failures: int = Field(
        default=5,
        ge=1,
        description="Messages in a row that a webhook does not take, each tried six times in 15 hours, "
        "before nothing more is sent to it.",
    )
    people_every: Duration = Field(
        default=timedelta(minutes=1), description="How often beat has proofs looked for and webhooks sent. 0: never."
    )
