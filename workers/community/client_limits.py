"""Limits and keys for `publish.community`, from the settings."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Final

from publish.community.limits import CommunityLimits
from workers.settings.environment import Settings
from workers.settings.salt import read_secret_salt

_PURPOSE: Final = b"hallmark/sealed/"


def read_community_limits(settings: Settings) -> CommunityLimits:
    """Limits of disputes, claims and webhooks per client and server."""
    return CommunityLimits(
        disputes_of_client=settings.disputes_per_client,
        disputes_of_server=settings.disputes_per_server,
        claims_of_client=settings.claims_per_client,
        claim_time=settings.claim_time,
        webhooks_of_server=settings.webhooks_per_server,
        cooldown=settings.retest_cooldown,
        owner_cooldown=min(settings.retest_owner_cooldown, settings.retest_cooldown),
        plain_http=settings.allow_private,
    )


def derive_key(settings: Settings, purpose: str) -> bytes:
    """The key of this installation for a purpose; machines with the same salt derive the same key."""
    salt = read_secret_salt(settings.home, settings.secret_salt.reveal())
    return hmac.digest(salt, _PURPOSE + purpose.encode(), sha256)
