"""Rule `registration-stdio-only`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.registration import transport_type
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_registration
from scoring.results.outcome import Severity
from scoring.scopes.base import Registered

_LOCAL: Final = frozenset({"stdio", ""})


@rule(
    "registration-stdio-only",
    scope=Registered,
    reads="registration",
    severity=Severity.ERROR,
    title="A server can only be started, not shared",
    since="2026.1",
    version=1,
    good=[
        build_registration({"remotes": [{"type": "streamable-http", "url": "https://notes.example/mcp"}]}),
        build_registration({"packages": [{"transport": {"type": "sse"}}]}),
        build_registration({}),
    ],
    bad=[build_registration({"packages": [{"identifier": "notes", "transport": {"type": "stdio"}}]})],
)
def registration_stdio_only(registered: Registered) -> Iterator[str]:
    """A server that speaks over stdio only takes its credentials when it starts: one process for each user.

    Offer streamable HTTP beside it.
    """
    found = registered.registration
    local = all(transport_type(package.raw) in _LOCAL for package in found.packages)
    if found.packages and local and not found.remotes:
        yield "every declared package speaks over stdio, and there is no remote"
