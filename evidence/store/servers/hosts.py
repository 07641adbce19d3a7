"""The host by which a server is planned."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from evidence.model import Server

_LONGEST_NAME: Final = 253  # of DNS


def find_host(server: Server) -> str:
    """The host of the first remote; empty where there is none, or no name that can be looked up."""
    address = next((target.identifier for target in server.targets if target.type.is_remote), "")
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return ""
    return host if len(host) <= _LONGEST_NAME else ""
