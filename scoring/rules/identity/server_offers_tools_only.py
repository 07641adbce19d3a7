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
    title="Server offers only tools",
    remedy="Add resources, prompts or completions and declare their capability if they help your users. No "
    "change is needed if tools are enough.",
    since="2026.2",
    version=1,
    fix=(build_server(), build_server(capabilities={"tools": {}, "prompts": {}})),
    good=[build_server(capabilities={"completions": {}})],
    bad=[build_server(capabilities=None)],
)
def server_offers_tools_only(server: Server) -> Iterator[str]:
    """Offer resources, prompts or completions as well if they are useful to your users.

    Models call tools, clients read resources, and users start from prompts. This is a suggestion: many good servers
    need only tools.
    """
    if not any(javascript.is_truthy(server.listing.capabilities.get(name)) for name in _DEEPER):
        yield "no resources, prompts or completions are declared"
