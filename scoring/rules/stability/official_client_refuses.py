"""Rule `official-client-refuses`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import info, rule
from scoring.example_builders.samples import build_client_session
from scoring.results.outcome import Severity
from scoring.scopes.samples import Encounter


@rule(
    "official-client-refuses",
    scope=Encounter,
    reads="interop",
    severity=Severity.INFO,
    title="The official client cannot connect or list",
    remedy="Repeat the named step with the client of the official Python SDK. Correct the named error: the endpoint "
    "must be reachable, and each answer must match the schema of the negotiated revision.",
    since="2026.1",
    version=1,
    checks=info("INTEROP-01", "ABCDE"),
    good=[build_client_session(listed={"tools": 3})],
    bad=[
        build_client_session(connected=False, asked="connect", error="ConnectError"),
        build_client_session(asked="tools/list", error="ValidationError"),
    ],
)
def official_client_refuses(session: Encounter) -> Iterator[str]:
    """Applications with the official Python SDK have the same error as its client.

    The client validates every answer: one malformed tool makes it reject a whole list. The result is evidence about
    interoperability only, and no score reads it.
    """
    seen = session.seen
    if seen.error:
        yield f"{seen.client} {seen.version} at {seen.asked}: {seen.error}: {seen.message}".removesuffix(": ")
