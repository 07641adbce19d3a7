"""The origin of a web address: scheme, host and port (RFC 6454)."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

_ADDRESS: Final = re.compile(
    r"(https?)://(?:[^/?#]*@)?(\[[0-9a-f:.]+\]|[^/?#:@\[\]\s]+)(?::([0-9]{1,5}))?(?=[/?#]|\Z)", re.IGNORECASE
)
_LOOPBACK: Final = re.compile(r"(.+\.)?localhost|127(\.[0-9]{1,3}){3}|\[::1\]")
_PORTS: Final = {"http": 80, "https": 443}


class Origin(Struct, frozen=True):
    """Scheme and host in lower case, and the port, with the scheme's default port."""

    scheme: str
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether the host name or address is a loopback one."""
        return _LOOPBACK.fullmatch(self.host) is not None


def parse_origin(address: str) -> Origin | None:
    """The origin of an http or https URL, None for other text."""
    found = _ADDRESS.match(address.strip())
    if found is None:
        return None
    scheme = found[1].lower()
    return Origin(scheme, found[2].lower(), int(found[3]) if found[3] else _PORTS[scheme])
