"""Rule `tool-runs-code`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.words import split_tokens

_TAKES: Final = frozenset(
    {"bash", "cmd", "code", "command", "eval", "expression", "javascript", "script", "shell", "sql"}
)
_RUNS: Final = frozenset({"eval", "evaluate", "exec", "execute", "query", "run"})


@rule(
    "tool-runs-code",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="A tool runs whatever it is given",
    since="2026.1",
    version=1,
    good=[
        build_tool_with_params(query={"type": "string"}),
        build_tool_with_params(command={"enum": ["start", "stop"]}),
        build_tool("run_report"),
    ],
    bad=[
        build_tool_with_params(sql={"type": "string"}),
        build_tool("execute", inputSchema={"properties": {"text": {"type": "string"}}}),
    ],
)
def tool_runs_code(tool: Tool) -> Iterator[str]:
    """A free text that is run as a shell command, a script or SQL gives away the server's own rights.

    Offer the operations as tools of their own, or accept only values of a list.
    """
    runs = not _RUNS.isdisjoint(split_tokens(tool.name))
    for name, schema in tool.properties.items():
        free = isinstance(schema, dict) and schema.get("type") == "string" and "enum" not in schema
        if free and name.lower() in _TAKES:
            yield "a parameter takes code, a command or SQL as free text"
            return
        if free and runs:
            yield "is named for running, and takes free text"
            return
