"""Rule `list-not-implemented`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.kinds.listing import End
from scoring.examples import asked_list
from scoring.outcome import Level, Severity
from scoring.rule import rule
from scoring.scope import AskedList

_METHOD_NOT_FOUND = -32601


@rule(
    "list-not-implemented",
    scope=AskedList,
    reads="listing",
    severity=Severity.ERROR,
    title="A declared list is not implemented",
    since="2026.1",
    version=1,
    level=Level.MUST,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle",
    good=[
        asked_list(),
        asked_list(end="error", error={"code": -32603, "message": "no database"}),
        asked_list(end="failed", error="timeout"),
        asked_list("resourceTemplates", end="error", error={"code": -32601}),
    ],
    bad=[asked_list("prompts", end="error", error={"code": -32601, "message": "Method not found"})],
)
def list_not_implemented(asked: AskedList) -> Iterator[str]:
    """A capability is a promise.

    A server that declares one and answers "method not found" to its list request breaks clients that believed
    it.

    Resource templates are left out: no capability of their own promises them.
    """
    error = asked.items.error
    if asked.name == "resourceTemplates":
        return
    if asked.items.end is End.ERROR and isinstance(error, Mapping) and error.get("code") == _METHOD_NOT_FOUND:
        yield f"{asked.name} is declared, and listing it answers {_METHOD_NOT_FOUND} (method not found)"
