"""Names of the operator's choice that show whether this machine is online; imports little, since settings need it."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

_HTTPS: Final = 443


def parse_canary(text: str) -> tuple[str, int]:
    """Host and port of `HOST` or `HOST:PORT`; raise ValueError for anything else."""
    parts = urlsplit(f"//{text}")
    if not parts.hostname or parts.netloc != text or parts.username is not None:
        raise ValueError(f"expected HOST or HOST:PORT, found {text!r}")
    return parts.hostname, parts.port or _HTTPS
