"""What secrets look like: our own patterns, written from the formats that providers document."""

from __future__ import annotations

from typing import Final

from evidence.patterns.secrets import (
    ai,
    blocks,
    business,
    cloud,
    code,
    data,
    keys,
    messaging,
    passwords,
    services,
    wrapped,
)
from evidence.patterns.secrets.pattern import SecretPattern

VERSION: Final = 3

PATTERNS: Final[tuple[SecretPattern, ...]] = (
    *ai.PATTERNS,
    *cloud.PATTERNS,
    *code.PATTERNS,
    *data.PATTERNS,
    *messaging.PATTERNS,
    *business.PATTERNS,
    *services.PATTERNS,
    *blocks.PATTERNS,
    *wrapped.PATTERNS,
    *passwords.PATTERNS,
    *keys.PATTERNS,
)
"""In order of preference: where two match the same place, the first one names it."""
