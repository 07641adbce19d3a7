"""Rule `registration-transport-unsupported`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.registration import transport_type
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_registration
from scoring.results.outcome import Severity
from scoring.scopes.base import Registered
from scoring.text.evidence_path import clip_text


@rule(
    "registration-transport-unsupported",
    scope=Registered,
    reads="registration",
    severity=Severity.WARNING,
    title="No current transport is offered",
    remedy="Serve Streamable HTTP or stdio. Add a remote of type `streamable-http`, or a package with "
    "`transport.type` `stdio`, to the registry entry.",
    since="2026.1",
    version=1,
    fix=(
        build_registration(
            {
                "name": "io.github.octo/notes",
                "description": "Reads and searches the notes of a user.",
                "version": "1.0.0",
                "remotes": [{"type": "sse", "url": "https://notes.example/sse"}],
            }
        ),
        build_registration(
            {
                "name": "io.github.octo/notes",
                "description": "Reads and searches the notes of a user.",
                "version": "1.0.0",
                "remotes": [{"type": "streamable-http", "url": "https://notes.example/mcp"}],
            }
        ),
    ),
    good=[build_registration({"remotes": [{"type": "streamable-http"}, {"type": "sse"}]}), build_registration({})],
    bad=[build_registration({"remotes": [{"type": "sse"}]})],
)
def registration_transport_unsupported(
    registered: Registered, current: tuple[str, ...] = ("stdio", "streamable-http")
) -> Iterator[str]:
    """Clients support stdio and streamable HTTP, so few of them can use a server that offers neither."""
    offered = [*registered.registration.packages, *registered.registration.remotes]
    types = {transport_type(declaration.raw) for declaration in offered} - {""}
    if types and not types & set(current):
        yield f"only {clip_text(', '.join(sorted(types)))}; {' or '.join(current)} expected"
