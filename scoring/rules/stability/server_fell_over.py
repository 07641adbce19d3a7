"""Rule `server-fell-over`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds import falls
from scoring.engine.rule import Answer, rule
from scoring.example_builders.samples import build_survival
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.base import Scope
from scoring.scopes.samples import Survival


@rule(
    "server-fell-over",
    scope=Survival,
    reads="falls",
    severity=Severity.ERROR,
    title="The server serves no client after a question",
    remedy="Answer an unexpected request with an error, so that a new client can connect after the named question. "
    "A remote of this version is not asked it again: raise the version in `serverInfo` when it is repaired.",
    since="2026.3",
    version=1,
    good=[build_survival("legacy/unknown-method"), build_survival("legacy/stream", "modern/malformed")],
    bad=[
        build_survival(fell="legacy/unknown-method"),
        build_survival("legacy/unknown-method", fell="legacy/stream", state="unreachable: connection refused"),
    ],
    unjudged=[build_survival()],
)
def server_fell_over(survival: Survival) -> Iterator[Answer]:
    """A server must keep serving whatever one client sends: after a fall no client can connect until a restart.

    After each question that a server may not expect, a fresh client opened it. It was not served, and not after a pause
    either: HTTP 5xx, a refused connection or no answer. A server that recovers within the pause has not fallen. Where
    several questions were asked since a fresh client was served last, each of them may be the cause.
    """
    found = survival.found
    if not found.falls and not found.survived:
        raise Inapplicable("no question that may disturb the server was asked")
    if found.falls:
        yield Scope(at=f"{falls.KIND}/{found.falls[0].question}"), found.describe()
