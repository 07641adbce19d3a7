"""Builders for the examples of rules about what a server hands out."""

from __future__ import annotations

from evidence.kinds.handouts import Handout
from scoring.scopes.handout_texts import ReadResource, ToolResult


def build_resource_text(text: str, uri: str = "note://welcome") -> ReadResource:
    return ReadResource(at="resources/note:~1~1welcome/text", handed=Handout(name=uri, index=0, text=text))


def build_tool_result(text: str, tool: str = "get_note") -> ToolResult:
    return ToolResult(at=f"results/{tool}", handed=Handout(name=tool, index=0, text=text))
