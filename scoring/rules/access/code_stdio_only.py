"""Rule `code-stdio-only`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.source_files import build_code
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Code


@rule(
    "code-stdio-only",
    scope=Code,
    reads="source",
    severity=Severity.ERROR,
    title="The code opens no transport but stdio",
    since="2026.3",
    version=1,
    good=[build_code(transports={"stdio": ["a.ts:1"], "streamable-http": ["a.ts:9"]})],
    bad=[build_code(transports={"stdio": ["a.ts:1"]})],
    unjudged=[build_code(), build_code(complete=False, transports={"stdio": ["a.ts:1"]})],
)
def code_stdio_only(code: Code) -> Iterator[str]:
    """A server that speaks over stdio only takes its credentials when it starts: one process for each user.

    Offer streamable HTTP beside it.
    """
    if not code.serves_http:
        yield "transports in the code: " + ", ".join(sorted(code.seen.transports))
