"""Settings of disputes, claims of control and webhooks."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from workers.settings.nightly import Duration
from workers.settings.part import SettingsPart


class CommunitySettings(SettingsPart):
    """A part of `Settings`."""

    disputes_per_client: int = Field(default=10, ge=0, description="Disputes per client in 24 hours. 0: none.")
    disputes_per_server: int = Field(default=100, ge=0, description="Open disputes per server.")
    claims_per_client: int = Field(default=10, ge=0, description="Claims of control per client in 24 hours. 0: none.")
    claim_time: Duration = Field(default=timedelta(days=7), description="How long a claim may wait for its proof.")
    claim_again: Duration = Field(default=timedelta(days=1), description="How often a proof is checked again.")
    claim_lapse: Duration = Field(
        default=timedelta(days=7),
        description="How long a proof may be missing before its token ends; four times as long when we could not look.",
    )
    webhooks_per_server: int = Field(default=3, ge=0, description="Maximum number of webhooks per server.")
    webhook_failures: int = Field(
        default=5, ge=1, description="Failed messages in a row (six tries in 15 hours each) before a webhook ends."
    )
    people_every: Duration = Field(
        default=timedelta(minutes=1), description="How often beat checks proofs and sends webhooks. 0: never."
    )
