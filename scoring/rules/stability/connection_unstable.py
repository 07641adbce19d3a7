"""Rule `connection-unstable`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds import samples
from scoring.engine.rule import rule
from scoring.example_builders.samples import build_attempt
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.samples import TOO_FEW, Attempt

_WORDS: Final = {
    samples.UNREACHABLE: "the server could not be reached",
    samples.TIMEOUT: "the server did not answer in time",
    samples.TLS_ERROR: "the TLS handshake failed",
    samples.SERVER_ERROR: "the server answered with an HTTP 5xx",
}


@rule(
    "connection-unstable",
    scope=Attempt,
    reads="samples",
    severity=Severity.ERROR,
    title="Attempts to connect fail",
    remedy="Keep the endpoint reachable over the network, with a valid TLS certificate. "
    "Answer the opening request within 10 seconds and without HTTP 5xx.",
    since="2026.1",
    version=1,
    good=[build_attempt(), build_attempt(timeout=2)],
    bad=[build_attempt("unreachable"), build_attempt("5xx"), build_attempt("timeout"), build_attempt("tls_error")],
    unjudged=[build_attempt("timeout", successes=1)],
)
def connection_unstable(tried: Attempt, minimum: int = 3) -> Iterator[str]:
    """Users cannot rely on a server when attempts to connect fail.

    Every attempt of the last 30 days counts once, of nightly runs and of the light checks between them. A server that
    requires credentials or payment counts as reached. Limits of the prober, rate limits and bot challenges are not
    counted, and fewer than three attempts are not judged.
    """
    if tried.window.samples < minimum:
        raise Undecided(TOO_FEW)
    if tried.failure:
        yield _WORDS.get(tried.failure, tried.failure)
