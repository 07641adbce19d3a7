"""Formats of secrets: our own patterns, written from the documentation of their providers."""

from __future__ import annotations

from typing import Final

from evidence.patterns.secrets import (
    ai_providers,
    business_services,
    cloud_providers,
    data_services,
    developer_platforms,
    encoded_tokens,
    further_services,
    generic_keys,
    messaging,
    passwords,
    provider_blocks,
    services,
)
from evidence.patterns.secrets.pattern import SecretPattern

VERSION: Final = 3

PATTERNS: Final[tuple[SecretPattern, ...]] = (
    *ai_providers.PATTERNS,
    *cloud_providers.PATTERNS,
    *developer_platforms.PATTERNS,
    *data_services.PATTERNS,
    *messaging.PATTERNS,
    *business_services.PATTERNS,
    *further_services.PATTERNS,
    *provider_blocks.PATTERNS,
    *encoded_tokens.PATTERNS,
    *passwords.PATTERNS,
    *services.PATTERNS,
    *generic_keys.PATTERNS,
)
"""In order of preference: the first pattern that matches a place names it."""
