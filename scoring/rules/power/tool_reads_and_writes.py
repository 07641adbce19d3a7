"""Rule `tool-reads-and-writes`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.authority import Authority, actions_of
from scoring.examples import taking, tool
from scoring.outcome import Severity
from scoring.rule import rule
from scoring.scope import Tool


@rule(
    "tool-reads-and-writes",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="A tool both reads and writes",
    since="2026.1",
    version=1,
    good=[tool("get_note"), taking(action={"enum": ["list", "get"]}), taking(action={"enum": ["create", "update"]})],
    bad=[taking(action={"enum": ["list", "create"]}), tool("get_or_create_note")],
)
def tool_reads_and_writes(tool: Tool) -> Iterator[str]:
    """Whoever wants to allow reading only cannot allow half a tool.

    Offer reading and writing as tools of their own.
    """
    deeds = actions_of(tool.item.raw)
    if Authority.READ in deeds and any(deed.is_deed for deed in deeds):
        yield "reading and changing are actions of the same tool"
