"""Rule `tool-descriptions-overlap`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_tool, build_toolset
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool, Toolset
from scoring.text.evidence_path import clip_text

MAX_TOOLS: Final = 400
MAX_TEXT: Final = 4000
_WORD: Final = re.compile(r"\w+")


@rule(
    "tool-descriptions-overlap",
    scope=Toolset,
    reads="listing",
    severity=Severity.WARNING,
    title="Two tools have similar descriptions",
    remedy="Rewrite the `description` so that it shares less than 75 percent of its words with the other one. State "
    "what only this tool does.",
    since="2026.1",
    version=1,
    fix=(
        build_toolset(
            build_tool("list-tags", description="Reads the data of the user.", inputSchema={"type": "object"}),
            build_tool("list-notes", description="Reads the data of the user.", inputSchema={"type": "object"}),
        ),
        build_toolset(
            build_tool("list-tags", description="Lists the names of all tags.", inputSchema={"type": "object"}),
            build_tool(
                "list-notes", description="Returns the newest notes with their dates.", inputSchema={"type": "object"}
            ),
        ),
    ),
    good=[
        build_toolset(
            build_tool("a", description="Reads one note."), build_tool("b", description="Deletes all folders at once.")
        )
    ],
    bad=[build_toolset(build_tool("a", description="Reads one note."), build_tool("b", description="Reads one note!"))],
)
def tool_descriptions_overlap(toolset: Toolset, percent: int = 75) -> Iterator[Answer]:
    """A model chooses by the description, and cannot distinguish two that share most of their words.

    State in each description what the other tool does not do.
    """
    described = [(tool, words, len(words)) for tool in toolset.tools[:MAX_TOOLS] if (words := _words(tool))]
    reported: set[str] = set()
    for (one, ours, few), (other, theirs, many) in combinations(described, 2):
        if few * 100 < percent * many or many * 100 < percent * few or other.at in reported:
            continue
        common = len(ours & theirs)
        if common * 100 >= percent * (few + many - common):
            reported.add(other.at)
            yield other, f"the description is similar to that of {clip_text(one.name)}"


def _words(tool: Tool) -> frozenset[str]:
    if len(tool.description) <= MAX_TEXT and tool.description.isascii():
        return tool.words
    return frozenset(_WORD.findall(tool.description[:MAX_TEXT].lower()))
