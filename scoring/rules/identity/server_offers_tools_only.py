"""Rule `server-offers-tools-only`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_server
from scoring.results.outcome import Severity
from scoring.scopes.base import Server
from scoring.text import javascript

_DEEPER: Final = ("resources", "prompts", "completions")


@rule(
    "server-offers-tools-only",
    scope=Server,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Server offers tools and nothing else of the protocol",
    since="2026.2",
    version=1,
    good=[build_server(capabilities={"tools": {}, "prompts": {}}), build_server(capabilities={"completions": {}})],
    bad=[build_server(capabilities={"tools": {}}), build_server(capabilities=None)],
)
def server_offers_tools_only(server: Server) -> Iterator[str]:
    """Tools are what a model calls; resources are what it reads, prompts are what a user starts from.

    A server that also offers resources, prompts or completions of arguments fits into more of what clients can do. It
    is a suggestion: many good servers need none of them.
    """
    if not any(javascript.is_truthy(server.listing.capabilities.get(name)) for name in _DEEPER):
        yield "no resources, no prompts, no completions are declared"
