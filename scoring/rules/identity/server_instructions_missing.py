"""Rule `server-instructions-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_server
from scoring.results.outcome import Severity
from scoring.scopes.base import Server


@rule(
    "server-instructions-missing",
    scope=Server,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Server gives no instructions",
    remedy="Add a non-empty `instructions` string to the result of `initialize` or `server/discover`. Explain in "
    "it how a model uses the tools together.",
    since="2026.1",
    version=1,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle",
    fix=(build_server(), build_server(instructions="Search first, then read what was found.")),
    bad=[build_server(instructions=" ")],
)
def server_instructions_missing(server: Server) -> Iterator[str]:
    """Instructions explain to a model how the tools are used together.
    A model reads them once, not with every description.
    """
    if not server.listing.instructions.strip():
        yield "no instructions"
