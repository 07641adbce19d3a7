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
    title="The registration offers only stdio",
    remedy="Add an entry with `type` set to `streamable-http` and an HTTPS `url` to `remotes` in the registration, "
    "or add a package whose `transport.type` is `streamable-http`.",
    since="2026.1",
    version=1,
    fix=(
        build_registration(
            {
                "name": "io.github.octo/notes",
                "description": "Reads and searches the notes of a user.",
                "version": "1.0.0",
                "packages": [
                    {
                        "registryType": "npm",
                        "identifier": "notes-mcp",
                        "version": "1.0.0",
                        "transport": {"type": "stdio"},
                    }
                ],
            }
        ),
        build_registration(
            {
                "name": "io.github.octo/notes",
                "description": "Reads and searches the notes of a user.",
                "version": "1.0.0",
                "packages": [
                    {
                        "registryType": "npm",
                        "identifier": "notes-mcp",
                        "version": "1.0.0",
                        "transport": {"type": "stdio"},
                    }
                ],
                "remotes": [{"type": "streamable-http", "url": "https://a.example/mcp"}],
            }
        ),
    ),
    good=[
        build_registration({"remotes": [{"type": "streamable-http", "url": "https://notes.example/mcp"}]}),
        build_registration({"packages": [{"transport": {"type": "sse"}}]}),
        build_registration({}),
    ],
    bad=[build_registration({"packages": [{"identifier": "notes", "transport": {"type": "stdio"}}]})],
)
def registration_stdio_only(registered: Registered) -> Iterator[str]:
    """A server that offers only stdio reads its credentials at start, so every user needs a separate process.

    Offer streamable HTTP as well.
    """
    found = registered.registration
    local = all(transport_type(package.raw) in _LOCAL for package in found.packages)
    if found.packages and local and not found.remotes:
        yield "every declared package uses stdio, and no remote is declared"
