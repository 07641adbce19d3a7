"""Rule `toolset-without-scope`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_toolset
from scoring.results.outcome import Severity
from scoring.scopes.base import Toolset

_BOUND: Final = re.compile(
    r"\b(?:only|within|limit(?:s|ed)?|specific|specified|given|allowed|current|own|your"
    r"|at most|up to|max(?:imum)?|per"
    r"|scopes?|read-?only|inside|belonging|restricted|single"
    r"|by (?:its |their )?(?:id|name|path)|(?:in|from|to|of) (?:a|an|the|your))\b",
    re.IGNORECASE,
)


@rule(
    "toolset-without-scope",
    scope=Toolset,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Most descriptions do not state which data a tool can access",
    remedy="State in each description which data the tool can access and its limit, such as `at most 50 notes of "
    "the current user`.",
    since="2026.1",
    version=1,
    fix=(
        build_toolset(build_tool("delete_notes", description="Deletes notes.")),
        build_toolset(build_tool("delete_notes", description="Deletes notes of the current user.")),
    ),
    good=[build_toolset(), build_toolset(build_tool(description="Lists the notes of the current user."))],
    bad=[build_toolset(build_tool(description="Deletes notes."))],
)
def toolset_without_scope(toolset: Toolset) -> Iterator[str]:
    """Users who decide which tools an agent may use need to know which data each tool can access.

    Name the resource and its limits: whose notes, which folder, how many.
    """
    silent = sum(not _BOUND.search(tool.description[:4000]) for tool in toolset.tools)
    if silent * 2 > len(toolset.tools):
        verb = "names" if silent == 1 else "name"
        yield f"{silent} of {len(toolset.tools)} descriptions {verb} no resource or limit"
