"""Rule `tool-names-duplicated`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from scoring.engine.rule import rule, should
from scoring.example_builders.listing import build_tool, build_toolset
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.base import Toolset
from scoring.text.evidence_path import clip_text


@rule(
    "tool-names-duplicated",
    scope=Toolset,
    reads="listing",
    severity=Severity.ERROR,
    title="Two tools have the same name",
    remedy="Give each tool in `tools/list` a `name` that no other tool has. Remove repeated entries.",
    since="2026.1",
    version=1,
    checks=should("TOOL-06", "DE", "server/tools#tool-names", named=True),
    fix=(
        build_toolset(
            build_tool("search", description="Searches notes.", inputSchema={"type": "object"}),
            build_tool("search", description="Searches tags.", inputSchema={"type": "object"}),
        ),
        build_toolset(
            build_tool("search-notes", description="Searches notes.", inputSchema={"type": "object"}),
            build_tool("search-tags", description="Searches tags.", inputSchema={"type": "object"}),
        ),
    ),
    good=[build_toolset(build_tool(name="get"), build_tool(name="Get")), build_toolset()],
    bad=[build_toolset(build_tool(name="get"), build_tool(name="get"))],
)
def tool_names_duplicated(toolset: Toolset, named: bool = False) -> Iterator[str]:
    """A tool is called by its name, so of two tools with the same name only one can be called.

    With `named`, only tools that have a name are counted, and a list without names is not judged.
    """
    names = [tool.name for tool in toolset.tools if not named or isinstance(tool.get("name"), str)]
    if named and not names:
        raise Inapplicable("no named tools")
    counts = Counter(names)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        yield f"names of more than one tool: {clip_text(', '.join(repeated), 200)}"
