"""Rule `code-stdio-only`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import build_code
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Code


@rule(
    "code-stdio-only",
    scope=Code,
    reads="source",
    severity=Severity.ERROR,
    title="The code implements no transport except stdio",
    remedy="Implement the streamable HTTP transport in the code, for example with `StreamableHTTPServerTransport` "
    '(TypeScript SDK) or `mcp.run(transport="streamable-http")` (Python SDK). The stdio transport may stay.',
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.PYTHON,
        "Start of a server with the Python SDK",
        before="mcp.run()",
        after='mcp.run(transport="streamable-http")',
    ),
    good=[build_code(transports={"stdio": ["a.ts:1"], "streamable-http": ["a.ts:9"]})],
    bad=[build_code(transports={"stdio": ["a.ts:1"]})],
    unjudged=[build_code(), build_code(complete=False, transports={"stdio": ["a.ts:1"]})],
)
def code_stdio_only(code: Code) -> Iterator[str]:
    """A server that offers only stdio reads its credentials at start, so every user needs a separate process.

    Offer streamable HTTP as well.
    """
    if not code.serves_http:
        yield f"transports in the code: {', '.join(sorted(code.seen.transports))}; streamable HTTP expected"
