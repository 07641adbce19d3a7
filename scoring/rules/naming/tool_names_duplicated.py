"""Rule `tool-names-duplicated`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from scoring.examples import tool, toolset
from scoring.outcome import Severity
from scoring.path import clip
from scoring.rule import rule
from scoring.scope import Toolset


@rule(
    "tool-names-duplicated",
    scope=Toolset,
    reads="listing",
    severity=Severity.ERROR,
    title="Two tools have the same name",
    since="2026.1",
    version=1,
    good=[toolset(tool(name="get"), tool(name="Get")), toolset()],
    bad=[toolset(tool(name="get"), tool(name="get"))],
)
def tool_names_duplicated(toolset: Toolset) -> Iterator[str]:
    """A tool is called by its name, so of two tools with the same name only one can be reached."""
    counts = Counter(tool.name for tool in toolset.tools)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        yield "more than once: " + clip(", ".join(repeated), 200)
