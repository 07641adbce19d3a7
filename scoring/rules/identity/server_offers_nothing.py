"""Rule `server-offers-nothing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_server
from scoring.results.outcome import Severity
from scoring.scopes.base import Server


@rule(
    "server-offers-nothing",
    scope=Server,
    reads="listing",
    severity=Severity.ERROR,
    title="Server lists no tools, resources or prompts",
    remedy="Return at least one entry from `tools/list`, `resources/list` or `prompts/list`. Declare the "
    "capability of that list.",
    since="2026.1",
    version=1,
    good=[build_server(tools=0, prompts=1)],
    bad=[build_server(tools=0)],
)
def server_offers_nothing(server: Server) -> Iterator[str]:
    """A client cannot use a server whose lists are all empty."""
    if server.tools + server.resources + server.prompts == 0:
        yield "no tools, no resources, no prompts"
