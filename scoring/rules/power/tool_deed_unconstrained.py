"""Rule `tool-deed-unconstrained`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring import walk
from scoring.examples import tool, toolset
from scoring.outcome import Severity
from scoring.rule import Answer, rule
from scoring.scope import Param, Toolset

_LIMITS = ("maxLength", "enum", "pattern", "format", "const", "$ref", "anyOf", "oneOf")


def _schema(**keywords: object) -> dict[str, object]:
    return {"type": "object", "properties": {"text": {"type": "string", **keywords}}}


@rule(
    "tool-deed-unconstrained",
    scope=Toolset,
    reads="listing",
    severity=Severity.WARNING,
    title="A tool that changes something takes any text",
    since="2026.1",
    version=1,
    good=[
        toolset(tool("send_note", inputSchema=_schema(maxLength=80))),
        toolset(tool("get_note", inputSchema=_schema())),
    ],
    bad=[toolset(tool("send_note", inputSchema=_schema()))],
)
def tool_deed_unconstrained(toolset: Toolset) -> Iterator[Answer]:
    """Types and limits are the guard between a model that was talked into something and what the tool then does.

    Give string parameters of tools that write, delete or administer a maxLength, an enum, a pattern or a format.
    """
    for one, authority in toolset.judged:
        free = [param.name for param in walk.params_of(one) if _is_free(param)] if authority.is_deed else []
        if free:
            yield one, f"may {authority.value}; {len(free)} string parameters take anything"


def _is_free(param: Param) -> bool:
    return (
        param.get("type") == "string" and isinstance(param.raw, dict) and not any(key in param.raw for key in _LIMITS)
    )
